# SPDX-License-Identifier: Apache-2.0
"""Result files in softMC's format, IDNT<group>.PRG (docs/reference/softmc.md).

softMC document, "Explanation of the identification output file": seven comment lines of facts,
then a program that sets the dynamic parameters in the document's order, the friction of each axis
and the dynamic model. All numbers are SI; friction is printed as the torque that friction exerts,
which is negative, while here it is positive, the torque that the drive adds.

Parameters that softMC's model does not have (torque offsets, the rotors and gravity terms of a
PUMA, J4 of a DELTA) follow as comments, which softMC skips and `prg_import` reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.fit.torque_errors import FitReport
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel, closed_form_part
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.springs import slip_friction

DOCUMENTED = {('puma', 1): 23, ('puma', 2): 4}
"""Names that are the document's, where the model has more behind them."""

PRINTED = {('puma', 2): 6}
"""Entries in softMC's files where these are more than the names; the rest is zero."""

LUMPED = {'J4': 'Theta_Tphi'}
"""softMC knows the sum of the two only: the inertia that the fourth axis of a DELTA feels."""

MARK = "'robodyn "
"""Begin of a comment that holds a parameter which softMC does not have."""

FRICTION = {'ViscousFriction': 'viscous_friction', 'CoulombFriction': 'coulomb_friction'}
COULOMB = 1
"""Place of the Coulomb friction, which holds the slips too: while a joint slides they are that."""


class PrgError(IdentificationError):
    """A result does not fit into a .PRG file."""


@dataclass(frozen=True)
class Layout:
    """Content of a file for a model.

    :param part: the model without friction, and where its parameters begin
    :param documented: names behind DynamicParameter[1], [2], ...
    :param entries: number of DynamicParameter lines, at least as many
    :param beside: names of the parameters that are comments
    """

    model: DynamicModel
    part: ClosedFormModel
    first: int
    robot: str
    axes: tuple[str, ...]
    documented: tuple[str, ...]
    entries: int
    beside: tuple[str, ...]

    @classmethod
    def of(cls, model: DynamicModel, robot: str = '') -> Layout:
        """Lay out the file of a model.

        :param robot: its name in softMC; default: its kind in capitals, A1 for an axis
        :raises PrgError: the model is none of the document's
        """
        closed = closed_form_part(model)
        if closed is None:
            raise PrgError(
                'a .PRG file holds the models of softMC (axis, scara, delta, puma), which this '
                'model is none of'
            )
        part, place = closed
        single = part.kind == 'axis'
        name = robot or ('A1' if single else part.kind.upper())
        key = (part.kind, part.dynamic_model)
        names = tuple(item.name for item in part.named_parameters)
        documented = names[: DOCUMENTED.get(key, len(names))]
        of_part = {item.name for item in part.parameters}
        printed = {f'{joint}.{term}' for joint in model.joint_names for term in FRICTION.values()}
        return cls(
            model=model,
            part=part,
            first=place.start,
            robot=name,
            axes=(name,) if single else tuple(f'A{k + 1}' for k in range(len(model.joints))),
            documented=documented,
            entries=max(len(documented), PRINTED.get(key, 0)),
            beside=(
                *names[len(documented) :],
                *(item for item in part.unnamed if item in of_part),
                *(
                    item.name
                    for item in model.parameters
                    if item.name not in of_part and item.name not in printed
                ),
            ),
        )

    def split(self, values: Array) -> tuple[Array, dict[str, float]]:
        """Return entries of DynamicParameter, and the parameters beside them, of values (p,)."""
        every = dict(zip((p.name for p in self.model.parameters), values.tolist(), strict=True))
        of_part = values[self.first : self.first + len(self.part.parameters)]
        named = dict(
            zip(
                (item.name for item in self.part.named_parameters),
                np.nan_to_num(self.part.compute_named(of_part)).tolist(),
                strict=True,
            )
        )
        beside = {name: named[name] if name in named else every[name] for name in self.beside}
        for name, sum_ in LUMPED.items():
            if name in beside:
                named[sum_] += beside[name]
        entries = np.zeros(self.entries)
        entries[: len(self.documented)] = [named[name] for name in self.documented]
        return entries, beside

    def join(self, entries: Array, beside: dict[str, float], friction: Array) -> Array:
        """Return the parameter values (p,), the inverse of `split`.

        :param entries: shape (k,), those behind the documented ones are zero
        :param friction: viscous and Coulomb friction, shape (n, 2), positive
        :raises ModelError: values that contradict each other
        """
        named = dict(zip(self.documented, entries.tolist(), strict=False))
        for name, sum_ in LUMPED.items():
            if name in beside:
                named[sum_] -= beside[name]
        order = [item.name for item in self.part.named_parameters]
        of_part = self.part.values_of(np.array([{**beside, **named}[name] for name in order]))
        values = np.zeros(len(self.model.parameters))
        values[self.first : self.first + len(of_part)] = of_part
        for index, item in enumerate(self.model.parameters):
            if item.name in beside and item.name not in order:
                values[index] = beside[item.name]
            joint, _, term = item.name.rpartition('.')
            if term in FRICTION.values() and joint in self.model.joint_names:
                column = list(FRICTION.values()).index(term)
                values[index] = friction[self.model.joint_names.index(joint), column]
        slips = slip_friction(self.model, values)
        for index, item in enumerate(self.model.parameters):  # softMC's value contains them
            joint, _, term = item.name.rpartition('.')
            if term == FRICTION['CoulombFriction'] and joint in self.model.joint_names:
                values[index] -= slips[self.model.joint_names.index(joint)]
        return values


