from pathlib import Path

import pytest

pytest.importorskip('rclpy')
from robodyn_ros.errors import ConfigError
from robodyn_ros.nodes.launching import robot_files
from robodyn_ros.nodes.launching.robot_files import NODES, PROFILE, RobotFiles, environment

KINDS = (*NODES, 'effort', 'model', 'joint_limits')


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with the robots `ax` (all files) and `bare` (a URDF)."""
    for folder in ('urdf', 'config'):
        (tmp_path / folder).mkdir()
    for robot in ('ax', 'bare'):
        (tmp_path / 'urdf' / f'{robot}.urdf').write_text('<robot/>')
    for kind in KINDS:
        (tmp_path / 'config' / f'{kind}_ax.yaml').write_text('{}')
    (tmp_path / 'config' / 'excitation_ax_slow.yaml').write_text('{}')
    monkeypatch.setattr(robot_files, '_folder', lambda name: tmp_path / name)
    return tmp_path


def names(files):
    return [path.name for path in files]


def test_every_node_gets_the_declaration_of_effort_and_then_its_own_file(package):
    files = RobotFiles('ax')
    assert files.urdf == package / 'urdf' / 'ax.urdf'
    for node in set(NODES) - {'cell'}:
        assert names(files.parameter_files(node)) == ['effort_ax.yaml', f'{node}_ax.yaml']


def test_files_of_other_forms_are_named_by_parameters(package):
    files = RobotFiles('ax')
    assert files.parameter_files('cell') == []
    assert files.parameters('cell') == {'config': str(package / 'config' / 'cell_ax.yaml')}
    assert files.parameters('identification') == {
        'model_file': str(package / 'config' / 'model_ax.yaml')
    }
    assert files.parameters('excitation') == {}


def test_a_robot_without_files_and_none_at_all_get_none(package):
    for robot in ('bare', ''):
        files = RobotFiles(robot)
        files.check()
        assert [files.parameter_files(node) for node in NODES] == [[]] * len(NODES)
        assert [files.parameters(node) for node in NODES] == [{}] * len(NODES)
        assert files.config('effort') is None


def test_another_declaration_of_effort_replaces_that_of_the_robot(package):
    files = RobotFiles('ax', effort='mine.yaml')
    assert names(files.parameter_files('recorder')) == ['mine.yaml', 'recorder_ax.yaml']
    assert files.parameter_files('cell') == []
    assert names(RobotFiles('', effort='mine.yaml').parameter_files('recorder')) == ['mine.yaml']


def test_a_variant_comes_last(package):
    files = RobotFiles('ax', variant='slow')
    files.check()
    found = names(files.parameter_files('excitation'))
    assert found == ['effort_ax.yaml', 'excitation_ax.yaml', 'excitation_ax_slow.yaml']
    assert names(files.parameter_files('recorder')) == ['effort_ax.yaml', 'recorder_ax.yaml']


def test_a_model_of_the_variant_replaces_that_of_the_robot(package):
    files = RobotFiles('ax', variant='slow')
    model = package / 'config' / 'model_ax.yaml'
    assert files.parameters('identification') == {'model_file': str(model)}
    model = package / 'config' / 'model_ax_slow.yaml'
    model.write_text('{}')
    assert files.parameters('identification') == {'model_file': str(model)}
    assert files.parameters('cell') == {'config': str(package / 'config' / 'cell_ax.yaml')}


@pytest.mark.parametrize('robot', ['a', 'x', 'ax_slow', 'ax.urdf', '../urdf/none'])
def test_an_unknown_robot_is_refused_with_those_there_are(robot, package):
    for use in (RobotFiles(robot).check, lambda: RobotFiles(robot).urdf):
        with pytest.raises(
            ConfigError, match=r'there is no robot .* only ax, bare: give'
        ) as caught:
            use()
        assert repr(robot) in str(caught.value)


@pytest.mark.parametrize(('robot', 'variant'), [('ax', 'fast'), ('bare', 'slow'), ('', 'slow')])
def test_an_unknown_variant_is_refused(robot, variant, package):
    with pytest.raises(ConfigError, match=f"robot '{robot}' has no variant '{variant}'"):
        RobotFiles(robot, variant=variant).check()


def test_every_robot_of_the_package_is_found():
    """The real share folder, where the package is installed."""
    pytest.importorskip('robodyn_ros.msg')
    files = RobotFiles('six_axis')
    assert files.urdf.is_file()
    assert names(files.parameter_files('excitation'))[-1] == 'excitation_six_axis.yaml'
    with pytest.raises(ConfigError, match='six_axis, ur10'):
        RobotFiles('six').check()


def test_senders_of_large_messages_get_the_profile_unless_one_is_set(monkeypatch):
    for variable in PROFILE:
        monkeypatch.delenv(variable, raising=False)
    given = environment('feedforward')
    assert Path(given['FASTDDS_DEFAULT_PROFILES_FILE']).is_file()
    assert environment('cell') == {}
    monkeypatch.setenv(PROFILE[1], 'mine.xml')
    assert environment('feedforward') == {}
