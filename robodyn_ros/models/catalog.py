# SPDX-License-Identifier: Apache-2.0
"""Construction of models from their description (YAML), and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models import interface
from robodyn_ros.models.closed_forms.axis import AxisModel
from robodyn_ros.models.closed_forms.delta import DeltaModel
from robodyn_ros.models.closed_forms.puma import puma_model
from robodyn_ros.models.closed_forms.scara import ScaraModel
from robodyn_ros.models.friction import FrictionModel, Load
from robodyn_ros.models.friction_terms import AUTO, COEFFICIENTS, DEFAULT_TERMS
from robodyn_ros.models.interface import DynamicModel, Joint, SumModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.models.serial.urdf import GRAVITY, UrdfModel
from robodyn_ros.models.springs import SLIPS, SPRING_TERMS, SPRINGS, SpringModel
from robodyn_ros.paths import place_files
from robodyn_ros.robot_file import read_part
from robodyn_ros.schema import Finite, NotNegative, Vector, convert

Description = Mapping[str, Any]
Friction = str | Sequence[str] | Mapping[str, Any]
"""Terms, laws or 'auto', or a mapping that has shape coefficients too, see `with_friction`."""
_Terms = str | tuple[str, ...]
_Coefficient = Finite | tuple[Finite, ...] | None


@dataclass(frozen=True, kw_only=True)
class _Urdf:
    """Description of a URDF model; `urdf` is a file, or the text itself."""

    kind: str
    urdf: str
    joints: tuple[str, ...] | None = None
    gravity: Vector = GRAVITY
    rotor_inertia: bool = True
    friction: str | tuple[str, ...] | dict[str, Any] | None = None

    def build(self) -> DynamicModel:
        return robot_model(
            self.urdf, joints=self.joints, gravity=self.gravity, rotor_inertia=self.rotor_inertia,
            friction=self.friction or (),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _ClosedForm:
    """Description of a closed-form model; its keys are the options of its builder."""

    kind: str
    dynamic_model: int
    joints: tuple[str, ...]
    prior: dict[str, Finite] | None = None
    friction: str | tuple[str, ...] | dict[str, Any] | None = None

    def build(self) -> DynamicModel:
        options = {
            key: value
            for key, value in vars(self).items()
            if key not in ('kind', 'friction') and value is not None
        }
        return with_friction(_CLOSED_FORMS[self.kind](**options), self.friction or ())


@dataclass(frozen=True, kw_only=True)
class _Axis(_ClosedForm):
    type: Literal['rotary', 'linear']
    payload_mass: NotNegative = 0.0
    payload_inertia: NotNegative = 0.0


@dataclass(frozen=True, kw_only=True)
class _Scara(_ClosedForm):
    geometry: dict[str, Finite]
    gravity: Finite = interface.GRAVITY


@dataclass(frozen=True, kw_only=True)
class _Delta(_Scara):
    platform_force: dict[str, Finite] | None = None


@dataclass(frozen=True, kw_only=True)
class _Puma(_ClosedForm):
    geometry: dict[str, Finite] | None = None
    gravity: Finite = interface.GRAVITY
    fifth_term: bool | None = None


@dataclass(frozen=True, kw_only=True)
class _Law:
    """Keys of friction in addition to its joints."""

    terms: _Terms = DEFAULT_TERMS
    smoothing: _Coefficient = None
    breakaway_speed: _Coefficient = None
    threshold: _Coefficient = None
    reach: _Coefficient = None
    exponent: _Coefficient = None
    load: tuple[Finite, ...] | None = None

    def of(self, joints: Sequence[Joint], body: DynamicModel | None) -> FrictionModel:
        """Build friction; the body of its load is a new one, because bodies have a state."""
        load = None
        if self.load is not None:
            if body is None:
                raise ModelError(
                    'load-dependent friction must follow its robot in a sum of models'
                )
            if len(self.load) != len(body.parameters):
                raise ModelError(
                    f'"load" of friction must be {len(body.parameters)} finite numbers, the '
                    f'parameters of the robot before it in the sum, got {len(self.load)}'
                )
            load = Load(build_model(body.describe()), np.array(self.load))
        given = {name: getattr(self, name) for name in COEFFICIENTS}
        return FrictionModel(
            joints=joints,
            terms=_list_terms(self.terms),
            coefficients={name: value for name, value in given.items() if value is not None},
            load=load,
        )


@dataclass(frozen=True, kw_only=True)
class _Friction(_Law):
    kind: str
    joints: tuple[Joint, ...]

    def build(self) -> DynamicModel:
        return self.of(self.joints, None)


@dataclass(frozen=True, kw_only=True)
class _Springs:
    kind: str
    joints: tuple[Joint, ...]
    terms: _Terms

    def build(self) -> DynamicModel:
        return SpringModel(joints=self.joints, terms=_list_terms(self.terms))


@dataclass(frozen=True, kw_only=True)
class _Sum:
    kind: str
    parts: tuple[dict[str, Any], ...]

    def build(self) -> DynamicModel:
        models: list[DynamicModel] = []
        for part in self.parts:
            description = _read(part)
            if isinstance(description, _Friction) and models:
                models.append(description.of(description.joints, models[0]))
            else:
                models.append(description.build())
        return SumModel(parts=models)


@dataclass(frozen=True, kw_only=True)
class _Payload:
    kind: str
    arm: dict[str, Any]
    frame: str = ''

    def build(self) -> DynamicModel:
        return PayloadModel(arm=build_model(self.arm), frame=self.frame)


KINDS: dict[str, type] = {
    'urdf': _Urdf,
    'axis': _Axis,
    'scara': _Scara,
    'delta': _Delta,
    'puma': _Puma,
    'friction': _Friction,
    'springs': _Springs,
    'sum': _Sum,
    'payload': _Payload,
}
"""Schemas of the descriptions of all kinds of models; a new kind is a new entry."""
_CLOSED_FORMS: dict[str, Callable[..., DynamicModel]] = {
    'axis': AxisModel, 'scara': ScaraModel, 'delta': DeltaModel, 'puma': puma_model,
}  # fmt: skip


def build_model(description: Description) -> DynamicModel:
    """Build a model from its description, the inverse of `DynamicModel.describe`.

    :raises ModelError: an unknown kind or entry, a missing entry or a value of the wrong form
    """
    model: DynamicModel = _read(description).build()
    return model


def _read(description: Description) -> Any:
    """Return a description as an instance of the schema of its kind."""
    if not isinstance(description, Mapping):
        got = type(description).__name__
        raise ModelError(f'a model description must be a mapping, got {got}')
    kind = description.get('kind')
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelError(f'there is no model kind {kind!r}, there are: {", ".join(KINDS)}')
    return convert(description, KINDS[kind], f'a model of kind {kind}', ModelError)


def load_model(
    path: str | Path, *, dynamic_model: int | None = None, friction: Friction | None = None
) -> DynamicModel:
    """Build the model of a YAML description, or of a URDF (a file that ends in .urdf).

    File names in a description are relative to its file.

    :param path: of a model file, of a robot file with a section `model`, or of a URDF
    :param dynamic_model: number to take instead of the description's `dynamic_model`
    :param friction: friction of a URDF, as `with_friction`; None: viscous, Coulomb and offset
    :raises ModelError: the file cannot be read, is no YAML, or see `build_model` and `robot_model`
    """
    path = Path(path)
    if path.suffix.lower() == '.urdf':
        if dynamic_model is not None:
            raise ModelError(f'{path}: dynamic_model is for a YAML description, not for a URDF')
        return robot_model(path, friction=DEFAULT_TERMS if friction is None else friction)
    if friction is not None:
        raise ModelError(
            f'{path}: friction is for a URDF; a YAML description has its friction in it'
        )
    part = read_part(path, 'model', 'the model file', ModelError)
    description = part.content
    if dynamic_model is not None and isinstance(description, Mapping):
        description = {**description, 'dynamic_model': dynamic_model}
    try:
        return build_model(place_files(description, path.parent, ['urdf']))
    except ModelError as error:
        raise ModelError(f'{part.source}: {error}') from error


def robot_model(
    urdf: str | Path,
    *,
    joints: Sequence[str] | None = None,
    gravity: Sequence[float] = GRAVITY,
    rotor_inertia: bool = True,
    friction: Friction = DEFAULT_TERMS,
) -> DynamicModel:
    """Build the model of a URDF (a path, or text that starts with '<') plus joint friction.

    :param friction: as for `with_friction`; empty: the rigid body alone
    :raises ModelError: as `UrdfModel` and `FrictionModel`
    """
    options: dict[str, Any] = {
        'joints': joints,
        'gravity': gravity,
        'rotor_inertia': rotor_inertia,
    }
    if isinstance(urdf, str) and urdf.lstrip().startswith('<'):
        body = UrdfModel.from_xml(urdf, **options)
    else:
        body = UrdfModel.from_file(urdf, **options)
    return with_friction(body, friction)


def with_friction(body: DynamicModel, friction: Friction) -> DynamicModel:
    """Add friction and springs of its joints to a model; without terms, return the model itself.

    :param friction: names of terms and laws of friction and of springs, 'auto', or a mapping with
        `terms`, shape coefficients and `load`: the body's parameter values, for load-dependent
        friction
    :raises ModelError: as `FrictionModel` and `SpringModel`, or a mapping of another form
    """
    if not friction:
        return body
    law = convert(
        friction if isinstance(friction, Mapping) else {'terms': friction},
        _Law, 'friction', ModelError,
    )  # fmt: skip
    terms = _list_terms(law.terms)
    springs = [term for term in terms if term in (*SPRING_TERMS, *SPRINGS, *SLIPS)]
    others = [term for term in terms if term not in springs]
    unused = [name for name in (*COEFFICIENTS, 'load') if getattr(law, name) is not None]
    if springs and AUTO in others:
        raise ModelError('friction "auto" selects springs too: name none in addition to it')
    if springs and not others and unused:
        raise ModelError(f'springs without friction have no {unused[0]!r:.40}')
    parts = [body]
    if springs:
        parts.append(SpringModel(joints=body.joints, terms=springs))
    if others or not springs:
        parts.append(replace(law, terms=tuple(others)).of(body.joints, body))
    return SumModel(parts=parts)


def _list_terms(terms: _Terms) -> tuple[str, ...]:
    return (terms,) if isinstance(terms, str) else terms


def model_hash(model: DynamicModel) -> str:
    """Return the SHA-256 of the model's canonical description, in hexadecimal."""
    text = json.dumps(model.describe(), sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode('utf-8')).hexdigest()