def prg_text(result: IdentificationResult) -> str:
    """Write a result as a .PRG program.

    :raises PrgError: the model is none of softMC's, or its values do not fit into the document's
        names
    """
    layout = Layout.of(result.model)
    _check_possible(result)
    entries, beside = layout.split(result.values)
    friction = _friction(result.model, result.values)
    _check_fit(layout, result.values, layout.join(entries, beside, friction))
    lines = [
        *_header(result, layout),
        '',
        'PROGRAM CONTINUE',
        f'ATTACH {layout.robot}',
        '',
        *(
            f'{layout.robot}.DynamicParameter[{k}] = {value:.9e}'
            for k, value in enumerate(entries, start=1)
        ),
        '',
    ]
    for axis, values in zip(layout.axes, friction, strict=True):
        for name, value in zip(FRICTION, values, strict=True):
            lines.append(f'{axis}.{name} = {0.0 - value:.9e}')  # -0.0 would print a sign
        lines.append('')
    lines += [f'{MARK}{name} = {value:.9e}' for name, value in beside.items()]
    lines += list(_remarks(result))
    lines += [
        f'{layout.robot}.DynamicModel = {layout.part.dynamic_model}',
        '',
        f'DETACH {layout.robot}',
        'TERMINATE PROGRAM',
    ]
    return '\n'.join(lines) + '\n'


def _check_possible(result: IdentificationResult) -> None:
    """Refuse negative masses, inertias and friction, which softMC does not take."""
    named = result.named
    status = zip(named.names, named.status, strict=True) if named else ()
    wrong = [name for name, how in status if how == 'impossible']
    friction = _friction(result.model, result.values)
    for name, row in zip(result.model.joint_names, friction, strict=True):
        wrong += [f'{name}.{term}' for term, value in zip(FRICTION, row, strict=True) if value < 0]
    if wrong:
        raise PrgError(f'{", ".join(wrong)} is negative, which no robot has')


def _friction(model: DynamicModel, values: Array) -> Array:
    """Return viscous and Coulomb friction with slips, (n, 2); 0 where the model has none."""
    every = dict(zip((item.name for item in model.parameters), values.tolist(), strict=True))
    friction = np.array(
        [
            [every.get(f'{name}.{term}', 0.0) for term in FRICTION.values()]
            for name in model.joint_names
        ]
    )
    friction[:, COULOMB] += slip_friction(model, values)
    return friction


def _check_fit(layout: Layout, values: Array, back: Array) -> None:
    """Refuse values that the names lose, except where torque does not show them."""
    lost = ~np.isclose(back, values, rtol=1e-6, atol=1e-9 * np.abs(values).max(initial=0.0))
    if lost.any():
        name = layout.model.parameters[int(lost.argmax())].name
        raise PrgError(
            f'the result does not fit into the names of a .PRG file: {name} is lost '
            f'(give a prior for M_T of a DELTA, which decides what it is made of)'
        )


def _header(result: IdentificationResult, layout: Layout) -> Iterator[str]:
    """Yield the lines 1 to 7 of the document's example."""
    report = result.identification
    verdict = 'succeeded' if result.success else 'failed'
    date = datetime.fromisoformat(result.date)
    allowed = 100.0 * result.max_relative_error
    yield f"'Dynamic parameter identification for {layout.robot} {verdict}!"
    yield f"'Identification date and time: {date:%d/%m/%y %H:%M:%S}"
    yield (
        f"'Max relative torque error: {_percents(report.max_relative_torque_error)} "
        f'(maximal allowed = {allowed:.2f} %)'
    )
    yield f"'Mean relative torque error: {_percents(report.mean_relative_torque_error)}"
    yield f"'Signal filter cutoff frequency = {result.filter_cutoff or 0.0:.3f} Hz"
    yield (
        f"'Signal data length = {report.samples} samples "
        f'(raw record length = {result.raw_samples} samples)'
    )
    yield f"'Moving data length: {_moving(result.model, report)}"


def _percents(shares: Array) -> str:
    parts = (f'axis {k} = {100.0 * value:.2f} %;' for k, value in enumerate(shares, start=1))
    return ' '.join(parts)


def _moving(model: DynamicModel, report: FitReport) -> str:
    return ' '.join(
        f'axis {k} = {count} samples (threshold = {threshold:.6f} {joint.position_unit}/s);'
        for k, (count, threshold, joint) in enumerate(
            zip(report.moving_samples, report.velocity_threshold, model.joints, strict=True),
            start=1,
        )
    )


def _remarks(result: IdentificationResult) -> Iterator[str]:
    """Return the reason why the file cannot contain a number."""
    if result.named is not None:
        for k, (name, value) in enumerate(
            zip(result.named.names, result.named.values, strict=True), start=1
        ):
            if np.isnan(value):
                yield f"'DynamicParameter[{k}] = {name} is not known: no payload was carried"
    if result.payload is not None:
        payload = result.payload.payload
        for item, value in zip(payload.model.parameters, payload.values, strict=True):
            yield f'{MARK}{item.name} = {value:.9e}'
