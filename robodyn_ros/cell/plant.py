# SPDX-License-Identifier: Apache-2.0
"""Mechanics of the cell: a robot in MuJoCo, with friction and pushes.

MuJoCo represents the real robot: `robodyn_ros.models` is not used here, so that an identified
model is tested against an independent one.

Friction opposes the joint velocity v with

    F(v) = [Fc + (Fs - Fc) exp(-(v / vs)^2)] sign(v) + Fv v

(Coulomb Fc, static Fs, Stribeck velocity vs, viscous Fv). The bracket is MuJoCo's dry friction
(`frictionloss`), updated in every step and solved implicitly with the motion: sliding, it is
exactly the bracket; sticking, it is the torque that holds the joint, up to the bracket. It is
stiffer than by default (impedance 0.9999, velocity removed within one step): a loaded joint at
rest creeps by less than 1e-5 rad/s and does not chatter at any step size. Viscous friction is
integrated implicitly too.

A closed mechanism (see `delta`) has more coordinates than driven joints. Its loops are MuJoCo's
equality constraints, which act like stiff springs: they close within 10 ms, which is fast compared
with the motion, so that gaps stay below 1e-6 m. The integrator is Runge-Kutta: torques of a shaft
that spins at 13 rad/s have an error of 0.001 % at 1 kHz (with Euler: 0.6 % at 2 kHz). Springs with
a time constant as short as the step would cancel this advantage.

Elastic gears are two-mass models: the state of a joint is the angle of its motor (in joint units)
and the deflection of its gear, two MuJoCo joints about the same axis. The rotor is the armature of
the first one, which also has friction and motor torque; the second one has stiffness k and
damping. The links move with the sum of both. MuJoCo integrates motors and links together, and
dry friction stays implicit. With motor states beside MuJoCo, the spring's torque would be one step
late, which makes Runge-Kutta steps of stiff gears unstable.

MuJoCo's Euler step is symplectic: it keeps the energy of a spring while w h < 2, for the resonance
w and the step h. An armature of h^2 k / 4 on the deflection makes that true for any k: w^2 becomes
k / (J + h^2 k / 4) < 4 / h^2, J the inertia that resonates, and h the step of the longest cycle.
The frequencies are then those of the trapezoidal rule, 2 atan(w h / 2) / h: 0.3 % too low at 60 Hz
and 0.5 ms. Where w h is not small, cycles of random length would excite the spring, whatever its
armature: a stiff joint has a damping of h k.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.cell.delta import STRIDE
from robodyn_ros.cell.urdf_robot import compile_urdf, read_axes, read_urdf
from robodyn_ros.errors import CellError, UnstableError

Array = NDArray[np.float64]


_warnings: list[str] = []
"""Warnings of MuJoCo since the last step began. By default it appends them to a file
MUJOCO_LOG.TXT in the current folder."""
mujoco.set_mju_user_warning(_warnings.append)


class Plant:
    """Rigid bodies, rotors, gears, friction and joint stops; arrays (n,), SI and joint-side.

    `motor_position` and `motor_velocity` are views that change with every step; with stiff gears
    they are the state of the links.
    """

    def __init__(self, config: CellConfig) -> None:
        """Load the robot.

        :raises CellError: a URDF that cannot be read or simulated, or joints it does not have
        """
        root, source = read_urdf(config.urdf)
        axes = read_axes(root, config, source)
        self._mechanism = config.mechanism
        self._elastic = bool(axes['deflection'].any())
        if self._mechanism is None:
            self.model: Any = compile_urdf(root, source, elastic=self._elastic)
            stride = 1 + self._elastic
            # The state has the order of MuJoCo's joints, and so has everything else.
            joints = range(0, self.model.njnt, stride)
            self.names = tuple(self.model.joint(i).name for i in joints)
            self.axes = axes.reorder(self.names)
        else:
            self._mechanism.check(axes.names, axes.prismatic, source)
            self.names, self.axes = axes.names, axes
            self.model = self._mechanism.compile(
                axes.names, axes.lower, axes.upper, elastic=self._elastic
            )
            stride = STRIDE + self._elastic
        end = stride * len(axes.names)
        self._driven, self._bent = slice(0, end, stride), slice(1, end, stride)
        self.links = tuple(self.model.body(i).name for i in range(1, self.model.nbody))
        self._settle(config)
        if self._elastic:
            self._settle_gears(self._step * (1.0 + 6.0 * config.cycle_jitter))
        self.data: Any = mujoco.MjData(self.model)
        self._resting: Any = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        # Views of MuJoCo's memory, fetched once because fetching is slow.
        driven = self._driven
        self.motor_position: Array = self.data.qpos[driven]
        self.motor_velocity: Array = self.data.qvel[driven]
        self._applied: Array = self.data.qfrc_applied[driven]
        self._dry_friction: Array = self.model.dof_frictionloss[driven]
        self._damping: Array = self.model.dof_damping[driven]
        self.scale_friction(1.0)
        self._stribeck_exponent = -1.0 / self.axes['stribeck_velocity'] ** 2
        self.initial = self.axes.initial()
        self.reset()

    def _settle(self, config: CellConfig) -> None:
        model, axes = self.model, self.axes
        model.opt.timestep = self._step = config.servo_period / config.substeps
        model.opt.gravity[:] = config.gravity
        kinds = mujoco.mjtIntegrator
        model.opt.integrator = kinds.mjINT_EULER if self._mechanism is None else kinds.mjINT_RK4
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        model.dof_armature[self._driven] = axes['rotor_inertia']
        model.dof_damping[self._driven] = axes['viscous_friction']
        model.dof_frictionloss[self._driven] = axes['static_friction']
        model.dof_solref[:] = (2.0 * model.opt.timestep, 1.0)
        model.dof_solimp[:] = model.eq_solimp[:] = (0.9999, 0.9999, 0.001, 0.5, 2.0)
        model.eq_solref[:] = (0.01, 1.0)  # loops close within 10 ms
        model.jnt_solref[:] = (4.0 * model.opt.timestep, 1.0)

    def _settle_gears(self, longest: float) -> None:
        """Set rotors, stiffness and damping of the elastic gears.

        :param longest: substep of the longest cycle, in [s]
        """
        model, axes, bent = self.model, self.axes, self._bent
        model.dof_armature[self._driven] = 0.0
        links = self.inertia(self.middle())
        rotors = np.where(axes['rotor_inertia'] > 0.0, axes['rotor_inertia'], links)
        # a stiff joint among elastic ones is nearly stiff, 1e-8 rad or m, and at rest in a step
        stiff = axes['deflection'] == 0.0
        stiffness = axes['rated_torque'] / np.where(stiff, 1e-8, axes['deflection'])
        reduced = rotors * links / (rotors + links)
        damping = 2.0 * axes['damping_ratio'] * np.sqrt(stiffness * reduced)
        model.dof_armature[self._driven] = rotors
        model.dof_armature[bent] = 0.25 * longest**2 * stiffness
        model.dof_damping[bent] = np.where(stiff, longest * stiffness, damping)
        model.jnt_stiffness[bent] = stiffness

    @property
    def position(self) -> Array:
        """True position of the links; with stiff gears a view of the state."""
        return self._sum(self.data.qpos)

    @property
    def velocity(self) -> Array:
        """True velocity of the links; with stiff gears a view of the state."""
        return self._sum(self.data.qvel)

    def _sum(self, state: Array) -> Array:
        driven = state[self._driven]
        return driven + state[self._bent] if self._elastic else driven

    def encoder_position(self) -> Array:
        """Return the position at the encoders, on the side of motor or joint."""
        if not (self._elastic and self.axes['joint_side'].any()):
            return self.motor_position
        seen: Array = self.axes['joint_side'] * self.data.qpos[self._bent]
        return self.motor_position + seen

    def scale_friction(self, share: ArrayLike) -> None:
        """Set all friction to a share of the configured one, one number or one per joint."""
        axes, share = self.axes, np.asarray(share)
        self._coulomb = share * axes['coulomb_friction']
        self._breakaway = share * (axes['static_friction'] - axes['coulomb_friction'])
        self._damping[:] = share * axes['viscous_friction']

    def reset(self) -> None:
        """Set the robot to rest in its initial position.

        :raises CellError: a closed mechanism that cannot reach it
        """
        mujoco.mj_resetData(self.model, self.data)
        self._place(self.data, self.initial)
        mujoco.mj_forward(self.model, self.data)

    def _place(self, data: Any, position: Array) -> Array:
        """Set the driven joints, and all others so that the loops are closed.

        :return: velocities of all joints per velocity of the driven ones, shape (nv, n)
        """
        if self._mechanism is None:
            data.qpos[self._driven] = position
            return np.eye(self.model.nv)[:, self._driven]
        data.qpos[:] = self._mechanism.open_pose(self.model, position)
        data.qpos[self._driven] = position
        fixed = np.arange(self.model.nv)[self._bent] if self._elastic else ()
        return close_loops(self.model, data, self._driven, fixed)

    def stretch(self, duration: float) -> None:
        """Set the duration of the next servo cycle, relative to the servo period."""
        self.model.opt.timestep = self._step * duration

    def step(self, torque: Array) -> None:
        """Advance by one substep under the motors' torques, shape (n,), in [Nm] or [N].

        :raises UnstableError: the state is not finite, or beyond what MuJoCo can compute
        """
        share = self.motor_velocity * self.motor_velocity
        share *= self._stribeck_exponent
        np.exp(share, out=share)
        share *= self._breakaway
        np.add(share, self._coulomb, out=self._dry_friction)
        self._applied[:] = torque
        _warnings.clear()
        mujoco.mj_step(self.model, self.data)
        if _warnings:
            raise UnstableError(f'the simulated robot became unstable, by MuJoCo: {_warnings[0]}')

    def inertia(self, position: Array) -> Array:
        """Return the diagonal of the mass matrix with rotors, shape (n,), in [kg m^2] or [kg].

        :raises CellError: a closed mechanism that cannot reach the position
        """
        data = mujoco.MjData(self.model)
        along = self._place(data, position)
        mujoco.mj_forward(self.model, data)
        moved = np.zeros(along.T.shape)
        for row, direction in zip(moved, along.T, strict=True):
            mujoco.mj_mulM(self.model, data, row, np.ascontiguousarray(direction))
        return np.array(np.einsum('ij,ji->i', moved, along))

    def gravity(self, position: Array) -> Array:
        """Return the torque that carries the robot at rest, shape (n,), in [Nm] or [N].

        :raises CellError: a closed mechanism, for which it is not computed
        """
        if self._mechanism is not None:
            raise CellError('a driver without gravity needs a robot without closed loops')
        data = self._resting
        data.qpos[self._driven] = position
        mujoco.mj_kinematics(self.model, data)
        mujoco.mj_comPos(self.model, data)
        torque = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, data, 0, torque)
        return torque[self._driven]

    def middle(self) -> Array:
        """Return the middle of the position limits (0 without limits), shape (n,)."""
        return self.axes.middle()

    def set_wrench(self, link: int, wrench: Array) -> None:
        """Set the external force on link number `link`.

        :param wrench: force in [N] at the centre of mass, then torque in [Nm], world frame, (6,)
        """
        self.data.xfrc_applied[link + 1] = wrench


def close_loops(model: Any, data: Any, driven: slice, fixed: ArrayLike = ()) -> Array:
    """Move all joints but the driven ones until the loops are closed, by Newton's method.

    :param data: state with the positions of the joints
    :param fixed: numbers of further joints that do not move
    :return: velocities of all joints per velocity of the driven ones, shape (nv, n)
    :raises CellError: the loops cannot be closed at these positions
    """
    number = np.arange(model.nv)[driven]
    free = np.setdiff1d(np.arange(model.nv), np.append(number, fixed))
    step = np.zeros(model.nv)
    for _ in range(50):
        mujoco.mj_fwdPosition(model, data)
        gap = data.efc_pos[: data.ne]
        jacobian = data.efc_J.reshape(-1, model.nv)[: data.ne]
        if np.abs(gap).max() < 1e-12:  # [m]: closed up to rounding
            along = np.zeros((model.nv, len(number)))
            along[number] = np.eye(len(number))
            along[free] = -np.linalg.lstsq(jacobian[:, free], jacobian[:, number], rcond=None)[0]
            return along
        step[free] = -np.linalg.lstsq(jacobian[:, free], gap, rcond=None)[0]
        step *= min(1.0, 0.5 / np.abs(step).max())
        mujoco.mj_integratePos(model, data.qpos, step, 1.0)
    where = ', '.join(f'{value:.4g}' for value in data.qpos[driven])
    raise CellError(f'the mechanism cannot be closed at the joint positions {where}')
