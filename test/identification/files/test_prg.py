# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from prg_results import KINDS, model_of, result_of
from robots import random_urdf
from simulation import arm

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.files.prg import prg_text
from robodyn_ros.identification.physical.named_parameters import NamedParameters

EXAMPLE = """\
'Dynamic parameter identification for PUMA succeeded!
'Identification date and time: 29/03/17 08:17:08
'Max relative torque error: axis 1 = 13.86 %; axis 2 = 19.86 %; axis 3 = 25.86 %; \
axis 4 = 31.85 %; axis 5 = 37.85 %; axis 6 = 43.85 %; (maximal allowed = 50.00 %)
'Mean relative torque error: axis 1 = 3.18 %; axis 2 = 5.03 %; axis 3 = 6.87 %; \
axis 4 = 8.72 %; axis 5 = 10.56 %; axis 6 = 12.41 %;
'Signal filter cutoff frequency = 20.000 Hz
'Signal data length = 49876 samples (raw record length = 50000 samples)
'Moving data length: axis 1 = 35998 samples (threshold = 0.038770 rad/s); \
axis 2 = 35999 samples (threshold = 0.043582 rad/s); \
axis 3 = 36000 samples (threshold = 0.048394 rad/s); \
axis 4 = 36001 samples (threshold = 0.053206 rad/s); \
axis 5 = 36002 samples (threshold = 0.058018 rad/s); \
axis 6 = 36003 samples (threshold = 0.062830 rad/s);

PROGRAM CONTINUE
ATTACH PUMA

PUMA.DynamicParameter[1] = 8.759309007e+01
PUMA.DynamicParameter[2] = 1.021832253e+01
PUMA.DynamicParameter[3] = 3.042091725e+01
PUMA.DynamicParameter[4] = 1.560383089e+00
PUMA.DynamicParameter[5] = 0.000000000e+00
PUMA.DynamicParameter[6] = 0.000000000e+00

A1.ViscousFriction = -1.547427791e+02
A1.CoulombFriction = -2.018153298e+01

A2.ViscousFriction = -1.603287029e+02
A2.CoulombFriction = -4.658045702e+01

A3.ViscousFriction = -1.085257604e+02
A3.CoulombFriction = -1.961987594e+01

A4.ViscousFriction = -1.142833743e+01
A4.CoulombFriction = -9.124446870e+00

A5.ViscousFriction = -2.468491129e+01
A5.CoulombFriction = -3.713111266e+00

A6.ViscousFriction = -2.173025205e+00
A6.CoulombFriction = -9.724658207e-01

PUMA.DynamicModel = 2

DETACH PUMA
TERMINATE PROGRAM
"""
VALUES = [
    *(87.59309007, 10.21832253, 30.42091725, 1.560383089),
    *(154.7427791, 20.18153298, 160.3287029, 46.58045702, 108.5257604, 19.61987594),
    *(11.42833743, 9.12444687, 24.68491129, 3.713111266, 2.173025205, 0.9724658207),
]


def test_it_is_the_example_of_the_document_letter_by_letter():
    assert prg_text(result_of(model_of('puma2'), VALUES)) == EXAMPLE


@pytest.mark.parametrize(
    ('name', 'robot', 'count'),
    [
        ('rotary3', 'A1', 4),
        ('scara', 'SCARA', 8),
        ('delta', 'DELTA', 14),
        ('puma', 'PUMA', 23),
        ('puma2_fifth', 'PUMA', 6),
    ],
)
def test_a_file_has_the_parameters_of_the_document(name, robot, count):
    model = model_of(name)
    values = np.linspace(0.5, 1.5, len(model.parameters))
    lines = prg_text(result_of(model, values)).splitlines()
    assert sum(line.startswith(f'{robot}.DynamicParameter[') for line in lines) == count
    assert sum('.ViscousFriction' in line for line in lines) == len(model.joints)
    assert f'ATTACH {robot}' in lines and f'DETACH {robot}' in lines
    number = KINDS[name].get('dynamic_model', 1)
    assert f'{robot}.DynamicModel = {number}' in lines


def test_what_softmc_does_not_have_is_a_comment():
    model = model_of('scara', ('viscous', 'offset'))
    values = np.arange(1.0, len(model.parameters) + 1)
    text = prg_text(result_of(model, values))
    assert "'robodyn joint2.torque_offset = 1.200000000e+01" in text.splitlines()
    assert 'A2.CoulombFriction = 0.000000000e+00' in text and 'A2.ViscousFriction = -1.1' in text


def test_a_lever_that_is_not_known_is_said():
    model = model_of('rotary3')
    result = result_of(model, [0.5, 0.0, 4.0, 0.0, 0.3, 0.7])
    named = NamedParameters(
        names=('I', 'L^2', 'M*g*A', 'g*L'),
        units=('', '', '', ''),
        values=np.array([0.5, np.nan, 4.0, np.nan]),
        stddevs=np.zeros(4),
        status=('identified', 'unseen', 'identified', 'unseen'),
    )
    text = prg_text(replace(result, named=named))
    assert "'DynamicParameter[2] = L^2 is not known: no payload was carried" in text
    assert 'A1.DynamicParameter[2] = 0.000000000e+00' in text


def test_a_urdf_robot_has_no_prg():
    model, truth = arm(random_urdf(2, 1))
    with pytest.raises(IdentificationError, match='which this model is none of'):
        prg_text(result_of(model, truth))


def test_coulomb_friction_holds_the_slips_and_the_file_gives_them_back():
    model = model_of('scara', ('viscous', 'coulomb', 'slip'))
    values = np.arange(1.0, len(model.parameters) + 1)
    slips = {item.name: value for item, value in zip(model.parameters, values, strict=True)
             if item.name.startswith('joint2.') and 'slip' in item.name}  # fmt: skip
    place = [item.name for item in model.parameters].index('joint2.coulomb_friction')
    text = prg_text(result_of(model, values))
    (line,) = (each for each in text.splitlines() if each.startswith('A2.CoulombFriction'))
    assert len(slips) == 3
    assert -float(line.partition('=')[2]) == pytest.approx(values[place] + sum(slips.values()))
