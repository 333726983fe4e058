# SPDX-License-Identifier: Apache-2.0
"""Hostile and damaged result files against the plugin's law: a sentence, or torques that keep the
promise; never a crash, a hang, or more than 1 GB.

Where the plugin was built with ROBODYN_SANITIZERS, the same runs under the address and the
undefined-behaviour sanitizer.
"""

import hashlib
import json
import resource
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
import yaml
from controller_build import read_results, use_results
from controller_gears import random_law
from controller_law import run_law
from writers import result_file

from robodyn_ros.errors import RobodynError
from robodyn_ros.identification.files import gear_torque_block
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.catalog import build_model
from robodyn_ros.yaml_file import DUMPER

sys.path.append(str(Path(__file__).resolve().parents[1]))  # `faults` is a program of its own
from faults.hostile_texts import URDFS, YAML
from faults.mutate import mutated

sys.path.pop()

CASES, SEED = 200, 14
CPU, MEMORY = 60, 2**30
"""Of all files of a run, in [s] and [bytes]."""
SCARA = {'kind': 'scara', 'joints': ['a', 'b', 'c', 'd'], 'geometry': {'L1': 0.4, 'L2': 0.3}}
PARTS = {
    'sum in itself': '&a {kind: sum, parts: [*a]}',
    'sums that double': '{kind: sum, parts: ['
    + ', '.join(['{kind: friction, joints: [a], terms: [viscous]}'] * 50) + ']}',
    'axis without joints': {'kind': 'axis', 'type': 'rotary', 'joints': []},
    'axis of two joints': {'kind': 'axis', 'type': 'rotary', 'joints': ['a', 'b']},
    'scara of one joint': {**SCARA, 'joints': ['a']},
    'scara of five joints': {**SCARA, 'joints': [*'abcde']},
    'scara without geometry': {'kind': 'scara', 'joints': [*'abc']},
    'puma of two joints': {'kind': 'puma', 'joints': ['a', 'b']},
    'gravity of puma of two joints': {'kind': 'puma', 'joints': ['a', 'b'], 'dynamic_model': 2},
    'a joint twice': {**SCARA, 'joints': ['a', 'b', 'c', 'c']},
    'a hundred joints': {'kind': 'urdf', 'joints': [f'j{n}' for n in range(100)], 'urdf': ''},
    'a term twice': {'kind': 'friction', 'joints': ['a'], 'terms': ['viscous'] * 10_000},
    'springs without a robot': {'kind': 'springs', 'joints': ['a'], 'terms': ['spring']},
    'a spring twice': {'kind': 'springs', 'joints': ['a'], 'terms': ['spring'] * 10_000},
    'nan as figure': {'kind': 'friction', 'joints': ['a'], 'terms': ['root'],
                      'exponent': [float('nan')]},
    'nan as load': {'kind': 'friction', 'joints': ['a'], 'terms': ['viscous'],
                    'load': [float('nan')]},
    'nan as gravity': {'kind': 'urdf', 'joints': ['j0'], 'gravity': [0.0, 0.0, float('nan')],
                       'urdf': '<robot/>'},
    'no joint of the URDF': {'kind': 'urdf', 'joints': [],
                             'urdf': '<robot name="r"><link name="l"/></robot>'},
    'letters': {'kind': 'x\n\x1b[31m' * 10_000, 'joints': ['a']},
}  # fmt: skip
"""Descriptions that no identification writes, with a hash that fits."""


def joined(*pairs):
    """URDF with joints between pairs of links."""
    links = ''.join(f'<link name="{name}"/>' for name in sorted({n for p in pairs for n in p}))
    joints = ''.join(
        f'<joint name="j{k}" type="continuous"><parent link="{a}"/><child link="{b}"/></joint>'
        for k, (a, b) in enumerate(pairs)
    )
    return f'<robot name="r">{links}{joints}</robot>'


TREES = {
    **{name: t for name, t in URDFS.items() if isinstance(t, str) and len(t) < 10**6},
    'two links in a ring': joined('lm', 'mn', 'nm'),
    'a hundred diamonds': joined(
        *((f'l{n}', f'l{n + 1}') for n in range(90) for _ in range(2))
    ),
}  # fmt: skip


def hashed(block):
    """Hash of a result as identification writes it, or the one there is."""
    try:
        values = [float(value).hex() for value in block['parameter_values']]
        names = [str(name) for name in block['parameter_names']]
        parts = [block['format'], str(block['description']).strip(), names, values]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    except Exception:  # of whatever a mutation made of it
        return 'none'


def described(description, joints=None):
    """A result with this description, and parameters of any number."""
    text = description if isinstance(description, str) else yaml.dump(description, Dumper=DUMPER)
    joints = joints or (description['joints'] if isinstance(description, dict) else ['a'])
    counts = {'puma': 34, 'scara': 8, 'axis': 1}
    kind = description.get('kind', '') if isinstance(description, dict) else ''
    count = counts.get(kind, 11) if 'dynamic_model' not in text else 4
    block = {'format': 1, 'description': text, 'joints': joints,
             'parameter_names': ['p'] * count, 'parameter_values': [1.0] * count}  # fmt: skip
    return json.dumps({'dynamic_model': {**block, 'hash': hashed(block)}}, ensure_ascii=False)


def hostile():
    """Every text that someone thought of, as a file and as the description in one."""
    yield from YAML.values()
    inside = (text for text in YAML.values() if isinstance(text, str) and len(text) < 10**6)
    for text in (*inside, *PARTS.values()):
        yield described(text)
    for tree in TREES.values():
        yield described({'kind': 'urdf', 'joints': ['j0'], 'urdf': tree})


