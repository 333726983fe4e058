# SPDX-License-Identifier: Apache-2.0
"""Read softMC's result files, IDNT<group>.PRG, for a model described here.

The format is in docs/reference/softmc.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robodyn_ros.bounds import PRG, read_text
from robodyn_ros.errors import IdentificationError, ModelError
from robodyn_ros.identification.files.prg import FRICTION, MARK, Layout
from robodyn_ros.identification.files.result_file import (
    model_parameters,
    parameter_text,
    write_text,
)
from robodyn_ros.identification.result.facts import friction_facts
from robodyn_ros.models.catalog import KINDS
from robodyn_ros.models.interface import Array, DynamicModel

_NUMBERED = re.compile(r'^\d+\.\s+')  # lines of the document's listing begin with their number
_ASSIGNMENT = re.compile(r'^([\w.]+(?:\[\d+\])?)\s*=\s*(\S+)$')
TITLE = 'Dynamic parameter identification for '
"""Start of the comment that says whether the identification succeeded."""


@dataclass(frozen=True)
class Prg:
    """Content of a .PRG file.

    :param values: parameter values of the model, shape (p,), SI
    :param success: of its identification; None: the file does not say
    :param notes: assumptions where the file states nothing, one sentence each
    """

    model: DynamicModel
    values: Array
    success: bool | None
    notes: tuple[str, ...]


def read_prg(
    path: str | Path,
    model: DynamicModel,
    *,
    robot: str = '',
    force: bool = False,
) -> Prg:
    """Read a .PRG file as values of a model.

    :param robot: the robot's name in softMC, if it is not its kind's
    :raises IdentificationError: the file cannot be read; a statement is missing, out of order,
        of another robot, axis or dynamic model; a number is not finite or of the wrong sign; the
        identification failed
    """
    layout = Layout.of(model, robot)
    source = _Source.read(path)
    success = next((' succeeded' in row for _, row in source.comments if TITLE in row), None)
    if success is False and not force:
        raise IdentificationError(f'{path}: its identification failed, import it by force only')
    _check_robot(source, layout)
    entries, friction = _Body(source, layout).read()
    beside, notes = _beside(source, layout)
    try:
        values = layout.join(entries, beside, friction)
    except ModelError as error:
        raise IdentificationError(f'{path}: {error}') from error
    _check_kept(source, layout, friction)
    return Prg(model, values, success, notes)


def write_imported(prg: Prg, path: str | Path, *, source: str) -> None:
    """Write a result file that `load_identified_model` reads, from a .PRG file's values.

    Standard deviations are not in a .PRG file, so that all are NaN.

    :raises IdentificationError: it cannot be written
    """
    spread = np.full(len(prg.values), np.nan)
    parameters = {
        'dynamic_model': model_parameters(prg.model, prg.values, spread),
        'identification': {
            **({} if prg.success is None else {'success': prg.success}),
            'source': source,
            'imported': True,
            **friction_facts(prg.model, prg.values),
        },
    }
    write_text(parameter_text(parameters), path)


@dataclass(frozen=True)
class _Source:
    """Statements and comments of a file, with their line numbers."""

    path: str
    statements: tuple[tuple[int, str], ...]
    comments: tuple[tuple[int, str], ...]

    @classmethod
    def read(cls, path: str | Path) -> _Source:
        try:
            text = read_text(path, PRG)
        except (OSError, UnicodeDecodeError) as error:
            raise IdentificationError(f'{path} cannot be read: {error}') from error
        lines = [(k, _NUMBERED.sub('', row.strip())) for k, row in enumerate(text.split('\n'), 1)]
        return cls(
            path=str(path),
            statements=tuple((k, row) for k, row in lines if row and not row.startswith("'")),
            comments=tuple((k, row) for k, row in lines if row.startswith("'")),
        )

    def refuse(self, line: int, text: str) -> IdentificationError:
        return IdentificationError(f'{self.path}, line {line}: {text}')


def _check_robot(source: _Source, layout: Layout) -> None:
    """Refuse a file of another robot or dynamic model, before counting its parameters."""
    for line, row in source.statements:
        word, _, name = row.partition(' ')
        if word.upper() == 'ATTACH' and name.strip().upper() != layout.robot.upper():
            other = f'a {name.strip().lower()}' if name.strip().lower() in KINDS else name.strip()
            raise source.refuse(
                line,
                f'the file is of the robot {other}, expected {layout.robot} (if {name.strip()} is '
                f"this robot's name in softMC, say so)",
            )
        if row.upper().replace(' ', '').startswith(f'{layout.robot}.DynamicModel='.upper()):
            number = row.partition('=')[2].strip()
            if number != str(layout.part.dynamic_model):
                raise source.refuse(
                    line,
                    f'the file is of dynamic model {number}, the model description of '
                    f'{layout.part.label}',
                )


class _Body:
    """Statements read one after the other, each where it belongs."""

    def __init__(self, source: _Source, layout: Layout) -> None:
        self.source, self.layout, self.at = source, layout, 0

    def read(self) -> tuple[Array, Array]:
        """Return the entries (k,) and friction (n, 2), positive."""
        robot, layout = self.layout.robot, self.layout
        self._expect('PROGRAM CONTINUE')
        self._expect(f'ATTACH {robot}')
        entries: list[float] = []
        while len(entries) < len(layout.documented) or self._next_is(f'{robot}.DynamicParameter['):
            entries.append(self._number(f'{robot}.DynamicParameter[{len(entries) + 1}]'))
            if len(entries) > len(layout.documented) and entries[-1] != 0.0:
                raise self._refuse(
                    f'dynamic model {layout.part.label} has {len(layout.documented)} parameters, '
                    f'what follows must be 0, got {entries[-1]:g}'
                )
        friction = [
            [self._friction(f'{axis}.{name}') for name in FRICTION] for axis in layout.axes
        ]
        self._number(f'{robot}.DynamicModel')
        self._expect(f'DETACH {robot}')
        self._expect('TERMINATE PROGRAM')
        if self.at < len(self.source.statements):
            line, row = self.source.statements[self.at]
            raise self.source.refuse(line, f'expected nothing more, got {row:.60}')
        return np.array(entries), np.array(friction)

    def _next_is(self, start: str) -> bool:
        rows = self.source.statements
        return self.at < len(rows) and rows[self.at][1].upper().startswith(start.upper())

    def _take(self, expected: str) -> str:
        rows = self.source.statements
        if self.at >= len(rows):
            last = rows[-1][0] if rows else 1
            raise self.source.refuse(last, f'the file ends where {expected} is expected')
        self.at += 1
        return rows[self.at - 1][1]

    def _refuse(self, text: str) -> IdentificationError:
        return self.source.refuse(self.source.statements[self.at - 1][0], text)

    def _expect(self, expected: str) -> None:
        row = self._take(expected)
        if ' '.join(row.upper().split()) != expected.upper():
            raise self._refuse(f'expected {expected}, got {row:.60}')

    def _number(self, key: str) -> float:
        row = self._take(key)
        match = _ASSIGNMENT.match(row)
        if match is None or match[1].upper() != key.upper():
            raise self._refuse(f'expected {key} = a number, got {row:.60}')
        value = _finite(match[2])
        if value is None:
            raise self._refuse(f'{key} must be a finite number, got {match[2]:.30}')
        return value

    def _friction(self, key: str) -> float:
        value = self._number(key)
        if value > 0.0:
            raise self._refuse(
                f'{key} = {value:g} has the wrong sign: a .PRG file holds the torque that '
                f'friction exerts, which is negative'
            )
        return 0.0 - value


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and '_' not in text else None


def _beside(source: _Source, layout: Layout) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the parameters in comments, and notes on missing ones."""
    values: dict[str, float] = {}
    notes = []
    for line, row in source.comments:
        if not row.startswith(MARK):
            continue
        name, _, text = row.removeprefix(MARK).rpartition(' = ')
        value = _finite(text)
        if name.startswith('payload.'):
            notes.append(f'{name} is not imported: set the payload on its own')
        elif name not in layout.beside or value is None or name in values:
            raise source.refuse(
                line,
                f'{row:.60} is no parameter of dynamic model '
                f'{layout.part.label} with a finite value, once',
            )
        else:
            values[name] = value
    missing = [name for name in layout.beside if name not in values]
    if missing and layout.part.kind == 'puma' and layout.part.dynamic_model == 1:
        raise IdentificationError(
            f'{source.path}: {missing[0]} is missing: the 23 parameters of the document say '
            f'nothing about gravity and rotors of a puma, which files of this package hold as '
            f'comments'
        )
    if missing:
        notes.append(f'softMC has no {", ".join(missing)}: taken as 0')
    return {name: values.get(name, 0.0) for name in layout.beside}, tuple(notes)


def _check_kept(source: _Source, layout: Layout, friction: Array) -> None:
    """Refuse friction that the model description has no term for."""
    names = {item.name for item in layout.model.parameters}
    for joint, row in zip(layout.model.joint_names, friction, strict=True):
        for term, value in zip(FRICTION.values(), row, strict=True):
            if value and f'{joint}.{term}' not in names:
                kind = term.removesuffix('_friction')
                raise IdentificationError(
                    f'{source.path}: it has {kind} friction, the model description needs '
                    f'"friction: [viscous, coulomb]" to take it'
                )
