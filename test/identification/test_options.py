# SPDX-License-Identifier: Apache-2.0
import pytest

from robodyn_ros.errors import IdentificationError
from robodyn_ros.identification.options import (
    CONSISTENT,
    DERIVATIVES,
    METHODS,
    PRIORS,
    IdentifyOptions,
)


def test_defaults_and_every_choice_can_be_built():
    assert IdentifyOptions().estimator == 'wls'
    choices = {
        'estimator': METHODS,
        'derivatives': DERIVATIVES,
        'consistent': CONSISTENT,
        'prior': PRIORS,
    }
    for name, values in choices.items():
        for value in values:
            assert getattr(IdentifyOptions(**{name: value}), name) == value
        with pytest.raises(IdentificationError, match=f"'other', there are {values[0]}"):
            IdentifyOptions(**{name: 'other'})


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'filter_cutoff': 0.0}, 'cut-off must be positive, got 0 Hz'),
        ({'filter_cutoff': float('nan')}, 'cut-off must be positive'),
        ({'velocity_threshold': -0.1}, 'threshold must be positive, got -0.1'),
        ({'velocity_threshold': [0.1, 0.0]}, 'threshold must be positive, got 0'),
        ({'upper_velocity_threshold': float('inf')}, 'threshold must be positive, got inf'),
        ({'velocity_share': 1.0}, 'must be a share from 0 to 1, got 1'),
        ({'max_relative_error': 0.0}, 'relative error must be positive, got 0'),
        ({'max_relative_error': float('inf')}, 'relative error must be positive, got inf'),
        ({'payload_gain_uncertainty': 1.0}, 'must be a share from 0 to 1, got 1'),
    ],
)
def test_values_out_of_range_are_refused(options, message):
    with pytest.raises(IdentificationError, match=message):
        IdentifyOptions(**options)
