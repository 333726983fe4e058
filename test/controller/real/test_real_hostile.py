# SPDX-License-Identifier: Apache-2.0
"""Hostile parameters, requests and references to the plugin in a running controller manager.

The same with the address and undefined-behaviour sanitizers, where they are built:
ROBODYN_SANITIZERS.
"""

import subprocess
from collections import Counter

import numpy as np
import pytest
from control_cell import PLUGIN, ControlCell, write_result
from control_checks import (
    BOTH,
    Forwarded,
    check_hardware_steps,
    check_steps,
    diagnostics,
    make_active,
)
from controller_build import law_check, prefix
from hostile_input import HostileInput, plugin_request
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from robodyn_ros.srv import SetPayload
from std_msgs.msg import Float64MultiArray

from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.models.payload import payload_of

pytestmark = pytest.mark.ros
STILL, POSTURE = [0.0] * 6, [0.1, 0.5, -0.4, 0.2, 0.3, 0.1]
GOOD = {'position': POSTURE, 'velocity': STILL, 'acceleration': STILL}
KINDS = {
    'plain': 'FeedforwardTorqueController',
    'sanitized': 'SanitizedFeedforwardTorqueController',
}


def sanitizers() -> dict[str, str]:
    """Return variables of a process with a sanitized plugin."""
    if not (prefix() / 'lib/librobodyn_controller_sanitized.so').exists():
        pytest.skip('the controller was built without ROBODYN_SANITIZERS')
    libraries = [
        subprocess.run(
            ['gcc', f'-print-file-name={name}'], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ('libasan.so', 'libstdc++.so.6')  # Python loads the latter too late
    ]
    return {
        'LD_PRELOAD': ' '.join(libraries),
        # What others do: leaks of ROS and Python, a mismatch in rcl.
        'ASAN_OPTIONS': 'detect_leaks=0:new_delete_type_mismatch=0:abort_on_error=1',
        'UBSAN_OPTIONS': 'print_stacktrace=1',
    }


@pytest.fixture(scope='module', params=KINDS)
def cell(tmp_path_factory, request):
    law_check()  # skips where the plugin was not built
    folder = tmp_path_factory.mktemp('hostile')
    model, values, file = write_result(folder)
    options = {
        'preload': sanitizers() if request.param == 'sanitized' else None,
        PLUGIN: {'type': f'robodyn_ros/{KINDS[request.param]}'},
    }
    with ControlCell(folder, file, number=48, enforce_command_limits=False, **options) as cell:
        cell.model, cell.values = model, values
        cell.clients, cell.kind = {}, f'robodyn_ros/{KINDS[request.param]}'
        yield cell
        check_alive(cell)


def check_alive(cell):
    for words in ('process has died', 'AddressSanitizer', 'runtime error:'):
        assert words not in cell.log(), cell.log()[-20_000:]


def recover(cell):
    """Reset and enable the plugin, with no payload and feedforward_scale 1."""
    cell.reset()
    assert cell.call(SetPayload, f'{PLUGIN}/set_payload', SetPayload.Request()).success
    row = Parameter('feedforward_scale', value=1.0).to_parameter_msg()
    request = SetParameters.Request(parameters=[row])
    assert cell.call(SetParameters, f'{PLUGIN}/set_parameters', request).results[0].successful
    assert cell.enable(True).success
    cell.go_on(0.5)
    assert not cell.last.fault and cell.last.enabled


@pytest.fixture
def forwarded(cell):
    """References of a test in place of those of the JTC, with torque."""
    make_active(cell)
    forwarded = Forwarded(cell)
    forwarded.take_over()
    forwarded.send(**GOOD)
    recover(cell)
    yield forwarded
    on = [name for name in (*forwarded.names, PLUGIN) if cell.state_of(name) == 'active']
    cell.switch(deactivate=on)


def test_torque_keeps_limit_and_rate_through_thousands_of_hostile_inputs(cell, forwarded):
    hostile = HostileInput(20261125)
    for count in range(1000):
        futures = [plugin_request(cell, hostile) for _ in range(4)]
        references = hostile.references()
        for kind, publisher in zip(GOOD, forwarded.publishers, strict=True):
            if kind in references:
                publisher.publish(Float64MultiArray(data=references[kind]))
        for future in futures:
            cell.wait(future.done, 'an answer')
        if count % 20 == 0:
            forwarded.send(**GOOD)
            cell.reset()
            cell.enable(True)
    check_alive(cell)
    check_steps(cell)
    check_hardware_steps(cell)
    applied = np.array([row.applied for row in cell.cycles.values()])
    share = np.mean(np.abs(applied).max(axis=1) > 1.0)
    faults = Counter(row.fault for row in cell.cycles.values())
    print(f'{len(applied)} cycles, {100 * share:.0f} % with torque, {dict(faults)}')
    assert share > 0.1 and np.abs(applied).max() > 50.0
    assert faults[''] > 0 and faults['the reference is not finite'] > 0
    forwarded.send(**GOOD)
    recover(cell)


def test_a_reference_of_another_size_ends_its_sender_and_the_torque_by_a_ramp(cell, forwarded):
    cell.clear()
    forwarded.publishers[0].publish(Float64MultiArray(data=[*POSTURE, 0.0]))
    cell.wait(lambda: cell.state_of(PLUGIN) == 'inactive', 'the end of the ramp')
    cell.come_to_zero()
    check_steps(cell)
    check_hardware_steps(cell)


def test_hostile_parameters_at_loading_are_refused_or_harmless(cell):
    hostile, counts = HostileInput(20261127), Counter()
    make_active(cell)
    for count in range(60):
        name = f'hostile_{count}'
        loaded = cell.load(name, hostile.configuration(), cell.kind)
        counts['loaded'] += loaded
        if loaded:
            counts['configured'] += cell.configure(name)
            cell.unload(name)
    print(dict(counts))
    assert 0 < counts['configured'] < counts['loaded'] < 60
    check_alive(cell)
    recover(cell)


def test_a_payload_sent_to_an_inactive_plugin_is_replaced_by_a_later_one(cell):
    make_active(cell)
    cell.switch(deactivate=BOTH)
    for mass in (4.0, 1.0, 2.0):
        answer = cell.call(SetPayload, f'{PLUGIN}/set_payload', SetPayload.Request(mass=mass))
        assert answer.success, answer.message
    cell.switch(activate=BOTH)
    cell.go_on(0.5)
    cell.clear()
    assert float(diagnostics(cell)['payload_mass']) == 2.0
    cell.wait(lambda: cell.references, 'references')
    q, still = cell.references[max(cell.references)][:1], np.zeros((1, 6))
    law = ModelTorque(cell.model, cell.values + payload_of(cell.model, 2.0).added)
    held = law.body(q, still, still)[0] + law.friction(still)[0]
    np.testing.assert_allclose(cell.last.applied, held, rtol=0.0, atol=1e-9)
    recover(cell)
