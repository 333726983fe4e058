# SPDX-License-Identifier: Apache-2.0
"""Models of every kind and term that the controller plugin computes, of joint1 to joint6."""

import numpy as np

from robodyn_ros.models.catalog import build_model, load_model, robot_model
from robodyn_ros.models.friction_terms import TERMS
from robodyn_ros.models.springs import SPRINGS

FRICTION = ['viscous', 'coulomb', 'offset']
SIX = [f'joint{k}' for k in range(1, 7)]
DELTA = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.8}
PUMA = {'a2': 0.4318, 'a3': 0.0203, 'd2': 0.2435, 'd3': -0.0934, 'd4': 0.4331}


def described(kind, joints, **rest):
    count = joints if isinstance(joints, int) else len(joints)
    return build_model(
        {'kind': kind, 'joints': SIX[:count], 'friction': FRICTION, 'dynamic_model': 1, **rest}
    )


MODELS = {
    'six_axis': lambda: robot_model('urdf/six_axis.urdf', friction=FRICTION),
    'reordered': lambda: robot_model(
        'urdf/six_axis.urdf', joints=[SIX[k] for k in (2, 0, 1)], friction=FRICTION
    ),
    'no rotors': lambda: robot_model(
        'urdf/puma.urdf', rotor_inertia=False, gravity=(1.0, 2.0, -9.0), friction=['viscous']
    ),
    'no friction': lambda: robot_model('urdf/scara.urdf'),
    'rotary 1': lambda: described('axis', 1, type='rotary'),
    'rotary 2': lambda: described(
        'axis', 1, type='rotary', dynamic_model=2, payload_mass=2.0, payload_inertia=0.1
    ),
    'rotary 3': lambda: described('axis', 1, type='rotary', dynamic_model=3, payload_mass=2.0),
    'linear 1': lambda: described('axis', 1, type='linear', payload_mass=3.0),
    'linear 2': lambda: described('axis', 1, type='linear', dynamic_model=2, payload_mass=3.0),
    'scara': lambda: load_model('config/robots/scara.yaml'),
    'scara down': lambda: described(
        'scara', 4, geometry={'L1': 0.4, 'L2': 0.3, 's4': -1.0, 'z_sense': -1.0}
    ),
    'scara3': lambda: load_model('config/robots/scara3.yaml'),
    'puma': lambda: described('puma', 6),
    'puma known': lambda: described('puma', 6, geometry=PUMA, gravity=9.8),
    'puma semi-static': lambda: described('puma', 6, dynamic_model=2),
    'puma five terms': lambda: described(
        'puma', 6, dynamic_model=2, fifth_term=True, geometry=PUMA
    ),
    'delta': lambda: load_model('config/robots/delta.yaml'),
    'delta3': lambda: load_model('config/robots/delta3.yaml'),
    'delta with force': lambda: described(  # beyond its largest within the range of the arms
        'delta', 4, geometry={**DELTA, 'h_O': 0.1}, gravity=9.7,
        platform_force={'R_ext': 0.05, 'Fr_max': 0.1},
    ),
    'all friction': lambda: described(
        'scara', 3, geometry={'L1': 0.4, 'L2': 0.3},
        friction={'terms': list(TERMS), **FIGURES, 'load': np.linspace(1.0, 2.0, 8).tolist()},
    ),
    'springs': lambda: robot_model('urdf/six_axis.urdf', friction=['linear', *SPRINGS]),
    'slips': lambda: robot_model('urdf/six_axis.urdf', friction=['linear', 'spring', 'slip']),
    'load of six axes': lambda: robot_model(
        'urdf/six_axis.urdf',
        friction={'terms': ['viscous', 'load'], 'load': np.linspace(-1.0, 1.5, 66).tolist()},
    ),
}  # fmt: skip
FIGURES = {'smoothing': [0.02, 0.5, 1.0], 'breakaway_speed': [0.1, 0.5, 0.9],
           'threshold': [0.0, 0.3, 1.0], 'reach': [2.0, 1.0, 3.0],
           'exponent': [0.3, 0.5, 0.7]}  # fmt: skip
