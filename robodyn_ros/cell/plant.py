"""The mechanics of the cell: a URDF in MuJoCo, with friction and pushes.

MuJoCo stands for the real robot: nothing of `robodyn_ros.models` is used here, so that an
identified model is judged by an independent one.

Friction opposes the joint velocity v with

    F(v) = [Fc + (Fs - Fc) exp(-(v / vs)^2)] sign(v) + Fv v

(Coulomb Fc, static Fs, Stribeck velocity vs, viscous Fv). The bracket is MuJoCo's dry friction
(`frictionloss`), updated in every step and solved implicitly with the motion: sliding, it is
exactly the bracket; sticking, it is whatever holds the joint, up to the bracket. Its softest
settings are left behind (impedance 0.9999, velocity removed within one step): a loaded joint at
rest creeps by less than 1e-5 rad/s and does not chatter at any step size. Viscous friction is
integrated implicitly too.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.errors import CellError

Array = NDArray[np.float64]
DYNAMIC_TAGS = {'link', 'joint'}
MOVING_TYPES = {'revolute', 'continuous', 'prismatic'}


@dataclass(frozen=True)
class Axes:
    """Numbers of the n joints as arrays of shape (n,), SI and joint-side."""

    names: tuple[str, ...]
    prismatic: tuple[bool, ...]
    lower: Array
    upper: Array
    values: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        """Return one quantity of `JointConfig` for all joints, shape (n,)."""
        return self.values[name]


class Plant:
    """Rigid bodies, rotor inertias, friction and joint stops.

    `position` and `velocity` are the true state, shape (n,), in [rad] or [m] and per second;
    they are views that change with every step.
    """

    def __init__(self, config: CellConfig) -> None:
        """Load the robot.

        :raises CellError: a URDF that cannot be read or simulated, or joints it does not have
        """
        root, source = _read(config.urdf)
        axes = _axes(root, config, source)
        self.model: Any = _compile(root, source)
        # The state is in the order of MuJoCo's joints; everything else follows it.
        self.names = tuple(self.model.joint(i).name for i in range(self.model.njnt))
        self.axes = _reordered(axes, self.names)
        self.links = tuple(self.model.body(i).name for i in range(1, self.model.nbody))
        self._settle(config)
        self.data: Any = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        # Views of MuJoCo's memory, fetched once: fetching costs as much as arithmetic.
        self.position: Array = self.data.qpos
        self.velocity: Array = self.data.qvel
        self._applied: Array = self.data.qfrc_applied
        self._dry_friction: Array = self.model.dof_frictionloss
        self._coulomb = self.axes['coulomb_friction']
        self._breakaway = self.axes['static_friction'] - self._coulomb
        self._stribeck_exponent = -1.0 / self.axes['stribeck_velocity'] ** 2
        self.initial = _initial(self.axes)
        self.reset()

    def _settle(self, config: CellConfig) -> None:
        model, axes = self.model, self.axes
        model.opt.timestep = config.servo_period / config.substeps
        model.opt.gravity[:] = config.gravity
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        model.dof_armature[:] = axes['rotor_inertia']
        model.dof_damping[:] = axes['viscous_friction']
        model.dof_frictionloss[:] = axes['static_friction']
        model.dof_solref[:] = (2.0 * model.opt.timestep, 1.0)
        model.dof_solimp[:] = (0.9999, 0.9999, 0.001, 0.5, 2.0)
        model.jnt_solref[:] = (4.0 * model.opt.timestep, 1.0)

    def reset(self) -> None:
        """Put the robot at rest in its initial position."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.initial
        mujoco.mj_forward(self.model, self.data)

    def step(self, torque: Array) -> None:
        """Advance by one substep under the motors' torques, shape (n,), in [Nm] or [N]."""
        share = self.velocity * self.velocity
        share *= self._stribeck_exponent
        np.exp(share, out=share)
        share *= self._breakaway
        np.add(share, self._coulomb, out=self._dry_friction)
        self._applied[:] = torque
        mujoco.mj_step(self.model, self.data)

    def inertia(self, position: Array) -> Array:
        """Diagonal of the mass matrix, rotors included, shape (n,), in [kg m^2] or [kg]."""
        data = mujoco.MjData(self.model)
        data.qpos[:] = position
        mujoco.mj_forward(self.model, data)
        unit = np.eye(self.model.nv)
        columns = np.zeros_like(unit)
        for row in range(self.model.nv):
            mujoco.mj_mulM(self.model, data, columns[row], unit[row])
        return np.array(np.diag(columns))

    def middle(self) -> Array:
        """Middle of the position limits (0 where there is none), shape (n,)."""
        return _middle(self.axes)

    def set_wrench(self, link: int, wrench: Array) -> None:
        """Push link number `link` from now on.

        :param wrench: force in [N] at the centre of mass, then torque in [Nm], world frame, (6,)
        """
        self.data.xfrc_applied[link + 1] = wrench


