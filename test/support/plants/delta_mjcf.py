# SPDX-License-Identifier: Apache-2.0
"""A delta robot as MuJoCo sees it: an oracle for torques.

The mechanism is that of the simulated cell. MuJoCo gives the open tree (masses, gravity, point
Jacobians); the loops are closed here by Newton's method and by projecting the tree's forces on the
motions that loops allow. So nothing is soft, and none of it shares a formula with the model under
test.
"""

import mujoco
import numpy as np

from robodyn_ros.cell.delta import DeltaMechanism

NAMES = ('joint0', 'joint1', 'joint2', 'joint3')


def mechanism(geometry, bodies):
    """Mechanism of `bodies` as `random_bodies` gives them; the shaft is there if 'M_T' is."""
    lengths = ('R_b', 'r_p', 'L_AB', 'L_BC') + ('h_O',) * ('M_T' in bodies)
    content = {
        'geometry': {name: geometry[name] for name in lengths} | {'half_width': 0.04},
        'arm': {'mass': bodies['M_AB'], 'reach': bodies['reach'], 'inertia': bodies['I_AB']},
        'rod': {'mass': bodies['M_BC'] / 2, 'inertia': bodies['Theta_BC'] / 2},
        'platform': {'mass': bodies['M_P'], 'inertia': 1e-3},
    }
    if 'M_T' in bodies:
        keys = ('mass', 'inertia', 'spin_inertia', 'reach_top', 'reach_bottom')
        names = ('M_T', 'Theta_T', 'Theta_Tphi', 'L_TO', 'L_TP')
        content['shaft'] = {key: bodies[name] for key, name in zip(keys, names, strict=True)}
    return DeltaMechanism.from_mapping(content, 'oracle')


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
        self.mechanism = mechanism(geometry, bodies)
        names = NAMES[: 4 if 'M_T' in bodies else 3]
        self.model = self.mechanism.compile(names, *np.outer([-9.0, 9.0], np.ones(len(names))))
        self.model.opt.gravity[2] = -gravity
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        for body in range(self.model.nbody):
            if self.model.body(body).name.startswith('rod'):
                self.model.body_inertia[body, 2] = 1e-9  # a rod is thin
        self.data = mujoco.MjData(self.model)
        self.driven = [self.model.joint(name).dofadr[0] for name in names]
        self.model.dof_armature[self.driven] = [*[bodies['rotor']] * 3, bodies.get('J4')][
            : len(names)
        ]
        self.free = np.setdiff1d(np.arange(self.model.nv), self.driven)

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
        data.qpos[:] = self.mechanism.open_pose(model, q)
        for name, value in zip(NAMES, q, strict=False):
            data.joint(name).qpos[:] = value
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
        for pair in zip(model.eq_obj1id, model.eq_obj2id, strict=True):
            points, slopes, changes = [], [], []
            for site in pair:
                point, body = data.site_xpos[site], model.site_bodyid[site]
                slope, change = np.zeros((2, 3, model.nv))
                mujoco.mj_jac(model, data, slope, None, point, body)
                mujoco.mj_jacDot(model, data, change, None, point, body)
                points.append(point)
                slopes.append(slope)
                changes.append(change)
            gaps.append(points[0] - points[1])
            jacobians.append(slopes[0] - slopes[1])
            rates.append(changes[0] - changes[1])
        return np.concatenate(gaps), np.concatenate(jacobians), np.concatenate(rates)