def damaged(folder):
    """Valid results, mutated; half of them with a hash that fits."""
    rng = Random(SEED)
    friction = ['viscous', 'smooth_coulomb', 'offset']
    closed = {'friction': {'terms': friction, 'smoothing': [0.1] * 4}, 'dynamic_model': 1}
    arm = {'kind': 'urdf', 'joints': ['j0', 'j1'], 'urdf': joined('lm', 'mn')}
    data = []
    scara = build_model({**SCARA, **closed})
    gears = [random_law(scara.joint_names, kind, 2) for kind in ('rbf', 'gmr')]
    for model, residual in ((scara, None), (build_model(arm), None), *((scara, g) for g in gears)):
        path = result_file(folder, model, np.ones(len(model.parameters)), residual=residual)
        data.append(path.read_bytes())
    for _ in range(CASES):
        text = mutated(rng.choice(data), 'yaml', rng)
        yield fitted(text) if rng.random() < 0.5 else text


def fitted(text):
    """The same with a description and gears that may be mutated too, and their hashes."""
    try:
        content = yaml.safe_load(text)
        parameters = content['/**']['ros__parameters']
        block, gears = parameters['dynamic_model'], parameters.get('residual_torque')
        block['hash'] = hashed(block)
        if gears:
            gears['hash'] = gear_torque_block._hash(gears, block['hash'])
        return yaml.dump(content, Dumper=DUMPER, width=10**6).encode()
    except Exception:  # it is no result any more
        return text


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp('results')
    paths = []
    for number, content in enumerate((*hostile(), *damaged(folder))):
        path = folder / f'{number}.yaml'
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths.append(path)
    return [*paths, Path('/dev/zero'), folder, folder / 'missing.yaml']


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def check_sentences(said, files):
    for line, path in zip(said, files, strict=True):
        assert line == 'used' or f'the result file {path} cannot be used: ' in line, line
        assert len(line) < 600 and line.isprintable(), line
    assert 0 < said.count('used') < len(said) / 2


def check_promise(path, joints, folder):
    """The law of a result over a smooth motion: finite, within limit and rate."""
    angle = np.repeat(0.02 * np.arange(100)[:, None], joints, axis=1)
    states = np.sin(angle), 10.0 * np.cos(angle), -100.0 * np.sin(angle)
    options = {'measured': 0.9 * states[0], 'gears': (1.0, states[0]), 'ramp_down_time': 0.05}
    out = run_law(path, states, window=0.01, limit=20.0, rate=400.0, folder=folder, **options)
    assert np.isfinite(out.applied).all() and (np.abs(out.applied) <= 20.0).all()
    steps = np.abs(np.diff(out.applied, axis=0, prepend=0.0))
    assert (steps <= 400.0 * 0.002 * (1 + 1e-9)).all()


@pytest.mark.parametrize('folder', ['', 'sanitized'])
def test_damaged_and_hostile_results_are_sentences_or_torques_that_keep_the_promise(files, folder):
    options = {} if folder else {'preexec_fn': bounded}
    answers = read_results('results', files, folder=folder, **options)
    check_sentences([said for said, _ in answers], files)
    for path, (said, joints) in zip(files, answers, strict=True):
        if said == 'used':
            check_promise(path, joints, folder)


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'latin-1'])
def test_a_result_in_another_encoding_is_refused_as_python_does(tmp_path, encoding):
    model = build_model({**SCARA, 'joints': ['ä', *'bcd'], 'dynamic_model': 1})
    path = result_file(tmp_path, model, np.ones(len(model.parameters)))
    text = yaml.safe_dump(yaml.safe_load(path.read_text()), allow_unicode=True, width=10**6)
    assert 'ä' in text
    for coding in ('utf-8', 'utf-8-sig'):
        path.write_text(text, coding)
        assert use_results('results', [path]) == ['used']
        load_identified_model(path)
    path.write_text(text, encoding)
    said = use_results('results', [path])
    assert said[0].endswith('cannot be used: it is no UTF-8 text')
    with pytest.raises(RobodynError, match='cannot be read'):
        load_identified_model(path)


def test_a_verdict_is_read_and_held_against_its_hash_as_python_does(tmp_path):
    model = build_model({**SCARA, 'joints': ['ä', *'bcd'], 'dynamic_model': 1})
    values = np.ones(len(model.parameters))
    good = yaml.safe_load(result_file(tmp_path, model, values, bad=['ä']).read_text())
    verdict = good['/**']['ros__parameters']['identification']['verdict']
    changes = {
        'as written': verdict, 'none': None, 'empty': {}, 'text': 'usable',
        'a word': {**verdict, 'feedforward': ['usable'] * 4},
        'no words': {**verdict, 'monitoring': []},
        'another joint': {**verdict, 'joints': list('abcd')},
        'another hash': {**verdict, 'hash': '0' * 64},
    }  # fmt: skip
    files = []
    for name, block in {**changes, 'no mapping': ...}.items():
        facts = {'verdict': block} if block is not ... else ['verdict']
        good['/**']['ros__parameters']['identification'] = facts
        files.append(tmp_path / f'{name}.yaml')
        files[-1].write_text(yaml.safe_dump(good, width=10**6))
    said = dict(zip([*changes, 'no mapping'], use_results('results', files), strict=True))
    for (name, line), path in zip(said.items(), files, strict=True):
        assert (line == 'used') is (name in {'as written', 'none'}), (name, line)
        if line == 'used':
            load_identified_model(path)
        else:
            with pytest.raises(RobodynError):
                load_identified_model(path)
    for name in ('a word', 'another joint', 'another hash'):
        assert 'its verdict does not fit its hash: the file was changed' in said[name]
