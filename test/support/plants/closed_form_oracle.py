"""What the tests of the closed-form models share: URDFs of given bodies, RNEA, common checks."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import yaml
from robots import random_states

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model, model_hash


def body(kind, origin, axis, mass, centre, inertia, *, rpy=(0, 0, 0)):
    """One joint and the link it carries; inertia about the centre: three, or a full tensor."""
    tensor = np.asarray(inertia, dtype=float)
    tensor = np.diag(tensor) if tensor.ndim == 1 else tensor
    return kind, origin, rpy, axis, mass, centre, tensor


def urdf(bodies):
    """URDF of a chain; joints are named joint1, ..."""
    text = '<link name="link0"/>'
    for number, (kind, origin, rpy, axis, mass, centre, tensor) in enumerate(bodies, start=1):
        xx, xy, xz, yy, yz, zz = (repr(float(v)) for v in tensor[np.triu_indices(3)])
        text += (
            f'<link name="link{number}"><inertial><origin xyz="{_text(centre)}"/>'
            f'<mass value="{float(mass)!r}"/><inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" '
            f'iyy="{yy}" iyz="{yz}" izz="{zz}"/></inertial></link>'
            f'<joint name="joint{number}" type="{kind}"><parent link="link{number - 1}"/>'
            f'<child link="link{number}"/><origin xyz="{_text(origin)}" rpy="{_text(rpy)}"/>'
            f'<axis xyz="{_text(axis)}"/><limit lower="-9" upper="9" effort="9" velocity="9"/>'
            f'</joint>'
        )
    return f'<robot name="chain">{text}</robot>'


def with_load(xml, parent, mass, centre, inertia):
    """The URDF with a payload fixed to a link; inertia as (xx, xy, xz, yy, yz, zz)."""
    xx, xy, xz, yy, yz, zz = inertia
    return xml.replace(
        '</robot>',
        f'<joint name="grip" type="fixed"><parent link="{parent}"/><child link="load"/></joint>'
        f'<link name="load"><inertial><origin xyz="{_text(centre)}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>'
        f'</inertial></link></robot>',
    )


def rnea(xml, q, qd, qdd, *, gravity=9.81, rotors=0.0):
    """Torques (N, n) by Pinocchio's own reading of the URDF; rotors add inertia times qdd."""
    model = pin.buildModelFromXML(xml)
    model.gravity.linear = np.array([0.0, 0.0, -gravity])
    data = model.createData()
    torque = [pin.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)]
    return np.array(torque) + qdd * np.asarray(rotors)


def values_of(model, known):
    """Parameter values of the model from a mapping by name; nothing missing, nothing over."""
    names = [item.name for item in model.parameters]
    assert set(known) == set(names)
    return np.array([known[name] for name in names])


def assert_equal_torque(torque, expected, tolerance=1e-9):
    """Compare with a tolerance in [Nm] or [N]; the torques must not be trivial."""
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(torque, expected, rtol=0, atol=tolerance)


def assert_behaves(model, description):
    """Round trip through YAML, shapes, blocks, layouts, and the sentence for a wrong shape."""
    assert build_model(description).describe() == model.describe()
    again = build_model(yaml.safe_load(yaml.safe_dump(model.describe())))
    assert again.joints == model.joints
    assert again.parameters == model.parameters
    assert model_hash(again) == model_hash(model)
    np.testing.assert_array_equal(again.prior(), model.prior())
    count, width = len(model.joints), len(model.parameters)
    state = [0.1 * value for value in random_states(count, 7)]
    regressor = model.regressor(*state)
    assert regressor.shape == (7, count, width)
    np.testing.assert_array_equal(again.regressor(*state), regressor)
    single = [model.regressor(*(x[k : k + 1] for x in state)) for k in range(7)]
    np.testing.assert_allclose(np.concatenate(single), regressor, rtol=0, atol=1e-12)
    turned = model.regressor(*(np.asfortranarray(x) for x in state))
    np.testing.assert_allclose(turned, regressor, rtol=0, atol=1e-12)
    assert model.regressor(*(x[:0] for x in state)).shape == (0, count, width)
    values = np.linspace(0.5, 1.5, width)
    np.testing.assert_allclose(model.torque(*state, values), regressor @ values, atol=1e-12)
    with np.errstate(invalid='ignore'):
        for bad in (np.nan, np.inf):  # as of many samples, so of one
            gone = model.regressor(*(np.full((1, count), bad) for _ in state))
            assert not np.isfinite(gone).all()
    with pytest.raises(ModelError, match=rf'with {count} joints needs q, qd, qdd of shape'):
        model.regressor(state[0][:, 1:], *state[1:])
    with pytest.raises(ModelError, match='parameters, got values of shape'):
        model.torque(*state, values[1:])


def _text(values):
    return ' '.join(repr(float(value)) for value in values)
