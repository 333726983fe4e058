# SPDX-License-Identifier: Apache-2.0
"""Construction of models from their description (YAML), and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.errors import ModelError
from robodyn_ros.models.closed_forms.axis import AxisModel
from robodyn_ros.models.closed_forms.closed_form import ClosedFormModel
from robodyn_ros.models.closed_forms.delta import DeltaModel
from robodyn_ros.models.closed_forms.puma import puma_model
from robodyn_ros.models.closed_forms.scara import ScaraModel
from robodyn_ros.models.friction import FrictionModel, Load
from robodyn_ros.models.friction_terms import AUTO, COEFFICIENTS, DEFAULT_TERMS
from robodyn_ros.models.interface import DynamicModel, Joint, SumModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.models.serial.urdf import GRAVITY, UrdfModel
from robodyn_ros.models.springs import SPRING_TERMS, SPRINGS, SpringModel
from robodyn_ros.robot_file import read_part

Description = Mapping[str, Any]
Friction = str | Sequence[str] | Mapping[str, Any]
"""Terms, laws or 'auto', or a mapping that has shape coefficients too, see `with_friction`."""


@dataclass(frozen=True)
class ModelKind:
    """One kind of model: its builder, and the required and optional keys of its description."""

    build: Callable[[Description, Path | None], DynamicModel]
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


def build_model(description: Description, *, folder: Path | None = None) -> DynamicModel:
    """Build a model from its description, the inverse of `DynamicModel.describe`.

    :param folder: where relative file names in the description start; default: working folder
    :raises ModelError: an unknown kind or key, a missing key or a value of the wrong form
    """
    if not isinstance(description, Mapping):
        got = type(description).__name__
        raise ModelError(f'a model description must be a mapping, got {got}')
    kind = description.get('kind')
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelError(f'there is no model kind {kind!r}, there are: {", ".join(KINDS)}')
    entry = KINDS[kind]
    allowed = ('kind', *entry.required, *entry.optional)
    for key in description:
        if key not in allowed:
            raise ModelError(
                f'a model of kind {kind} has no "{key}", it has: {", ".join(allowed)}'
            )
    for key in entry.required:
        if key not in description:
            raise ModelError(f'a model of kind {kind} needs "{key}"')
    return entry.build(description, folder)


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
        return build_model(description, folder=Path(path).parent)
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
    given = friction if isinstance(friction, Mapping) else {'terms': friction}
    terms = _terms(given.get('terms', DEFAULT_TERMS), 'terms')
    springs = [term for term in terms if term in (*SPRING_TERMS, *SPRINGS)]
    others = [term for term in terms if term not in springs]
    unused = [key for key in given if key != 'terms']
    if springs and AUTO in others:
        raise ModelError('friction "auto" selects springs too: name none in addition to it')
    if springs and not others and unused:
        raise ModelError(f'springs without friction have no {unused[0]!r:.40}')
    parts = [body]
    if springs:
        parts.append(SpringModel(joints=body.joints, terms=springs))
    if others or not springs:
        parts.append(_friction_of(body.joints, {**given, 'terms': others}, body))
    return SumModel(parts=parts)


def _friction_of(
    joints: Sequence[Joint], given: Description, body: DynamicModel | None
) -> FrictionModel:
    """Build friction; the body of its load is a new one, because bodies have a state."""
    for key in given:
        if key not in _OF_FRICTION:
            raise ModelError(f'friction has no {key!r:.40}, it has: {", ".join(_OF_FRICTION)}')
    load = None
    if given.get('load') is not None:
        if body is None:
            raise ModelError('load-dependent friction must follow its robot in a sum of models')
        values = np.array(_numbers(given['load'], 'load'), dtype=np.float64)
        if values.shape != (len(body.parameters),) or not np.isfinite(values).all():
            raise ModelError(
                f'"load" of friction must be {len(body.parameters)} finite numbers, the '
                f'parameters of the robot before it in the sum, got {len(values)}'
            )
        load = Load(body=build_model(body.describe()), values=values)
    return FrictionModel(
        joints=joints,
        terms=_terms(given.get('terms', DEFAULT_TERMS), 'terms'),
        coefficients={name: given[name] for name in COEFFICIENTS if given.get(name) is not None},
        load=load,
    )


def model_hash(model: DynamicModel) -> str:
    """Return the SHA-256 of the model's canonical description, in hexadecimal."""
    text = json.dumps(model.describe(), sort_keys=True, separators=(',', ':'))
    return hashlib.sha256(text.encode('utf-8')).hexdigest()


