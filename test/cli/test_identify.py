# SPDX-License-Identifier: Apache-2.0
import json

import numpy as np
import pytest
import yaml
from robots import random_urdf
from simulation import arm, record, sines
from writers import write_csv

from robodyn_ros.cli.identify import run
from robodyn_ros.cli.main import build_parser
from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.catalog import load_model
from robodyn_ros.models.payload import payload_of
from robodyn_ros.recording.recording import Recording


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp('identify')
    xml = random_urdf(3, 90, types=('revolute',))
    (folder / 'robot.urdf').write_text(xml)
    model, truth = arm(xml)
    options = {'noise': 0.02, 'derivatives': False, 'rate': 500.0}
    write_csv(record(model, truth, 4000, **options), folder / 'first.csv')
    write_csv(record(model, truth, 3000, seed=1, **options), folder / 'second.csv')
    write_csv(record(model, truth, 400, **options), folder / 'short.csv')
    return folder


def robodyn(*arguments):
    return run(build_parser('identify').parse_args(['identify', *map(str, arguments)]))


def test_json_and_files_of_a_success(files, tmp_path, capsys):
    out = tmp_path / 'new' / 'out'
    code = robodyn(
        files / 'first.csv',
        '--urdf', files / 'robot.urdf',
        '--validate', files / 'second.csv',
        '--out', out,
        '--json',
    )  # fmt: skip
    printed = json.loads(capsys.readouterr().out)
    assert code == 0 and printed['success']
    assert printed['validation']['relative_residual'] < 0.03
    assert load_identified_model(out / 'result.yaml').joints == ('joint1', 'joint2', 'joint3')
    assert json.loads((out / 'result.json').read_text())['parameters'] == printed['parameters']


def test_table_and_split(files, capsys):
    command = [files / 'first.csv', '--urdf', files / 'robot.urdf', '--split', 0.6]
    assert robodyn(*command, '--verbose') == 0
    text = capsys.readouterr().out
    assert 'identification succeeded' in text and 'validation: relative' in text
    assert robodyn(*command) == 0
    short = capsys.readouterr().out.splitlines()
    assert len(short) <= 25 < len(text.splitlines())
    assert short[0].startswith('identification succeeded') and short[-1].startswith('next: add')
    # The errors that are shown are those that decide, so that a limit below one fails.
    (words,) = [line.split() for line in short if line.startswith('joint1')]
    own, other = float(words[1]), float(words[3])
    assert robodyn(*command, '--max-relative-error', 0.99 * max(own, other) / 100.0) == 1
    assert 'joint1' in (text := capsys.readouterr().out) and 'not usable' in text


def test_failure_has_an_exit_code_and_no_model(files, tmp_path, capsys):
    options = [files / 'short.csv', '--urdf', files / 'robot.urdf', '--out', tmp_path]
    assert robodyn(*options) == 1
    written = ['identification', 'report.html', 'result.json']
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    output = capsys.readouterr().out
    assert output.startswith('identification FAILED') and 'no model is exported' in output
    assert f'written to {tmp_path}: ' in output and 'result.yaml' not in output
    assert robodyn(*options, '--force-export', '--json') == 1
    assert (tmp_path / 'result.yaml').is_file()
    assert json.loads(capsys.readouterr().out)['success'] is False


def test_model_options_change_the_model(files, capsys):
    robodyn(
        files / 'first.csv',
        '--urdf', files / 'robot.urdf',
        '--friction', 'viscous',
        '--no-rotor-inertia',
        '--gravity', 0, -9.81, 0,
        '--estimator', 'ols',
        '--filter-cutoff', 15,
        '--max-relative-error', 9,
        '--json',
    )  # fmt: skip
    printed = json.loads(capsys.readouterr().out)
    names = [item['name'] for item in printed['parameters']]
    assert len(names) == 33 and 'joint1.viscous_friction' in names
    assert printed['filter_cutoff'] == 15.0 and printed['estimator'] == 'ols'
    # Wrong gravity and no Coulomb friction cannot fit as well as what the robot has.
    assert printed['identification']['relative_residual'] > 0.05


@pytest.mark.parametrize(
    'options',
    [['--urdf', 'a', '--validate', 'x', '--split', '0.5'], ['--prior', 'mine']],
)
def test_unclear_requests_are_refused(files, options):
    with pytest.raises(SystemExit):
        robodyn(files / 'first.csv', *options)


def test_an_option_without_effect_is_refused(files):
    with pytest.raises(RobodynError, match=r'^--loss is of the robust estimator: add'):
        robodyn(files / 'first.csv', '--urdf', files / 'robot.urdf', '--loss', 'huber')


IGNORED = (
    ('--dynamic-model', 2),
    ('--friction', 'viscous'),
    ('--gravity', 0, 0, -1.62),
    ('--no-rotor-inertia',),
)


