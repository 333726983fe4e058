# SPDX-License-Identifier: Apache-2.0
"""A delta robot as MuJoCo sees it: two rods per arm, closed loops; an oracle for torques.

Each arm carries two rods on universal joints, their lower ends meet a free platform in ball
joints. With four axes a shaft of two halves hangs in a Cardan joint, slides, and meets the
platform in a ball joint. MuJoCo gives the open tree (masses, gravity, point Jacobians); the loops
are closed here by Newton's method and by projecting the tree's forces on the motions that loops
allow. So nothing is soft, and none of it shares a formula with the model under test.
"""

from __future__ import annotations

import mujoco
import numpy as np

HALF_WIDTH = 0.04


def mjcf(geometry, bodies, gravity=9.81):
    """MJCF text; `bodies` as `random_bodies` gives them; the shaft is there if 'M_T' is."""
    parts = [
        '<mujoco><compiler angle="radian"/>'
        f'<option gravity="0 0 {-gravity!r}"><flag constraint="disable"/></option><worldbody>'
    ]
    rod = _inertial(
        f'0 0 {-geometry["L_BC"] / 2!r}', bodies['M_BC'] / 2, [bodies['Theta_BC'] / 2] * 2 + [1e-9]
    )
    for arm in range(3):
        angle = arm * np.pi / 3  # half of phi
        phi = 2 * angle
        place = _text(geometry['R_b'] * np.array([np.cos(phi), np.sin(phi), 0.0]))
        turned = _text([np.cos(angle), 0.0, 0.0, np.sin(angle)])
        parts.append(
            f'<body name="arm{arm}" pos="{place}" quat="{turned}">'
            f'<joint name="joint{arm}" axis="0 1 0" armature="{bodies["rotor"]!r}"/>'
            + _inertial(
                f'{bodies["reach"]!r} 0 0', bodies['M_AB'], [1e-3, bodies['I_AB'], bodies['I_AB']]
            )
        )
        for side in (-1, 1):
            parts.append(
                f'<body name="rod{arm}{side}" pos="{geometry["L_AB"]!r} {side * HALF_WIDTH} 0">'
                f'<joint name="swing{arm}{side}" axis="0 1 0"/><joint axis="1 0 0"/>{rod}</body>'
            )
        parts.append('</body>')
    height = -float(np.sqrt(geometry['L_BC'] ** 2 - (geometry['R_b'] / 2) ** 2))
    parts.append(
        f'<body name="platform" pos="0 0 {height!r}"><freejoint/>'
        f'{_inertial("0 0 0", bodies["M_P"], [1e-3, 1e-3, 1.5e-3])}</body>'
    )
    if 'M_T' in bodies:
        mass, across, spin = bodies['M_T'], bodies['Theta_T'], bodies['Theta_Tphi'] / 2
        parts.append(
            f'<body name="upper" pos="0 0 {geometry["h_O"]!r}">'
            f'<joint name="joint3" axis="0 0 1" armature="{bodies["J4"]!r}"/>'
            '<joint axis="1 0 0"/><joint axis="0 1 0"/>'
            + _inertial(f'0 0 {-bodies["L_TO"]!r}', mass, [across, across, spin])
            + f'<body name="lower" pos="0 0 {height - geometry["h_O"]!r}">'
            '<joint type="slide" axis="0 0 1"/>'
            + _inertial(f'0 0 {bodies["L_TP"]!r}', mass, [across, across, spin])
            + '</body></body>'
        )
    return ''.join(parts) + '</worldbody></mujoco>'


def random_bodies(seed, shaft):
    """Masses, inertias and lever arms, by the names of the model or of this module."""
    random = np.random.default_rng(seed)
    names = ['M_BC', 'Theta_BC', 'M_P', 'M_AB', 'I_AB', 'reach', 'rotor']
    highest = [0.4, 0.03, 1.5, 1.2, 0.02, 0.2, 0.02]
    if shaft:
        names += ['M_T', 'Theta_T', 'Theta_Tphi', 'L_TO', 'L_TP', 'J4']
        highest += [0.5, 0.01, 0.004, 0.25, 0.25, 0.003]
    values = np.array(highest) * random.uniform(0.4, 1.0, len(names))
    return dict(zip(names, values.tolist(), strict=True))


