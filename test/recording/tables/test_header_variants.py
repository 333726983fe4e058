# SPDX-License-Identifier: Apache-2.0
"""Tables as people have them: one motion, written in many forms, is read as the same signals."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pandas
import pyarrow
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scipy.io import savemat

from robodyn_ros.recording.readers import read_recording

START = datetime.datetime(2026, 5, 4, 12, 0, 0, tzinfo=datetime.timezone.utc)
EPOCH = START.timestamp()


@dataclass(frozen=True, repr=False)
class Motion:
    """Signals that a file has, each of shape (N, n)."""

    time: np.ndarray
    joints: tuple[str, ...]
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    def rows(self, *signals):
        return np.column_stack([self.time, *(signals or (self.q, self.v, self.tau))]).tolist()


FORMS = st.tuples(
    st.integers(1, 7),
    st.integers(40, 80),
    st.sampled_from([0.001, 0.002, 0.01, 0.05]),
    st.sampled_from(['arm_{}', 'joint{}', 'shoulder_{}_joint', 'axis.{}', 'a{}b']),
    st.integers(0, 2**16),
)
"""Joints, samples, period, names and seed of a motion."""


def motion_of(count, samples, period, names, seed):
    rng = np.random.default_rng(seed)
    time = np.round(np.arange(samples) * period, 6)
    phase = np.linspace(0.0, 3.0, samples)[:, None] + rng.uniform(0.0, 6.0, count)
    q = np.round(np.sin(phase) + 0.3, 6)
    v = np.round(np.gradient(q, time, axis=0), 6)
    tau = np.round(20.0 * np.cos(phase) - 3.0 + rng.normal(0.0, 0.1, q.shape), 6)
    return Motion(time, tuple(names.format(k) for k in range(1, count + 1)), q, v, tau)


def cells(rows, delimiter=',', number=repr, quoting=csv.QUOTE_MINIMAL, end='\n'):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)
    for row in rows:
        writer.writerow([cell if isinstance(cell, str) else number(cell) for cell in row])
    return out.getvalue()


def head(m, form='{}_{}', words=('q', 'qd', 'tau'), time='time'):
    return [time, *(form.format(word, joint) for word in words for joint in m.joints)]


def numbered(m, form, first=1, time='time'):
    """Names such as q1; `form` has the words of position, velocity and torque."""
    return [time, *(word.format(k + first) for word in form.split() for k in range(len(m.joints)))]


def comma(value):
    return repr(value).replace('.', ',')


def of_lists(m, text):
    rows = zip(m.time.tolist(), m.q.tolist(), m.v.tolist(), m.tau.tolist(), strict=True)
    return cells([['time', 'position', 'velocity', 'effort'],
                  *([t, text(q), text(v), text(f)] for t, q, v, f in rows)])  # fmt: skip


def numpy_text(values):
    return str(np.array(values))


def stamped(m, stamp, name='time', **options):
    rows = [[stamp(t), *row] for t, (_, *row) in zip(m.time.tolist(), m.rows(), strict=True)]
    return cells([head(m, time=name), *rows], **options)


def iso(form, zone=datetime.timezone.utc):
    def write(t):
        return (START + datetime.timedelta(seconds=t)).astimezone(zone).strftime(form)

    return write


def echo(m):
    rows = []
    for t, *row in m.rows():
        nanoseconds = round((EPOCH + 0.5) * 1e9) + round(t * 1e9)
        stamp = [str(nanoseconds // 10**9), str(nanoseconds % 10**9), '']
        rows.append([*stamp, *m.joints, *row])
    return cells(rows)


def pairs(m, name):
    signals = np.hstack([m.q, m.v, m.tau])
    names = head(m)[1:]
    header = [cell for each in names for cell in (name.format(each), each)]
    rows = [
        [c for x in row for c in (t, x)]
        for t, row in zip(m.time.tolist(), signals.tolist(), strict=True)
    ]
    return cells([header, *rows])


def two_rows(m, filled):
    words, count = ('position', 'velocity', 'torque'), len(m.joints)
    groups = [w if filled or not k else '' for w in words for k in range(count)]
    return cells([['', *groups], ['time', *m.joints * 3], *m.rows()])


def interleaved(m, other):
    """Rows of another topic, with empty cells for this one."""
    header = [*head(m), '/imu/x']
    rows = []
    for t, *row in m.rows():
        rows += [[t, *row, ''], *[[t + 1e-5, *[''] * len(row), 1.0]] * other]
    return cells([header, *rows])


CSV: dict[str, Callable[[Motion], str]] = {
    'plain': lambda m: cells([head(m), *m.rows()]),
    'an index of pandas': lambda m: cells(
        [['', *head(m)], *([str(k), *r] for k, r in enumerate(m.rows()))]),
    'saved twice by pandas': lambda m: cells(
        [['', 'Unnamed: 0', *head(m)], *([str(k)] * 2 + r for k, r in enumerate(m.rows()))]),
    'an index of R': lambda m: cells(
        [head(m), *([f'{k}', *r] for k, r in enumerate(m.rows(), 1))]),
    'a mark at the end of rows': lambda m: cells([head(m), *([*r, ''] for r in m.rows())]),
    'a mark at every end': lambda m: cells([[*head(m), ''], *([*r, ''] for r in m.rows())]),
    'unused columns of one name': lambda m: cells(
        [[*head(m), 'x', 'x'], *([*r, 1.0, 2.0] for r in m.rows())]),
    'texts with commas': lambda m: cells(
        [[*head(m), 'state'], *([*r, 'moving, "fast"'] for r in m.rows())]),
    'lists': lambda m: of_lists(m, str),
    'lists of numpy': lambda m: of_lists(m, numpy_text),
    'tuples': lambda m: of_lists(m, lambda values: str(tuple(values))),
    'rows of signals and joints': lambda m: two_rows(m, filled=True),
    'merged cells of signals': lambda m: two_rows(m, filled=False),
    'a row of units': lambda m: cells(
        [head(m), ['s', *(u for u in ('rad', 'rad/s', 'Nm') for _ in m.joints)], *m.rows()]),
    'degrees in a row of units': lambda m: cells(
        [head(m), ['[ms]', *(u for u in ('[deg]', '[°/s]', '[mNm]') for _ in m.joints)],
         *([1e3 * t, *r] for t, *r in Motion(m.time, m.joints, np.rad2deg(m.q), np.rad2deg(m.v),
                                             1e3 * m.tau).rows())]),
    'degrees in the names': lambda m: cells(
        [['Time [ms]', *(f'{w}_{j} [{u}]' for w, u in (('q', 'deg'), ('qd', 'deg/s'),
                                                      ('tau', 'N m')) for j in m.joints)],
         *([1e3 * t, *r] for t, *r in Motion(m.time, m.joints, np.rad2deg(m.q), np.rad2deg(m.v),
                                             m.tau).rows())]),
    'units behind a mark': lambda m: cells(
        [['time_ms', *(f'{w}{k}_{u}' for w, u in (('q', 'deg'), ('tau', 'Nm'))
                       for k, _ in enumerate(m.joints))],
         *([1e3 * t, *r] for t, *r in m.rows(np.rad2deg(m.q), m.tau))]),
    'a preamble': lambda m: cells(
        [['Device', 'MSO2024'], ['Sample interval', '0.001'], [], head(m), *m.rows()]),
    'a preamble with tabs': lambda m: 'Export of drive 3\nDate\t2026-05-04\n\n' + cells(
        [head(m), *m.rows()], '\t'),
    'pairs of a scope': lambda m: pairs(m, 'time'),
    'pairs with names': lambda m: pairs(m, 'time_{}'),
    'names of a scope': lambda m: 'Name,Export\n' + pairs(m, 'Name'),
    'ISO 8601': lambda m: stamped(m, iso('%Y-%m-%d %H:%M:%S.%f')),
    'ISO 8601 with T and Z': lambda m: stamped(m, iso('%Y-%m-%dT%H:%M:%S.%fZ'), 'timestamp'),
    'ISO 8601 with a zone': lambda m: stamped(
        m, iso('%Y-%m-%dT%H:%M:%S.%f%z', datetime.timezone(datetime.timedelta(hours=2)))),
    'time of the day': lambda m: stamped(m, iso('%H:%M:%S.%f')),
    'epoch in s': lambda m: stamped(m, lambda t: f'{EPOCH + t:.6f}'),
    'epoch in ms': lambda m: stamped(m, lambda t: str(round(1e3 * (EPOCH + t))), 'timestamp'),
    'epoch in us': lambda m: stamped(m, lambda t: str(round(1e6 * (EPOCH + t))), 'stamp'),
    'epoch in ns': lambda m: stamped(
        m, lambda t: str(round(1e9 * EPOCH) + round(1e9 * t)), '__time'),
    'secs and nsecs': lambda m: cells(
        [['header.stamp.secs', 'header.stamp.nsecs', *head(m)[1:]],
         *([str(int(EPOCH + 0.5 + t)), str(round(1e9 * ((0.5 + t) % 1))), *r]
           for t, *r in m.rows())]),
    'decimal comma': lambda m: cells([head(m), *m.rows()], ';', comma),
    'decimal comma in quotes': lambda m: cells([head(m), *m.rows()], ';', comma, csv.QUOTE_ALL),
    'decimal comma between commas': lambda m: cells(
        [head(m), *m.rows()], ',', comma, csv.QUOTE_ALL),
    'tabs': lambda m: cells([head(m), *m.rows()], '\t'),
    'bars': lambda m: cells([head(m), *m.rows()], '|'),
    'spaces': lambda m: cells([head(m), *m.rows()], ' '),
    'CRLF and BOM': lambda m: '\ufeff' + cells([head(m), *m.rows()], end='\r\n'),
    'comments': lambda m: f'# robot: x\n# {",".join(head(m))}\n' + cells(m.rows()),
    'comments within': lambda m: '# a\n' + cells([head(m)]) + '# b\n' + cells(m.rows()) + '# c\n',
    'ros2 topic echo --csv': echo,
    'rostopic echo -p': lambda m: cells(
        [['%time', 'field.header.frame_id', *(f'field.name{k}' for k, _ in enumerate(m.joints)),
          *numbered(m, 'field.position{} field.velocity{} field.effort{}', 0)[1:]],
         *([str(round(1e9 * (EPOCH + t))), 'base', *m.joints, *r] for t, *r in m.rows())]),
    'rows of another topic': lambda m: interleaved(m, 1),
    'numbers from 1': lambda m: cells([numbered(m, 'q{} qd{} tau{}'), *m.rows()]),
    'numbers from 0': lambda m: cells([numbered(m, 'q_{} qd_{} tau_{}', 0, 't'), *m.rows()]),
    'UR': lambda m: cells(
        [numbered(m, 'actual_q_{} actual_qd_{} torque_{}', 0, 'timestamp'), *m.rows()]),
    'PlotJuggler': lambda m: cells(
        [numbered(m, '/js/position[{}] /js/velocity[{}] /js/effort[{}]', 0, '__time'), *m.rows()]),
    'PlotJuggler by joint': lambda m: cells(
        [head(Motion(m.time, tuple(f'/js/{j}/' for j in m.joints), *[m.q] * 3), '{1}{0}',
              ('position', 'velocity', 'effort')), *m.rows()]),
    'signal.joint': lambda m: cells(
        [head(m, '{}.{}', ('position', 'velocity', 'effort')), *m.rows()]),
    'joint_signal': lambda m: cells([head(m, '{1}_{0}', ('pos', 'vel', 'eff')), *m.rows()]),
}  # fmt: skip


def check(motion, path, zero=None):
    """Read with the joints of the robot; compare all that the file has."""
    recording = read_recording(path, joints=motion.joints)
    assert recording.joints == motion.joints
    bad = {finding.code for finding in recording.findings if finding.severity == 'error'}
    assert not bad - {'no_motion'}
    np.testing.assert_allclose(recording.time - recording.time[0], motion.time, atol=2e-6)
    np.testing.assert_allclose(recording.position, motion.q, atol=1e-7)
    np.testing.assert_allclose(recording.torque, motion.tau, atol=1e-7)
    if recording.velocity is not None:
        np.testing.assert_allclose(recording.velocity, motion.v, atol=1e-5)


@pytest.mark.parametrize('name', CSV)
@settings(
    max_examples=8, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(form=FORMS)
def test_every_form_gives_the_same_signals(tmp_path: Path, name: str, form: tuple) -> None:
    path, motion = tmp_path / 'a.csv', motion_of(*form)
    path.write_text(CSV[name](motion), encoding='utf-8')
    check(motion, path)


def signals_of(m):
    return {'position': m.q, 'velocity': m.v, 'effort': m.tau}


def records(m):
    """Messages as JSON, as of Foxglove and rosbridge."""
    signals = (m.time.tolist(), m.q.tolist(), m.v.tolist(), m.tau.tolist())
    for t, q, v, tau in zip(*signals, strict=True):
        nanoseconds = round(1e9 * EPOCH) + round(1e9 * t)
        stamp = {'sec': nanoseconds // 10**9, 'nanosec': nanoseconds % 10**9}
        yield {'header': {'stamp': stamp, 'frame_id': ''}, 'name': list(m.joints), 'position': q,
               'velocity': v, 'effort': tau}  # fmt: skip


def write_json_lines(m, folder):
    path = folder / 'a.jsonl'
    path.write_text(''.join(f'{json.dumps(each)}\n' for each in records(m)))
    return path


def write_echo(m, folder):
    path = folder / 'a.yaml'
    path.write_text(
        ''.join(f'{yaml.safe_dump(each, sort_keys=False)}---\n' for each in records(m))
    )
    return path


def write_frame(m, folder):
    path = folder / 'a.parquet'
    pandas.DataFrame(m.rows(), columns=head(m)).set_index('time').to_parquet(path)
    return path


def write_lists(m, folder):
    path = folder / 'a.parquet'
    stamps = pandas.to_datetime(EPOCH + m.time, unit='s', utc=True)
    lists = {name: values.tolist() for name, values in signals_of(m).items()}
    pandas.DataFrame({'stamp': stamps, **lists}).to_parquet(path)
    return path


def write_struct(m, folder):
    path, names = folder / 'a.parquet', m.joints
    structs = {
        name: [dict(zip(names, row, strict=True)) for row in values.tolist()]
        for name, values in signals_of(m).items()
    }
    parquet.write_table(pyarrow.table({'t': m.time, **structs}), path)
    return path


def write_lerobot(m, folder, *, form='{}', files=1):
    """Write two episodes, each from time 0, in one file or two."""
    half = len(m.time) // 2
    names = [form.format(joint) for joint in m.joints]
    features = {
        f'observation.{name}': {'dtype': 'float32', 'names': {'motors': names}}
        for name in ('state', 'velocity', 'effort')
    }
    (folder / 'meta').mkdir()
    (folder / 'data' / 'chunk-000').mkdir(parents=True)
    (folder / 'meta' / 'info.json').write_text(json.dumps({'fps': 30, 'features': features}))
    frames = []
    for number, rows in enumerate((slice(0, half), slice(half, None))):
        signals = zip(('state', 'velocity', 'effort'), (m.q, m.v, m.tau), strict=True)
        frames.append(pandas.DataFrame({
            'action': (m.q[rows] + 1.0).tolist(),
            **{f'observation.{name}': values[rows].tolist() for name, values in signals},
            'timestamp': m.time[rows] - m.time[rows][0],
            'episode_index': number,
        }))  # fmt: skip
    for number, frame in enumerate(frames if files == 2 else [pandas.concat(frames)]):
        frame.to_parquet(folder / 'data' / 'chunk-000' / f'file-{number:03}.parquet')
    return folder


def write_hdf5(m, folder):
    """Write what ACT and ALOHA record."""
    path = folder / 'a.hdf5'
    with h5py.File(path, 'w') as file:
        file['action'] = m.q + 1.0
        file['time'] = m.time
        for name, values in zip(('qpos', 'qvel', 'effort'), (m.q, m.v, m.tau), strict=True):
            file[f'observations/{name}'] = values
    return path


def write_mat_73(m, folder):
    """Write a struct as MATLAB does: transposed, with classes."""
    path = folder / 'a.mat'
    with h5py.File(path, 'w', userblock_size=512) as file:
        log = file.create_group('log')
        log.attrs['MATLAB_class'] = np.bytes_('struct')
        signals = {'t': m.time[:, None], 'q': m.q, 'qd': m.v, 'tau': m.tau}
        for name, values in signals.items():
            log[name] = values.T
            log[name].attrs['MATLAB_class'] = np.bytes_('double')
    with path.open('r+b') as file:
        file.write(b'MATLAB 7.3 MAT-file'.ljust(124) + b'\x00\x02IM')
    return path


def write_mat_7(m, folder):
    path = folder / 'a.mat'
    savemat(path, {'data': {'t': m.time, 'q': m.q, 'qd': m.v, 'tau': m.tau}})
    return path


FILES = {
    'JSON lines': write_json_lines,
    'ros2 topic echo': write_echo,
    'Parquet of pandas': write_frame,
    'Parquet of lists': write_lists,
    'Parquet of structs': write_struct,
    'HDF5': write_hdf5,
    'MAT 7.3': write_mat_73,
    'MAT 7': write_mat_7,
}


@pytest.mark.parametrize('name', FILES)
@settings(max_examples=5, deadline=None, derandomize=True)
@given(form=FORMS)
def test_every_format_gives_the_same_signals(tmp_path_factory, name: str, form: tuple) -> None:
    motion = motion_of(*form)
    check(motion, FILES[name](motion, tmp_path_factory.mktemp('a')))


@pytest.mark.parametrize('form', ['{}', '{}.pos'])
@pytest.mark.parametrize('files', [1, 2])
@pytest.mark.parametrize('one', [False, True])
def test_episodes_of_a_lerobot_data_set_follow_each_other(tmp_path, form, files, one) -> None:
    motion = motion_of(6, 60, 0.03, 'elbow_{}', 1)
    path = write_lerobot(motion, tmp_path, form=form, files=files)
    path = path / 'data' / 'chunk-000' / 'file-000.parquet' if one else path
    recording = read_recording(path, joints=motion.joints)
    rows = 60 if files == 1 or not one else 30
    np.testing.assert_allclose(recording.position, motion.q[:rows], atol=1e-6)
    np.testing.assert_allclose(recording.torque, motion.tau[:rows], atol=1e-6)
    steps = np.diff(recording.time)
    assert (np.abs(steps - 0.03) > 1e-6).sum() == (rows == 60) and steps.max() < 11.0
