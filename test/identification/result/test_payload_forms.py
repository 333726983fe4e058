# SPDX-License-Identifier: Apache-2.0
import re

import numpy as np
import pytest
import yaml
from robots import random_urdf
from scipy.spatial.transform import Rotation

from robodyn_ros.identification.result.payload_forms import payload_forms
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.payload import payload_of

CENTER, INERTIA = [0.01, -0.02, 0.08], [0.011, 0.001, -0.002, 0.012, 0.003, 0.005]
TENSOR = np.array([[0.011, 0.001, -0.002], [0.001, 0.012, 0.003], [-0.002, 0.003, 0.005]])


@pytest.fixture(scope='module')
def forms():
    arm = robot_model(random_urdf(2, 3, types=('revolute',)))
    return dict(payload_forms(payload_of(arm, 1.5, center_of_mass=CENTER, inertia=INERTIA)))


def request_of(text):
    return yaml.safe_load(re.search('"(.*)"', text)[1])


def test_services_of_ros(forms):
    mine = request_of(forms['robodyn'])
    assert mine['mass'] == 1.5 and mine['center_of_mass'] == pytest.approx(CENTER)
    assert mine['inertia'] == pytest.approx(INERTIA) and mine['frame'] == 'link2'
    ur = request_of(forms['UR (ur_robot_driver)'])
    assert list(ur['center_of_gravity'].values()) == pytest.approx(CENTER)
    franka = request_of(forms['Franka (franka_ros2)'])
    assert pytest.approx(TENSOR) == np.reshape(franka['load_inertia'], (3, 3)).T


def test_urscript_has_the_moments_first(forms):
    words = forms['UR (URScript)'].removeprefix('set_target_payload(').removesuffix(')')
    mass, center, inertia = yaml.safe_load(f'[{words}]')
    assert mass == 1.5 and center == pytest.approx(CENTER)
    assert inertia == pytest.approx([0.011, 0.012, 0.005, 0.001, -0.002, 0.003])


def test_kuka_has_principal_axes(forms):
    """A about z, then B about the new y, then C about the new x."""
    numbers = [float(each) for each in re.findall(r'[A-Z] (-?[\d.e-]+)', forms[KUKA])]
    mass, center, angles, moments = numbers[0], numbers[1:4], numbers[4:7], numbers[7:]
    assert mass == 1.5 and center == pytest.approx([10.0, -20.0, 80.0])
    about = zip(np.radians(angles), np.eye(3)[::-1], strict=True)
    turned = [Rotation.from_rotvec(angle * axis) for angle, axis in about]
    axes = (turned[0] * turned[1] * turned[2]).as_matrix()
    assert axes @ np.diag(moments) @ axes.T == pytest.approx(TENSOR, abs=1e-6)


KUKA = 'KUKA (load data of the tool)'


def test_a_payload_without_mass_has_no_form():
    arm = robot_model(random_urdf(2, 3, types=('revolute',)))
    assert payload_forms(payload_of(arm, 0.0)) == []
