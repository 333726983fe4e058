# SPDX-License-Identifier: Apache-2.0
import argparse

from robodyn_ros.cli.identify_options import add_options, read_options
from robodyn_ros.identification.options import OPTIONS, IdentifyOptions


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    add_options(parser.add_argument_group('fit'))
    return read_options(parser.parse_args(arguments))


def test_nothing_is_given_by_default():
    assert parsed() == {}


def test_every_flag_sets_its_field():
    command = [
        '--estimator', 'robust', '--loss', 'huber', '--no-time-offset', '--residual', 'gmr',
        '--no-consistent', '--prior', 'none', '--filter-cutoff', '12', '--decimation', '3',
        '--velocity-threshold', '0.1', '0.2', '--upper-velocity-threshold', '2',
        '--computed-derivatives', '--max-relative-error', '0.3',
        '--success-rule', 'softmc', '--payload-gain-uncertainty', '0.02', '--no-signals',
    ]  # fmt: skip
    expected = {
        'estimator': 'robust', 'loss': 'huber', 'time_offset': 'no', 'gear_torque': 'gmr',
        'consistent': 'no', 'prior': 'none', 'filter_cutoff': 12.0, 'decimation': 3,
        'velocity_threshold': [0.1, 0.2], 'upper_velocity_threshold': [2.0],
        'derivatives': 'computed', 'max_relative_error': 0.3,
        'success_rule': 'softmc', 'payload_gain_uncertainty': 0.02, 'keep_signals': False,
    }  # fmt: skip
    found = parsed(*command)
    assert found == expected and set(found) == set(OPTIONS)
    assert IdentifyOptions(**found).loss == 'huber'
    assert parsed('--consistent') == {'consistent': 'yes'}
