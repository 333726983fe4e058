# SPDX-License-Identifier: Apache-2.0
"""A URDF with the identified inertials, for simulators and other tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.physical.consistency import (
    bodies_of,
    links_are_consistent,
)
from robodyn_ros.identification.result.urdf_text import UrdfText, comment, tag
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.friction_terms import DEFAULT_TERMS
from robodyn_ros.models.interface import Array, DynamicModel, parts_of
from robodyn_ros.models.serial.inertia import body_of, pseudo_inertia
from robodyn_ros.models.serial.urdf import UrdfModel, rigid_part
from robodyn_ros.models.springs import slip_friction


def update_urdf(model: DynamicModel, values: Array) -> str:
    """Return the URDF text of a robot with identified values.

    Only `<inertial>` and `<dynamics>` of the user's file change. A model that was loaded from a
    result, or from a file with a DOCTYPE, has no more than links and joints.

    The parameters of a moving link include everything fixed to it, so they are written to the
    link behind the moving joint, and the links fixed to that one lose theirs. Links behind a
    joint that the model holds at zero keep theirs, which are subtracted, if what remains is
    physically possible. Links fixed to the base keep theirs: they have no effect.

    Viscous and Coulomb friction become `<dynamics damping friction>`; of any other law it is the
    nearest such friction, without what depends on the load. A URDF has no place for rotor
    inertias, torque offsets and springs; they stay in the result file.

    :param values: parameter values of the model, shape (p,)
    :raises IdentificationError: the model has no URDF, its links are not physically possible, or
        its text cannot be changed
    """
    urdf = _body(model).urdf
    text, shares = UrdfText(urdf.text or urdf.xml), _shares(model, values)
    for share in shares:
        for name in share.lost:
            for item in text.find('link', name).all('inertial'):
                text.remove(item, f'inertial: it is included in that of {share.link}')
        text.put(text.find('link', share.link), 'inertial', share.lines(), first=True)
    for name, friction in linear_friction(model, values).items():
        new = {key: _text(value) for key, value in friction.items()}
        joint = text.find('joint', name)
        former = [item.attributes for item in joint.all('dynamics')[:1]]
        kept = {key: word for item in former for key, word in item.items() if key not in new}
        text.put(joint, 'dynamics', [tag('dynamics', new | kept)], first=False)
    return text.result()


def inertials_yaml(model: DynamicModel, values: Array) -> str:
    """Return the identified inertials for a xacro: origin, mass and inertia of each link.

    :raises IdentificationError: as `update_urdf`
    """
    lines = ['# identified by robodyn_ros; for xacro: xacro.load_yaml']
    for share in _shares(model, values):
        centre, mass, inertia = share.numbers()
        lines += [f'{json.dumps(share.link)}:', '  origin:', f'    xyz: {_words(centre)}']
        lines += ['    rpy: 0 0 0', f'  mass: {_text(mass)}', '  inertia:']
        lines += [f'    {key[1:]}: {_text(inertia[at])}' for key, at in _MOMENTS.items()]
    return '\n'.join(lines) + '\n'


_MOMENTS = {
    'ixx': (0, 0), 'ixy': (0, 1), 'ixz': (0, 2), 'iyy': (1, 1), 'iyz': (1, 2), 'izz': (2, 2),
}  # fmt: skip


@dataclass(frozen=True)
class _Share:
    """Inertia of a link in the file.

    :param pseudo: pseudo-inertia about the link's frame, shape (4, 4)
    :param lost: links fixed to it, which lose their inertials
    :param kept: links behind joints at zero, which keep theirs
    """

    link: str
    pseudo: Array
    lost: tuple[str, ...]
    kept: tuple[str, ...]

    def numbers(self) -> tuple[Array, float, Array]:
        """Return centre of mass (3,), mass, and inertia (3, 3) about the centre of mass."""
        return body_of(self.pseudo)

    def lines(self) -> list[str]:
        """Return the lines of `<inertial>`."""
        centre, mass, inertia = self.numbers()
        note = 'identified by robodyn_ros'
        if self.lost:
            note += f'; includes what is fixed to this link: {", ".join(self.lost)}'
        if self.kept:
            note += f'; without the links that keep their inertials: {", ".join(self.kept)}'
        moments = {key: _text(inertia[at]) for key, at in _MOMENTS.items()}
        return [
            '<inertial>',
            f'  {comment(note)}',
            f'  {tag("origin", {"xyz": _words(centre), "rpy": "0 0 0"})}',
            f'  {tag("mass", {"value": _text(mass)})}',
            f'  {tag("inertia", moments)}',
            '</inertial>',
        ]


def _body(model: DynamicModel) -> UrdfModel:
    body = rigid_part(model)
    if body is None:
        raise IdentificationError('only a model of a URDF can be written as a URDF')
    return body


def _shares(model: DynamicModel, values: Array) -> list[_Share]:
    """Divide the identified inertias among the links of the file."""
    body = _body(model)
    if not links_are_consistent(model, values):
        raise IdentificationError(
            'the identified links are not physically consistent (positive masses and inertias), '
            'no URDF is written'
        )
    carried = _find_carriers(body)
    return [
        _share(body, name, pseudo_inertia(values[list(indices)]), carried)
        for name, indices in bodies_of(model).links
    ]


@dataclass(frozen=True)
class _Carried:
    """Link that moves with another one.

    :param carrier: the link that it moves with; '' for the base
    :param pose: its frame in that of the carrier, with joints at zero, shape (4, 4)
    :param held: True if a joint that the model holds at zero is in between
    """

    carrier: str
    pose: Array
    held: bool


def _find_carriers(body: UrdfModel) -> dict[str, _Carried]:
    result = {body.urdf.root: _Carried('', np.eye(4), False)}
    for joint in body.urdf.joints:  # from the base outwards
        before = result[joint.parent]
        result[joint.child] = (
            _Carried(joint.child, np.eye(4), False)
            if joint.name in body.joint_names
            else _Carried(
                before.carrier, before.pose @ joint.origin, before.held or joint.type != 'fixed'
            )
        )
    return result


def _share(body: UrdfModel, name: str, total: Array, carried: dict[str, _Carried]) -> _Share:
    others = {
        link: item for link, item in carried.items() if item.carrier == name and link != name
    }
    having = {link: item for link, item in others.items() if body.urdf.pseudo_inertia[link].any()}
    kept = {link: item for link, item in having.items() if item.held}
    rest = total - sum(
        item.pose @ body.urdf.pseudo_inertia[link] @ item.pose.T for link, item in kept.items()
    )
    if np.linalg.eigvalsh(rest)[0] <= 1e-9 * np.trace(total):
        rest, kept = total, {}
    return _Share(name, rest, tuple(link for link in having if link not in kept), tuple(kept))


def linear_friction(
    model: DynamicModel, values: Array, fastest: Mapping[str, float] | None = None
) -> dict[str, dict[str, float]]:
    """Return damping and friction of every joint whose identified friction is not negative.

    :param fastest: velocity up to which other laws are fitted, by joint; None: that of the URDF
    """
    index = {item.name: number for number, item in enumerate(model.parameters)}
    other, result = _curves(model, values), {}
    slips = dict(zip(model.joint_names, slip_friction(model, values).tolist(), strict=True))
    for joint in _body(model).urdf.joints:
        terms = {
            key: float(values[index[f'{joint.name}.{name}']])
            for key, name in (('damping', 'viscous_friction'), ('friction', 'coulomb_friction'))
            if f'{joint.name}.{name}' in index
        }
        if joint.name in other:
            top = (fastest or {}).get(joint.name, joint.velocity)
            terms = _nearest_linear(top, slips[joint.name], *other[joint.name])
        elif 'friction' in terms:  # of a joint that slides
            terms['friction'] += slips[joint.name]
        if terms and min(terms.values()) >= 0.0:
            result[joint.name] = terms
    return result


def _curves(model: DynamicModel, values: Array) -> dict[str, tuple[FrictionModel, Array, int]]:
    """Return nonlinear friction by joint: model, values and index of the joint."""
    return {
        name: (part, values[rows], joint)
        for part, rows in parts_of(model)
        if isinstance(part, FrictionModel) and not set(part.terms) <= set(DEFAULT_TERMS)
        for joint, name in enumerate(part.joint_names)
    }


def _nearest_linear(
    top: float, slip: float, friction: FrictionModel, values: Array, joint: int
) -> dict[str, float]:
    """Return the linear friction nearest to a law and slips, over the joint's velocities."""
    if 'reach' in friction.coefficients:
        top = float(friction.coefficients['reach'][joint])
    speed = np.linspace(0.0, top if np.isfinite(top) and top > 0.0 else 1.0, 101)[1:]
    states = np.zeros((2, len(speed), len(friction.joints)))
    states[0, :, joint], states[1, :, joint] = speed, -speed
    ahead, back = (
        friction.regressor_under_load(state, 0.0)[:, joint] @ values for state in states
    )
    law = (ahead - back) / 2.0 + slip
    damping, coulomb = np.polyfit(speed, law, 1)
    if damping < 0.0:
        damping, coulomb = 0.0, law.mean()
    elif coulomb < 0.0:
        damping, coulomb = (speed @ law) / (speed @ speed), 0.0
    return {'damping': float(damping), 'friction': float(coulomb)}


def _words(values: Array) -> str:
    return ' '.join(map(_text, values))


def _text(value: float) -> str:
    """Return the shortest text that gives the same number again."""
    return repr(float(value))
