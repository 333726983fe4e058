# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from robots import random_urdf
from simulation import arm, record

from robodyn_ros.identification.files.prg import PrgError, prg_text
from robodyn_ros.identification.files.prg_import import read_prg
from robodyn_ros.identification.files.report import MEANING
from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.physical.named_parameters import compute_named
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.base_parameters import base_parameters
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.delta import NAMED
from robodyn_ros.recording.recording import Recording

LENGTHS = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7, 'h_O': 0.1}
DELTA = {'kind': 'delta', 'dynamic_model': 1, 'joints': list('abcd'), 'geometry': LENGTHS}
CRANK = {'kind': 'axis', 'type': 'rotary', 'dynamic_model': 3, 'joints': ['a']}


def found(description, values=None, covariance=None):
    model = build_model(description)
    base = base_parameters(model)
    if values is None:
        values = np.linspace(0.5, 1.5, len(model.parameters))
    covariance = np.eye(base.rank) * 0.04 if covariance is None else covariance
    return compute_named(model, np.asarray(values, float), base, covariance), values


def by_name(named):
    rows = zip(named.values, named.stddevs, named.status, strict=True)
    return dict(zip(named.names, rows, strict=True))


def test_a_urdf_robot_has_no_names_of_the_document():
    model, truth = arm(random_urdf(2, 1))
    base = base_parameters(model)
    assert compute_named(model, truth, base, np.eye(base.rank)) is None


def test_a_delta_has_the_fourteen_of_the_document_in_its_order():
    named, values = found({**DELTA, 'friction': ['viscous']})
    assert named.names == tuple(item.name for item in NAMED) and len(named.names) == 14
    assert named.units == tuple(item.unit for item in NAMED)
    np.testing.assert_array_equal(named.values[:6], values[:6])
    status = dict(zip(named.names, named.status, strict=True))
    assert status['Theta_Tphi'] == 'identified'
    assert {status[key] for key in ('Theta_AB', 'M_BC', 'M_P', 'M_T', 'L_TO')} == {'combination'}
    assert {status[key] for key in ('D', 'C_r', 'Fr_max', 'R_ext')} == {'absent'}
    assert np.isfinite(named.stddevs).sum() == 1  # Theta_Tphi alone
    assert set(named.status) <= set(MEANING)


def test_given_numbers_are_no_estimates():
    force = {'R_ext': 0.2, 'Fr_max': 30.0}
    named, _ = found({**DELTA, 'platform_force': force})
    known = by_name(named)
    assert known['Fr_max'][0] == 30.0 and known['Fr_max'][2] == 'given'
    assert known['D'][2] == known['C_r'][2] == 'identified'
    assert np.isnan(known['R_ext'][1])


def test_standard_deviations_follow_those_of_the_base_values():
    description = {
        'kind': 'scara',
        'dynamic_model': 1,
        'joints': list('abcd'),
        'geometry': {'L1': 0.3, 'L2': 0.25},
    }
    root = np.random.default_rng(0).normal(size=(8, 8))
    named, _ = found(description, covariance=root @ root.T)
    np.testing.assert_allclose(named.stddevs, np.sqrt(np.diag(root @ root.T)))
    assert set(named.status) == {'identified'}
    three, _ = found({**description, 'joints': list('abc')})
    status = by_name(three)
    assert status['(A2^2*M2+I2)'][2] == status['I4'][2] == 'combination'
    assert status['J4'][2] == 'absent' and np.isnan(status['J4'][1])
    assert np.isfinite(status['M3'][1]) and np.isnan(status['I4'][1])


@pytest.mark.parametrize(
    ('description', 'unseen'),
    [
        ({**CRANK, 'dynamic_model': 2}, {'L^2'}),
        (CRANK, {'L^2', 'g*L'}),
        ({**CRANK, 'type': 'linear', 'dynamic_model': 2}, {'g*cos(alpha)'}),
        ({**CRANK, 'dynamic_model': 1}, set()),
    ],
)
def test_without_payload_its_levers_are_not_identifiable_and_not_zero(description, unseen):
    named, _ = found(description)
    for name, (value, spread, status) in by_name(named).items():
        assert (status == 'unseen') == (name in unseen) == bool(np.isnan(value))
        assert np.isnan(spread) == (name in unseen)


def crank_recording(model, values):
    time = np.arange(0.0, 10.0, 0.002)
    q = np.column_stack([1.2 * np.sin(3.0 * time) + 0.4 * np.sin(7.3 * time)])
    qd = np.column_stack([3.6 * np.cos(3.0 * time) + 2.92 * np.cos(7.3 * time)])
    qdd = np.column_stack([-10.8 * np.sin(3.0 * time) - 21.316 * np.sin(7.3 * time)])
    noise = 0.01 * np.random.default_rng(0).normal(size=q.shape)
    torque = model.torque(q, qd, qdd, values) + noise
    return Recording(
        time=time, joints=('a',), position=q, velocity=qd, acceleration=qdd, torque=torque
    )


@pytest.mark.parametrize('prior', ['urdf', 'none'])
def test_a_known_payload_is_taken_off_what_is_identified(prior):
    model = build_model(
        {**CRANK, 'payload_mass': 2.0, 'payload_inertia': 0.3, 'friction': ['viscous']}
    )
    truth = np.array([0.5, 0.16, 4.0, 3.9, 0.3, 0.7])
    known = build_model(
        {
            **CRANK,
            'payload_mass': 2.0,
            'payload_inertia': 0.3,
            'friction': ['viscous'],
            'prior': {'L^2': 0.16, 'g*L': 3.9},
        }
    )
    result = identify(crank_recording(model, truth), known, options=IdentifyOptions(prior=prior))
    np.testing.assert_allclose(result.values, truth, rtol=0.01)
    assert 'prior kept' in result.completion_rule and 'I_payload' in result.completion_rule
    assert result.named.names == ('I', 'L^2', 'M*g*A', 'g*L')


LINEAR = {'kind': 'axis', 'type': 'linear', 'dynamic_model': 1, 'joints': ['j']}


@pytest.mark.parametrize(
    ('description', 'bad'),
    [(LINEAR, 'M'), (CRANK, 'viscous_friction')],
)
def test_masses_and_friction_of_a_closed_form_are_not_negative(description, bad, tmp_path):
    """What the motion hardly shows comes out negative by chance; here by the torque."""
    model = build_model({**description, 'friction': ['viscous', 'coulomb']})
    truth = np.array([-0.3 if p.name.endswith(bad) else 2.0 for p in model.parameters])
    recording = record(model, truth, 3000, noise=0.01)
    result = identify(recording, model)
    values = {
        p.name.rpartition('.')[2]: v for p, v in zip(model.parameters, result.values, strict=True)
    }
    assert 0.0 <= values[bad] < 1e-9 and min(values.values()) >= 0.0
    held = [item.text for item in result.findings if item.code == 'held_at_zero']
    assert len(held) == 1 and bad in held[0]
    file = tmp_path / 'a.prg'
    file.write_text(prg_text(result))
    imported = read_prg(file, model, force=True)
    np.testing.assert_allclose(imported.values, result.values, atol=1e-6)
    free = identify(recording, model, options=IdentifyOptions(consistent='no'))
    with pytest.raises(PrgError, match='is negative, which no robot has'):
        prg_text(free)
    assert bad == 'viscous_friction' or not free.physically_consistent
