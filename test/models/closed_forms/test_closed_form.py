# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pytest

from robodyn_ros.errors import ModelError
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.closed_forms.closed_form import (
    closed_form_part,
)
from robodyn_ros.models.friction import FrictionModel
from robodyn_ros.models.interface import Joint, SumModel

SCARA = {
    'kind': 'scara',
    'dynamic_model': 1,
    'joints': ['a', 'b', 'c'],
    'geometry': {'L1': 0.3, 'L2': 0.25},
}


def test_the_closed_form_part_and_its_place():
    plain, rubbing = build_model(SCARA), build_model({**SCARA, 'friction': ['viscous']})
    part, place = closed_form_part(plain)
    assert part is plain and place == slice(0, 8)
    part, place = closed_form_part(rubbing)
    assert [p.name for p in rubbing.parameters[place]] == [p.name for p in part.parameters]
    assert closed_form_part(SumModel(parts=rubbing.parts[::-1]))[1] == slice(3, 11)
    assert closed_form_part(FrictionModel(joints=[Joint('a')])) is None


def test_values_and_names_lead_back_to_each_other():
    model = build_model(SCARA)
    values = np.linspace(1.0, 2.0, len(model.parameters))
    np.testing.assert_allclose(model.values_of(model.compute_named(values)), values)
    with pytest.raises(ModelError, match='has 8 named parameters here, got 3 values'):
        model.values_of(np.ones(3))
