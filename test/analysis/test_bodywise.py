# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import bodywise_example as example
import numpy as np
import pytest

from robodyn_ros.analysis.bodywise import (
    BodyMotion,
    body_findings,
    identify_bodies,
    identify_body,
)
from robodyn_ros.analysis.bodywise_file import read_bodies
from robodyn_ros.errors import IdentificationError
from robodyn_ros.models.quaternion import euler_matrix

TRUTH = np.stack([example.J11, example.J22, example.J22], axis=1)


def bodies(tmp_path, **options):
    example.write(tmp_path / 'bodies.csv', **options)
    return read_bodies(tmp_path / 'bodies.csv', gravity=(0.0, 0.0, -example.GRAVITY))


def test_the_documents_example_within_its_errors(tmp_path):
    """Five samples of 7 digits: masses to 0.0264 kg, all of B2..B6 to 0.031 % (Tables 1-3)."""
    estimates, findings = identify_bodies(bodies(tmp_path))
    assert [each.name for each in estimates] == ['1', '2', '3', '4', '5', '6']
    assert all(each.samples == 5 for each in estimates)
    mass = np.array([each.mass for each in estimates])
    np.testing.assert_allclose(mass, example.MASS, rtol=0, atol=0.0264)
    inertia = np.array([each.inertia for each in estimates])
    np.testing.assert_allclose(inertia[1:], TRUTH[1:], rtol=3.1e-4)
    np.testing.assert_allclose(mass[1:], example.MASS[1:], rtol=3.1e-4)
    # As in Table 2: B1 shows its mass along gravity only, the others in every direction.
    directions = np.array([each.directions for each in estimates])
    expected = np.tile(example.MASS[:, None], (1, 3))
    expected[0, :2] = np.nan
    np.testing.assert_allclose(directions, expected, rtol=0, atol=0.0264)
    # What B1's spin about its own axis cannot show is no number.
    assert inertia[0, 0] == pytest.approx(example.J11[0], rel=3.1e-4)
    assert np.isnan(inertia[0, 1:]).all() and np.isnan(estimates[0].inertia_stddev[1:]).all()
    (finding,) = findings
    assert finding.code == 'not_identifiable' and 'body 1: J22, J33 cannot' in finding.text


def tumbling(noise=0.0, inertia=(2.0, 3.0, 4.0), seed=0, samples=400):
    """A body of 5 kg in any motion, wrenches with noise."""
    random = np.random.default_rng(seed)
    velocity, acceleration, specific = random.normal(size=(3, samples, 3))
    force = 5.0 * specific + noise * random.normal(size=(samples, 3))
    moment = euler_matrix(velocity, acceleration) @ np.array(inertia)
    moment += noise * random.normal(size=moment.shape)
    return BodyMotion('arm', velocity, acceleration, specific, force, moment)


def test_standard_deviations_are_those_of_many_runs():
    runs = [identify_body(tumbling(0.3, seed=seed)) for seed in range(100)]
    inertia = np.array([each.inertia for each in runs])
    claimed = np.mean([each.inertia_stddev for each in runs], axis=0)
    np.testing.assert_allclose(claimed, inertia.std(axis=0), rtol=0.25)
    mass = np.array([each.mass for each in runs])
    assert np.mean([each.mass_stddev for each in runs]) == pytest.approx(mass.std(), rel=0.25)


def test_wrong_axes_and_impossible_bodies_are_said():
    body = tumbling()
    assert not list(body_findings(identify_body(body)))
    turned = replace(body, moment=body.moment[:, [1, 0, 2]])
    assert 'axes_in_doubt' in [f.code for f in body_findings(identify_body(turned))]
    flat = identify_body(tumbling(inertia=(9.0, 1.0, 1.0)))
    assert [f.code for f in body_findings(flat)] == ['impossible_body']
    repelled = identify_body(replace(body, force=-body.force))
    assert [f.code for f in body_findings(repelled)] == ['impossible_body']


def test_too_little_data_are_refused():
    body = tumbling(samples=1)
    with pytest.raises(IdentificationError, match='body arm: at least 2 samples'):
        identify_body(body)
    assert identify_body(tumbling(samples=2)).samples == 2
    body = tumbling()
    with pytest.raises(IdentificationError, match='finite numbers'):
        identify_body(replace(body, force=np.full((400, 3), np.nan)))