def _build_urdf(description: Description, folder: Path | None) -> DynamicModel:
    urdf = description['urdf']
    if not isinstance(urdf, str):
        raise ModelError(f'"urdf" must be a file name or URDF text, got {urdf!r:.80}')
    rotor_inertia = description.get('rotor_inertia', True)
    if not isinstance(rotor_inertia, bool):
        raise ModelError(f'"rotor_inertia" must be true or false, got {rotor_inertia!r:.80}')
    joints = description.get('joints')
    text = urdf.lstrip().startswith('<')
    return robot_model(
        urdf if text else (folder or Path()) / urdf,
        joints=None if joints is None else _names(joints, 'joints'),
        gravity=_numbers(description.get('gravity', GRAVITY), 'gravity'),
        rotor_inertia=rotor_inertia,
        friction=_friction(description),
    )


def _make_closed_form(
    build: Callable[..., ClosedFormModel],
    required: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
) -> ModelKind:
    """Make the kind of a closed-form model, whose keys are the options of its builder."""

    def build_with_friction(description: Description, folder: Path | None) -> DynamicModel:
        options = {key: description[key] for key in description if key not in _NOT_OPTIONS}
        body = build(**options)
        return with_friction(body, _friction(description))

    return ModelKind(
        build_with_friction,
        ('dynamic_model', 'joints', *required),
        (*optional, 'prior', 'friction'),
    )


def _build_friction(
    description: Description, folder: Path | None, body: DynamicModel | None = None
) -> DynamicModel:
    given = {key: value for key, value in description.items() if key in _OF_FRICTION}
    return _friction_of(_joints(description), given, body)


def _build_springs(description: Description, folder: Path | None) -> DynamicModel:
    return SpringModel(joints=_joints(description), terms=_terms(description['terms'], 'terms'))


def _joints(description: Description) -> list[Joint]:
    joints = []
    for item in _list(description['joints'], 'joints'):
        if not isinstance(item, Mapping) or set(item) != {'name', 'type'}:
            raise ModelError(f'a joint is described by its "name" and "type", got {item!r:.80}')
        if item['type'] not in ('revolute', 'continuous', 'prismatic'):
            raise ModelError(
                f'joint {item["name"]} has type {item["type"]!r}, expected revolute, continuous '
                f'or prismatic'
            )
        joints.append(Joint(name=str(item['name']), type=item['type']))
    return joints


def _build_sum(description: Description, folder: Path | None) -> DynamicModel:
    parts: list[DynamicModel] = []
    for part in _list(description['parts'], 'parts'):
        loaded = isinstance(part, Mapping) and part.get('kind') == 'friction' and 'load' in part
        if loaded and parts:
            parts.append(_build_friction(part, folder, parts[0]))
        else:
            parts.append(build_model(part, folder=folder))
    return SumModel(parts=parts)


def _build_payload(description: Description, folder: Path | None) -> DynamicModel:
    frame = description.get('frame', '')
    if not isinstance(frame, str):
        raise ModelError(f'"frame" must be the name of a link, got {frame!r:.80}')
    return PayloadModel(arm=build_model(description['arm'], folder=folder), frame=frame)


def _list(value: object, key: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ModelError(f'"{key}" must be a list, got {value!r:.80}')
    return list(value)


def _names(value: object, key: str) -> list[str]:
    names = _list(value, key)
    for name in names:
        if not isinstance(name, str):
            raise ModelError(f'"{key}" must be a list of names, got {name!r:.80} in it')
    return names


def _terms(value: object, key: str) -> list[str]:
    """Return names of friction terms from a list, or from one name."""
    return [value] if isinstance(value, str) else _names(value, key)


def _friction(description: Description) -> Friction:
    """Return the friction in a robot's description, in any of its forms."""
    value = description.get('friction') or ()
    return value if isinstance(value, Mapping) else _terms(value, 'friction')


def _numbers(value: object, key: str) -> list[float]:
    numbers = _list(value, key)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise ModelError(f'"{key}" must be a list of numbers, got {number!r:.80} in it')
    return numbers


_NOT_OPTIONS = ('kind', 'friction')
_OF_FRICTION = ('terms', *COEFFICIENTS, 'load')

KINDS: dict[str, ModelKind] = {
    'urdf': ModelKind(_build_urdf, ('urdf',), ('joints', 'gravity', 'rotor_inertia', 'friction')),
    'axis': _make_closed_form(AxisModel, ('type',), ('payload_mass', 'payload_inertia')),
    'scara': _make_closed_form(ScaraModel, ('geometry',), ('gravity',)),
    'delta': _make_closed_form(DeltaModel, ('geometry',), ('gravity', 'platform_force')),
    'puma': _make_closed_form(puma_model, (), ('geometry', 'gravity', 'fifth_term')),
    'friction': ModelKind(_build_friction, ('joints',), _OF_FRICTION),
    'springs': ModelKind(_build_springs, ('joints', 'terms')),
    'sum': ModelKind(_build_sum, ('parts',)),
    'payload': ModelKind(_build_payload, ('arm',), ('frame',)),
}
"""All kinds of models; a new kind is a new entry."""
