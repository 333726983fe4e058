# SPDX-License-Identifier: Apache-2.0
import bodywise_example as example
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robodyn_ros.analysis.bodywise import identify_bodies, identify_body
from robodyn_ros.analysis.bodywise_file import read_bodies
from robodyn_ros.errors import IdentificationError, ModelError

GRAVITY = (0.0, 0.0, -example.GRAVITY)


def table(times=example.TIMES, digits=None):
    names, rows = example.rows(times, digits)
    return dict(zip(names, rows.T, strict=True))


def written(path, columns):
    rows = np.column_stack(list(columns.values())).tolist()
    text = [','.join(columns), *(','.join(map(repr, row)) for row in rows)]
    path.write_text('\n'.join(text) + '\n')
    return path


def test_wrenches_along_body_axes_are_the_same(tmp_path):
    columns = table()
    turn = Rotation.from_quat(np.stack([columns[k] for k in ('qx', 'qy', 'qz', 'qw')], axis=1))
    for hinge in ('inner', 'outer'):
        for kind in 'fm':
            names = [f'{hinge}_{kind}{axis}' for axis in 'xyz']
            vectors = turn.inv().apply(np.stack([columns[name] for name in names], axis=1))
            columns.update(zip(names, vectors.T, strict=True))
    path = written(tmp_path / 'bodies.csv', columns)
    estimates, _ = identify_bodies(read_bodies(path, gravity=GRAVITY, wrench_axes='body'))
    for number, each in enumerate(estimates):
        assert each.mass == pytest.approx(example.MASS[number], rel=1e-9)
        assert each.inertia[0] == pytest.approx(example.J11[number], rel=1e-7)


def test_rates_and_accelerations_are_computed_where_they_are_not_given(tmp_path):
    columns = table(times=np.linspace(0.5, 1.5, 101))
    rows = columns['body'] == 3.0
    columns = {name: values[rows] for name, values in columns.items()}
    time = columns['t']
    for name in 'xyz':  # places: the accelerations integrated twice, by another rule
        steps = np.diff(time) * (columns[f'a{name}'][1:] + columns[f'a{name}'][:-1]) / 2
        speed = np.concatenate([[0.0], np.cumsum(steps)])
        correction = np.diff(time) ** 2 * np.diff(columns[f'a{name}']) / -12
        path = np.diff(time) * (speed[1:] + speed[:-1]) / 2 + correction
        columns[name] = np.concatenate([[0.0], np.cumsum(path)])
    for name in ('wx', 'wy', 'wz', 'dwx', 'dwy', 'dwz', 'ax', 'ay', 'az', 'body'):
        del columns[name]
    (body,) = read_bodies(written(tmp_path / 'b3.csv', columns), gravity=GRAVITY)
    found = identify_body(body)
    assert found.name == '1' and found.samples == 101
    assert found.mass == pytest.approx(example.MASS[2], rel=1e-3)
    np.testing.assert_allclose(found.inertia, [23.7233, 156.5838, 156.5838], rtol=1e-3)


def test_one_wrench_about_the_centre_needs_no_lever(tmp_path):
    columns = {name: np.zeros(3) for name in ('qx', 'qy', 'qz', 'ax', 'ay', 'az')}
    columns |= {'qw': np.ones(3), 'wx': np.zeros(3), 'wy': np.zeros(3), 'wz': np.zeros(3)}
    columns |= {'dwx': np.array([1.0, 2, 3]), 'dwy': np.zeros(3), 'dwz': np.array([2.0, 0, 1])}
    columns |= {'fx': np.zeros(3), 'fy': np.zeros(3), 'fz': np.full(3, 7 * 9.81)}
    columns |= {'mx': 4 * columns['dwx'], 'my': np.zeros(3), 'mz': 5 * columns['dwz']}
    (body,) = read_bodies(written(tmp_path / 'one.csv', columns))
    found = identify_body(body)
    assert found.mass == pytest.approx(7.0)
    np.testing.assert_allclose(found.inertia, [4.0, np.nan, 5.0])


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'inner_mz': None}, "no column 'inner_mz'"),
        ({'dwx': None}, "no column 'dwx'"),
        ({'ay': np.nan}, "column 'ay' must hold only finite"),
        ({'qw': 3.0}, 'no unit quaternion'),
        ({'ax': None}, "no column 'x'"),
        ({'wx': None, 't': None}, "no column 't'"),
        ({'inner_fx': None, 'outer_fx': None}, 'no column is a wrench'),
    ],
)
def test_files_that_cannot_be_used(tmp_path, change, message):
    columns = table()
    for name, value in change.items():
        if value is None:
            del columns[name]
        else:
            columns[name] = np.where(np.arange(30) == 8, value, columns[name])
    with pytest.raises((IdentificationError, ModelError), match=message):
        read_bodies(written(tmp_path / 'bad.csv', columns))
