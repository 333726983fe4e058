import numpy as np
from control_arm import small_arm

from robodyn_ros.control.torque.gravity_free import GravityFree
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.catalog import build_model

MODEL, VALUES = small_arm()


def states(count=50):
    return np.random.default_rng(2).uniform(-2.0, 2.0, (3, count, 2))


def weightless():
    """The same arm where there is no gravity: what the driver's effort shows."""
    description = MODEL.describe()
    for part in description['parts']:
        if part['kind'] == 'urdf':
            part['gravity'] = [0.0, 0.0, 0.0]
    return ModelTorque(build_model(description), VALUES)


def test_it_is_the_torque_of_a_model_without_gravity():
    whole = ModelTorque(MODEL, VALUES)
    free = GravityFree(whole, [True, True])
    np.testing.assert_allclose(free.torque(*states()), weightless().torque(*states()), atol=1e-9)
    assert np.abs(free.torque(*states()) - whole.torque(*states())).max() > 1.0
    np.testing.assert_array_equal(free.friction_step, whole.friction_step)


def test_only_the_joints_that_are_told():
    whole = ModelTorque(MODEL, VALUES)
    mixed = GravityFree(whole, [False, True]).torque(*states())
    np.testing.assert_allclose(mixed[:, 0], whole.torque(*states())[:, 0], atol=1e-9)
    np.testing.assert_allclose(mixed[:, 1], weightless().torque(*states())[:, 1], atol=1e-9)


def test_one_sample_is_what_it_is_among_many():
    mixed = GravityFree(ModelTorque(MODEL, VALUES), [False, True])
    alone = [mixed.torque(*sample) for sample in zip(*states(), strict=True)]
    np.testing.assert_allclose(alone, mixed.torque(*states()), rtol=1e-12, atol=1e-12)
