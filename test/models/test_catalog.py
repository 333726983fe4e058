# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pytest
import yaml
from robots import SIX_AXIS, random_states, random_urdf

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model, load_model, model_hash, robot_model
from robodyn_ros.models.interface import SumModel
from robodyn_ros.models.serial.urdf import UrdfModel

XML = random_urdf(3, 4)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'arm.urdf').write_text(XML, encoding='utf-8')
    return tmp_path


def write(folder, text):
    path = folder / 'model.yaml'
    path.write_text(text, encoding='utf-8')
    return path


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'friction': ()},
        {'friction': ('coulomb',), 'rotor_inertia': False},
        {'joints': ['joint3', 'joint1'], 'gravity': (0.0, 9.81, 0.0)},
    ],
)
def test_a_description_builds_the_same_model_again(options):
    model = robot_model(XML, **options)
    text = yaml.safe_dump(model.describe())
    again = build_model(yaml.safe_load(text))
    assert again.joints == model.joints
    assert again.parameters == model.parameters
    state = random_states(len(model.joints), 20)
    values = np.random.default_rng(0).normal(size=len(model.parameters))
    np.testing.assert_array_equal(again.torque(*state, values), model.torque(*state, values))
    np.testing.assert_array_equal(again.prior(), model.prior())
    assert model_hash(again) == model_hash(model)
    assert json.loads(json.dumps(model.describe())) == model.describe()


def test_a_users_file_names_the_urdf_beside_it(folder):
    path = write(
        folder,
        'kind: urdf\nurdf: arm.urdf\njoints: [joint1, joint2]\ngravity: [0, 0, -9.8]\n'
        'rotor_inertia: false\nfriction: [viscous, offset]\n',
    )
    model = load_model(path)
    assert isinstance(model, SumModel)
    assert model.joint_names == ('joint1', 'joint2')
    assert len(model.parameters) == 2 * 10 + 2 * 2
    expected = robot_model(
        folder / 'arm.urdf',
        joints=['joint1', 'joint2'],
        gravity=(0, 0, -9.8),
        rotor_inertia=False,
        friction=['viscous', 'offset'],
    )
    assert model_hash(model) == model_hash(expected)


def test_hash_tells_models_apart():
    models = [
        robot_model(XML),
        robot_model(XML, friction=['viscous']),
        robot_model(XML, gravity=(0, 0, -9.8)),
        robot_model(XML, rotor_inertia=False),
        robot_model(random_urdf(3, 5)),
    ]
    hashes = {model_hash(model) for model in models}
    assert len(hashes) == len(models)
    assert all(len(item) == 64 for item in hashes)


def test_hash_does_not_depend_on_what_the_dynamics_ignores():
    shown = XML.replace('</robot>', '<material name="red"/></robot>').replace(
        '<link name="link1">', '<link name="link1"><visual><geometry/></visual>'
    )
    assert shown != XML
    assert model_hash(robot_model(shown)) == model_hash(robot_model(XML))


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('kind: rope', "no model kind 'rope', there are: urdf, axis, scara, delta, puma, fric"),
        ('urdf: arm.urdf', 'no model kind None'),
        ('kind: [urdf]', 'no model kind'),
        ('- 1', 'must be a mapping'),
        ('kind: urdf', "kind urdf: entry 'urdf' is missing"),
        ('kind: urdf\nurdf: arm.urdf\ngravty: 1', "unknown entry 'gravty', expected some of"),
        ('kind: urdf\nurdf: gone.urdf', 'gone.urdf cannot be read'),
        ('kind: urdf\nurdf: arm.urdf\njoints: [1]', r'joints\[0\] must be a text, got 1'),
        ('kind: urdf\nurdf: arm.urdf\njoints: [elbow]', 'has no moving joint elbow'),
        ('kind: urdf\nurdf: arm.urdf\nfriction: [dry]', 'no friction term "dry"'),
        ('kind: friction\njoints: [a]', r'joints\[0\] must be a mapping'),
        ('kind: friction\njoints: [{name: a, type: ball}]', 'type must be one of revolute'),
        ('kind: "urdf', 'is no YAML'),
        ('kind: !!python/object:os.system {}', 'is no YAML'),
    ],
)
def test_refuses_with_a_sentence_that_names_the_file(folder, text, message):
    with pytest.raises(ModelError, match=message) as caught:
        load_model(write(folder, text))
    with pytest.raises(ModelError, match=r'gone.yaml cannot be read'):
        load_model(folder / 'gone.yaml')
    assert 'model.yaml' in str(caught.value)


def test_a_dynamic_model_wins_over_that_of_the_file(tmp_path):
    file = tmp_path / 'model.yaml'
    file.write_text('{kind: axis, type: rotary, dynamic_model: 1, joints: [a]}')
    assert load_model(file).dynamic_model == 1
    assert load_model(file, dynamic_model=3).dynamic_model == 3
    with pytest.raises(
        ModelError, match=r'a rotary axis has no dynamic model 0, it has: 1, 2, 3$'
    ):
        load_model(file, dynamic_model=0)
    other = tmp_path / 'other.yaml'
    other.write_text('{kind: friction, joints: [{name: a, type: revolute}]}')
    with pytest.raises(ModelError, match="kind friction: unknown entry 'dynamic_model'"):
        load_model(other, dynamic_model=1)


def test_a_urdf_is_loaded_as_it_is_with_its_friction():
    names = {item.name.partition('.')[2] for item in load_model(SIX_AXIS).parameters}
    assert {'viscous_friction', 'coulomb_friction', 'torque_offset'} < names
    assert isinstance(load_model(SIX_AXIS, friction=()), UrdfModel)


def test_options_of_the_other_kind_of_file_are_refused(tmp_path):
    with pytest.raises(ModelError, match='dynamic_model is for a YAML description'):
        load_model(SIX_AXIS, dynamic_model=1)
    file = tmp_path / 'model.yaml'
    file.write_text('kind: axis')
    with pytest.raises(ModelError, match='friction is for a URDF; a YAML description has its'):
        load_model(file, friction='auto')
