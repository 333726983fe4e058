# SPDX-License-Identifier: Apache-2.0
"""Results of every softMC kind, without the time that an identification takes."""

import numpy as np

from robodyn_ros.identification.fit.torque_errors import FitReport
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.result.verdict import make_unknown_verdict
from robodyn_ros.identification.result.weighted import Weighted
from robodyn_ros.models.catalog import build_model

JOINTS = [f'joint{k}' for k in range(1, 7)]
LENGTHS = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7}
PUMA = {'a2': 0.4318, 'a3': -0.0203, 'd2': 0.2435, 'd3': -0.0934, 'd4': 0.4331}
AXIS = {'kind': 'axis', 'joints': JOINTS[:1]}
KINDS = {
    'rotary1': {**AXIS, 'type': 'rotary', 'dynamic_model': 1},
    'rotary2': {**AXIS, 'type': 'rotary', 'dynamic_model': 2},
    'rotary3': {**AXIS, 'type': 'rotary', 'dynamic_model': 3},
    'linear1': {**AXIS, 'type': 'linear', 'dynamic_model': 1},
    'linear2': {**AXIS, 'type': 'linear', 'dynamic_model': 2},
    'scara3': {'kind': 'scara', 'joints': JOINTS[:3], 'geometry': {'L1': 0.3, 'L2': 0.2}},
    'scara': {'kind': 'scara', 'joints': JOINTS[:4], 'geometry': {'L1': 0.3, 'L2': 0.2}},
    'delta3': {'kind': 'delta', 'joints': JOINTS[:3], 'geometry': LENGTHS},
    'delta': {'kind': 'delta', 'joints': JOINTS[:4], 'geometry': {**LENGTHS, 'h_O': 0.1}},
    'puma': {'kind': 'puma', 'joints': JOINTS},
    'puma_known': {'kind': 'puma', 'joints': JOINTS, 'geometry': PUMA},
    'puma2': {'kind': 'puma', 'joints': JOINTS, 'dynamic_model': 2},
    'puma2_fifth': {'kind': 'puma', 'joints': JOINTS, 'dynamic_model': 2, 'fifth_term': True},
}


def model_of(name, friction=('viscous', 'coulomb')):
    return build_model({'dynamic_model': 1, **KINDS[name], 'friction': list(friction)})


def result_of(model, values, success=True):
    joints = len(model.joints)
    report = FitReport(
        source='excitation',
        samples=49876,
        moving_samples=np.arange(35998, 35998 + joints),
        velocity_threshold=np.linspace(0.03877, 0.06283, joints),
        upper_velocity_threshold=np.full(joints, np.inf),
        rms_error=np.ones(joints),
        max_relative_torque_error=np.linspace(0.1386, 0.4385, joints),
        mean_relative_torque_error=np.linspace(0.0318, 0.1241, joints),
        usual_torque=np.ones(len(model.joints)),
        relative_residual=0.03,
        joint_relative_residual=np.full(joints, 0.03),
    )
    return IdentificationResult(
        success=success,
        verdict=make_unknown_verdict(model.joint_names),
        model=model,
        values=np.asarray(values, dtype=float),
        stddevs=np.full(len(values), 0.1),
        base_expressions=(),
        base_units=(),
        base_values=np.zeros(0),
        base_stddevs=np.zeros(0),
        torque_uncertainty=np.zeros(joints),
        condition_number=10.0,
        condition_number_scaled=5.0,
        identification=report,
        validation=None,
        findings=(),
        estimator='wls',
        filter_cutoff=20.0,
        max_relative_error=0.5,
        physically_consistent=True,
        weighted=Weighted(),
        raw_samples=50000,
        date='2017-03-29T08:17:08+00:00',
        timings={},
    )