def _read(urdf: str) -> tuple[ET.Element, str]:
    is_text = urdf.lstrip().startswith('<')
    source = 'the URDF' if is_text else str(Path(urdf))
    try:
        text = urdf if is_text else Path(urdf).read_text(encoding='utf-8')
        root = ET.fromstring(text)
    except (OSError, UnicodeDecodeError, ET.ParseError) as error:
        raise CellError(f'{source} cannot be read: {error}') from error
    if root.tag != 'robot':
        raise CellError(f'{source} is no URDF: expected <robot>, found <{root.tag}>')
    return root, source


def _axes(root: ET.Element, config: CellConfig, source: str) -> Axes:
    joints = [joint for joint in root.findall('joint') if joint.get('type') != 'fixed']
    for joint in joints:
        if joint.get('type') not in MOVING_TYPES or joint.find('mimic') is not None:
            kind = 'mimic' if joint.find('mimic') is not None else joint.get('type')
            raise CellError(f'{source}: joint {joint.get("name")!r} is {kind}, not supported')
    names = tuple(joint.get('name', '') for joint in joints)
    if not names:
        raise CellError(f'{source}: the robot has no moving joint')
    for name in config.joints:
        if name not in names:
            raise CellError(f'{source} has no joint {name!r}, it has {list(names)}')
    rows = [_complete(joint, config, source) for joint in joints]
    limits = np.array([_position_limits(joint) for joint in joints])
    return Axes(
        names=names,
        prismatic=tuple(joint.get('type') == 'prismatic' for joint in joints),
        lower=limits[:, 0],
        upper=limits[:, 1],
        values={key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]},
    )


def _complete(joint: ET.Element, config: CellConfig, source: str) -> dict[str, float]:
    name = joint.get('name', '')
    limit = _limit(joint)
    try:
        return config.joints.get(name, config.defaults).completed(
            effort=limit.get('effort', 0.0),
            velocity=limit.get('velocity', 0.0),
            prismatic=joint.get('type') == 'prismatic',
        )
    except CellError as error:
        raise CellError(f'{source}: joint {name!r}: {error}') from error


def _limit(joint: ET.Element) -> dict[str, float]:
    element = joint.find('limit')
    attributes = {} if element is None else element.attrib
    try:
        return {name: float(value) for name, value in attributes.items()}
    except ValueError as error:
        raise CellError(f'joint {joint.get("name")!r}: <limit> is no number: {error}') from error


def _position_limits(joint: ET.Element) -> tuple[float, float]:
    if joint.get('type') == 'continuous':
        return -np.inf, np.inf
    limit = _limit(joint)
    return limit.get('lower', 0.0), limit.get('upper', 0.0)


def _reordered(axes: Axes, names: Sequence[str]) -> Axes:
    order = [axes.names.index(name) for name in names]
    return Axes(
        names=tuple(names),
        prismatic=tuple(axes.prismatic[i] for i in order),
        lower=axes.lower[order],
        upper=axes.upper[order],
        values={key: value[order] for key, value in axes.values.items()},
    )


def _middle(axes: Axes) -> Array:
    limited = np.isfinite(axes.lower)
    middle = np.zeros(len(axes.names))
    middle[limited] = 0.5 * (axes.lower[limited] + axes.upper[limited])
    return middle


def _initial(axes: Axes) -> Array:
    wanted = axes['initial_position']
    zero_fits = (axes.lower <= 0.0) & (axes.upper >= 0.0)
    initial: Array = np.where(np.isnan(wanted), np.where(zero_fits, 0.0, _middle(axes)), wanted)
    outside = (initial < axes.lower) | (initial > axes.upper)
    if outside.any():
        joint = int(np.argmax(outside))
        raise CellError(
            f'joint {axes.names[joint]!r}: initial_position {initial[joint]:.6g} is outside its '
            f'limits {axes.lower[joint]:.6g} to {axes.upper[joint]:.6g}'
        )
    return initial


def _compile(root: ET.Element, source: str) -> Any:
    """Compile what matters for the dynamics: meshes need not exist, links stay apart."""
    robot = ET.Element('robot', {'name': root.get('name', 'robot')})
    options = ET.SubElement(robot, 'mujoco')
    ET.SubElement(options, 'compiler', {'fusestatic': 'false', 'strippath': 'true'})
    for element in root:
        if element.tag in DYNAMIC_TAGS:
            kept = ET.SubElement(robot, element.tag, element.attrib)
            kept.extend(e for e in element if e.tag not in ('visual', 'collision', 'dynamics'))
    try:
        return mujoco.MjModel.from_xml_string(ET.tostring(robot, encoding='unicode'))
    except ValueError as error:
        reason = ' '.join(str(error).split())
        raise CellError(f'{source} cannot be simulated: {reason}') from error