def test_limits_from_a_file_or_a_urdf_beside_a_model_file(tmp_path, capsys):
    """A joint that moves in a small part of its range can only be seen with limits."""
    file, limits = tmp_path / 'model.yaml', tmp_path / 'limits.yaml'
    file.write_text(
        yaml.safe_dump({'kind': 'axis', 'type': 'linear', 'dynamic_model': 1, 'joints': ['x']})
    )
    model = load_model(file)
    time, omega = np.arange(0.0, 10.0, 0.004), 2.0 * np.pi * 0.8
    q = 0.1 * np.sin(omega * time)[:, None]
    qd, qdd = 0.1 * omega * np.cos(omega * time)[:, None], -(omega**2) * q
    torque = model.torque(q, qd, qdd, np.arange(1.0, 1.0 + len(model.parameters)))
    torque += 0.01 * np.random.default_rng(5).normal(size=torque.shape)
    recording = Recording(time=time, joints=('x',), position=q, torque=torque)
    write_csv(recording, tmp_path / 'recording.csv')
    position = {'has_position_limits': True, 'min_position': -1.0, 'max_position': 1.0}
    limits.write_text(yaml.safe_dump({'joint_limits': {'x': position}}))
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="{}" type="prismatic">'
        '<parent link="a"/><child link="b"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    (tmp_path / 'robot.urdf').write_text(urdf.format('x'))
    (tmp_path / 'other.urdf').write_text(urdf.format('y'))

    def found(*options):
        robodyn(tmp_path / 'recording.csv', '--model', file, '--json', *options)
        return [item['code'] for item in json.loads(capsys.readouterr().out)['findings']]

    assert 'region_too_small' not in found()
    assert 'region_too_small' in found('--joint-limits', limits)
    assert 'region_too_small' in found('--urdf', tmp_path / 'robot.urdf')
    with pytest.raises(RobodynError, match=r"other\.urdf has no joint 'x'"):
        found('--urdf', tmp_path / 'other.urdf')


def test_a_payload_on_top_of_a_result(files, tmp_path, capsys):
    urdf, marked = tmp_path / 'robot.urdf', '<collision><!-- kept --></collision>'
    text = (files / 'robot.urdf').read_text()
    urdf.write_text(text.replace('</link>', f'{marked}</link>', 1))
    assert robodyn(files / 'first.csv', '--urdf', urdf, '--out', tmp_path / 'base') == 0
    base = tmp_path / 'base' / 'result.yaml'
    model, truth = arm(urdf.read_text())
    payload = payload_of(model, 2.0, center_of_mass=[0.02, 0.0, 0.1], inertia=[0.01, 0, 0] * 2)
    loaded = record(
        model, truth + payload.added, 4000, noise=0.02, derivatives=False, rate=500.0, seed=2
    )
    write_csv(loaded, tmp_path / 'loaded.csv')
    capsys.readouterr()
    command = [tmp_path / 'loaded.csv', '--payload', '--base', base, '--json']
    assert robodyn(*command, '--out', tmp_path / 'out', '--split', 0.7) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts['payload']['relative_residual_without'] > 0.05
    assert facts['validation']['relative_residual'] < 0.03
    back = load_identified_model(tmp_path / 'out' / 'result.yaml')
    assert back.hash == load_identified_model(base).hash
    _, *states = sines(3, 300, seed=9)
    wanted = model.torque(*states, truth + payload.added)
    error = np.linalg.norm(back.torque(*states) - wanted) / np.linalg.norm(wanted)
    assert error < 0.03
    assert back.loaded_hash != back.hash == load_identified_model(base).loaded_hash
    assert marked in (tmp_path / 'out' / 'robot.urdf').read_text()  # of the base's folder
    (tmp_path / 'base' / 'robot.urdf').unlink()
    assert robodyn(*command, '--urdf', urdf, '--out', tmp_path / 'named') == 0
    assert marked in (tmp_path / 'named' / 'robot.urdf').read_text()
    capsys.readouterr()
    # the model may be named, and must then be that of the base; and a frame of it
    assert robodyn(*command, '--urdf', urdf, '--frame', 'link3_part') == 0
    assert json.loads(capsys.readouterr().out)['payload']['frame'] == 'link3_part'
    assert robodyn(*command[:-1], '--verbose') == 0
    assert 'payload.m' in capsys.readouterr().out
    # the values end the output, and are in the report, in the forms of robots
    assert robodyn(*command[:-1], '--out', tmp_path / 'forms') == 0
    *_, last = capsys.readouterr().out.strip().splitlines()
    assert last.startswith('payload for KUKA (load data of the tool): {M ')
    assert 'set_target_payload(' in (tmp_path / 'forms' / 'report.html').read_text()
    with pytest.raises(RobodynError, match='of another model'):
        robodyn(*command, '--urdf', urdf, '--gravity', 0, 0, -1.62)
    with pytest.raises(RobodynError, match='--payload needs --base: name the result file'):
        robodyn(*command[:2])
    with pytest.raises(RobodynError, match='--base goes with --payload'):
        robodyn(files / 'first.csv', '--urdf', urdf, '--base', base)
    with pytest.raises(RobodynError, match=r'name the robot: --robot NAME\|FILE, --urdf'):
        robodyn(files / 'first.csv')
    with pytest.raises(RobodynError, match=r'of ur10e has no URDF.*add --urdf FILE'):
        robodyn(files / 'first.csv', '--robot', 'ur10e')
    for option, *value in IGNORED:
        with pytest.raises(RobodynError, match=f'^{option} goes with --urdf or --model; that of'):
            robodyn(*command, option, *value)


def test_residual_torque_needs_encoders_on_the_motors(files, tmp_path, capsys):
    urdf = ('--urdf', files / 'robot.urdf')
    with pytest.raises(RobodynError, match='positions of the motors'):
        robodyn(files / 'first.csv', *urdf, '--residual', 'rbf')
    with pytest.raises(RobodynError, match='--residual is for the arm'):
        robodyn(files / 'first.csv', *urdf, '--payload', '--residual', 'none')
