import json
import sys

import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.cli.identify import add_parser, run
from robodyn_ros.identification.result import load_identified_model
from robodyn_ros.recording.writers import write_csv


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
    import argparse

    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return run(parser.parse_args(['identify', *map(str, arguments)]))


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
    code = robodyn(files / 'first.csv', '--urdf', files / 'robot.urdf', '--split', 0.6)
    text = capsys.readouterr().out
    assert code == 0 and 'identification succeeded' in text and 'validation: relative' in text


def test_consistency_and_prior_are_what_was_asked_for(files, capsys):
    command = [files / 'first.csv', '--urdf', files / 'robot.urdf', '--json']
    found = []
    for options in (['--no-consistent'], ['--consistent'], ['--consistent', '--prior', 'none']):
        assert robodyn(*command, *options) == 0
        found.append(json.loads(capsys.readouterr().out)['selection'])
    assert [item['estimate'] for item in found] == ['unconstrained', 'consistent', 'consistent']
    assert [item['prior'] for item in found[1:]] == ['urdf', 'none']


def test_failure_has_an_exit_code_and_no_model(files, tmp_path, capsys):
    options = [files / 'short.csv', '--urdf', files / 'robot.urdf', '--out', tmp_path]
    assert robodyn(*options) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ['result.json']
    assert 'FAILED' in capsys.readouterr().out
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


def test_model_from_its_description(files, tmp_path, capsys):
    description = tmp_path / 'model.yaml'
    description.write_text(f'kind: urdf\nurdf: {files / "robot.urdf"}\nfriction: [viscous]\n')
    robodyn(files / 'first.csv', '--model', description, '--json')
    names = [item['name'] for item in json.loads(capsys.readouterr().out)['parameters']]
    assert names[-1] == 'joint3.viscous_friction'


def test_no_progress_bar_where_there_is_no_terminal(files, capsys, monkeypatch):
    arguments = (files / 'first.csv', '--urdf', files / 'robot.urdf', '--json')
    robodyn(*arguments)
    assert capsys.readouterr().err == ''
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: True, raising=False)
    robodyn(*arguments)
    assert 'condense' in capsys.readouterr().err


@pytest.mark.parametrize(
    'options',
    [[], ['--urdf', 'a', '--model', 'b'], ['--urdf', 'a', '--validate', 'x', '--split', '0.5']],
)
def test_unclear_requests_are_refused(files, options):
    with pytest.raises(SystemExit):
        robodyn(files / 'first.csv', *options)