def named_values(geometry, bodies, gravity=9.81):
    """The model's parameters that a robot of these bodies has, by name."""
    arm = bodies['M_AB'] * bodies['reach']
    values = {name: bodies[name] for name in ('M_BC', 'Theta_BC', 'M_P')}
    values['Theta_AB'] = bodies['I_AB'] + arm * bodies['reach'] + bodies['rotor']
    values['g*L_AB*M_AB'] = gravity * arm
    for name in ('M_T', 'Theta_T', 'Theta_Tphi', 'L_TO', 'L_TP', 'J4'):
        values[name] = bodies.get(name, 0.0)
    return values


class DeltaPlant:
    """Torques and platform position of the robot in MuJoCo."""

    def __init__(self, geometry, bodies, gravity=9.81):
        self.model = mujoco.MjModel.from_xml_string(mjcf(geometry, bodies, gravity))
        self.data = mujoco.MjData(self.model)
        count = 4 if 'M_T' in bodies else 3
        self.driven = [self.model.joint(f'joint{k}').dofadr[0] for k in range(count)]
        self.free = np.setdiff1d(np.arange(self.model.nv), self.driven)
        # Pairs of bodies and points on them that the loops hold together.
        self.pairs = [
            (f'rod{arm}{side}', [0, 0, -geometry['L_BC']], _corner(geometry, arm, side))
            for arm in range(3)
            for side in (-1, 1)
        ]
        if count > 3:
            self.pairs.append(('lower', [0, 0, 0], np.zeros(3)))

    def torque(self, q, qd, qdd):
        """Torque (n,) of the driven joints in one state, each (n,), and the platform's centre."""
        model, data = self.model, self.data
        self._close(q)
        jacobian = self._loops()[1]
        inverse = np.linalg.inv(jacobian[:, self.free])
        along = np.zeros((model.nv, len(q)))
        along[self.driven] = np.eye(len(q))
        along[self.free] = -inverse @ jacobian[:, self.driven]
        data.qvel[:] = along @ qd
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        curvature = self._loops()[2] @ data.qvel
        data.qacc[:] = along @ qdd
        data.qacc[self.free] -= inverse @ curvature
        mujoco.mj_inverse(model, data)
        return along.T @ data.qfrc_inverse, np.array(data.body('platform').xpos)

    def _close(self, q):
        """Positions of all joints at which the loops are closed."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        for joint, value in enumerate(q):
            data.joint(f'joint{joint}').qpos[:] = value
        # Rods hang inwards at first: all parallel would be a singular start.
        for arm in range(3):
            for side in (-1, 1):
                data.joint(f'swing{arm}{side}').qpos[:] = 0.4 - q[arm]
        step = np.zeros(model.nv)
        for _ in range(30):
            gap, jacobian, _ = self._loops()
            if np.abs(gap).max() < 1e-13:
                return
            step[self.free] = -np.linalg.solve(jacobian[:, self.free], gap)
            step *= min(1.0, 0.5 / np.abs(step).max())
            mujoco.mj_integratePos(model, data.qpos, step, 1.0)
        raise AssertionError(f'loops left open by {np.abs(gap).max()} m')

    def _loops(self):
        """Gaps (3 loops,), their Jacobian, and its rate, (3 loops, dofs)."""
        model, data = self.model, self.data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        gaps, jacobians, rates = [], [], []
        for name, one, other in self.pairs:
            points, slopes, changes = [], [], []
            for body, local in ((data.body(name), one), (data.body('platform'), other)):
                point = body.xpos + body.xmat.reshape(3, 3) @ local
                slope, change = np.zeros((2, 3, model.nv))
                mujoco.mj_jac(model, data, slope, None, point, body.id)
                mujoco.mj_jacDot(model, data, change, None, point, body.id)
                points.append(point)
                slopes.append(slope)
                changes.append(change)
            gaps.append(points[0] - points[1])
            jacobians.append(slopes[0] - slopes[1])
            rates.append(changes[0] - changes[1])
        return np.concatenate(gaps), np.concatenate(jacobians), np.concatenate(rates)


def _corner(geometry, arm, side):
    phi = 2 * np.pi / 3 * arm
    outwards = np.array([np.cos(phi), np.sin(phi), 0.0])
    sideways = np.array([-np.sin(phi), np.cos(phi), 0.0])
    return geometry['r_p'] * outwards + side * HALF_WIDTH * sideways


def _inertial(position, mass, diagonal):
    return f'<inertial pos="{position}" mass="{mass!r}" diaginertia="{_text(diagonal)}"/>'


def _text(values):
    return ' '.join(repr(float(value)) for value in values)
