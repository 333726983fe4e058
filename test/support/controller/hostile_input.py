# SPDX-License-Identifier: Apache-2.0
"""Random input to a loaded controller, most of which no controller should accept."""

from __future__ import annotations

import numpy as np
from control_cell import JOINTS, PLUGIN
from control_checks import KINDS
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from robodyn_ros.srv import SetPayload
from std_srvs.srv import SetBool, Trigger

NUMBERS = (0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e200, 1e9)
FRAMES = ('', 'link5', 'link6', 'base_link', 'nowhere', 'x' * 10_000, '\u00e4\n%s%n', '\x01')
NAMES = (  # none is empty: that ends every process with rclcpp (Jazzy)
    'feedforward_scale', 'max_torque', 'max_torque_rate', 'joints', 'enabled', 'result_file',
    'update_rate', 'effort.unit', 'ramp_down_time', 'use_sim_time', 'nowhere', 'x' * 1000, '%s',
)  # fmt: skip
ARRAYS = ('max_torque', 'max_torque_rate', 'velocity_window', 'effort.command_per_torque')
SCALARS = (
    'ramp_up_time', 'ramp_down_time', 'reference_timeout', 'state_timeout', 'friction_fade_time',
    'max_payload', 'feedforward_scale', 'torque_state_rate',
)  # fmt: skip
TEXTS = ('', 'SI', 'permille', '/etc/passwd', 'x' * 10_000)


class HostileInput:
    """A reproducible stream of it."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def chosen(self, items):
        return items[self.random.integers(len(items))]

    def number(self) -> float:
        """Half of them are ordinary."""
        ordinary = self.random.random() < 0.5
        return float(self.random.uniform(-2.0, 2.0)) if ordinary else self.chosen(NUMBERS)

    def numbers(self, count: int) -> list[float]:
        """Wrong in number, or with some that are none, or ordinary."""
        if self.random.random() < 0.2:
            count = self.chosen((0, 1, count - 1, count + 1, 1000))
        if self.random.random() < 0.5:
            return self.random.uniform(-2.0, 2.0, count).tolist()
        return [self.number() for _ in range(count)]

    def row(self) -> list[float]:
        """Mostly ordinary."""
        ordinary = self.random.random() < 0.7
        return [self.random.uniform(-2.0, 2.0) if ordinary else self.number() for _ in JOINTS]

    def value(self):
        """Return a parameter value of any type."""
        integer = int(self.random.integers(-(2**62), 2**62))
        return self.chosen((self.number(), self.numbers(6), self.chosen(TEXTS), True, integer))

    def request(self):
        """Return type, name and request of a call to the plugin."""
        kind = self.random.integers(6)
        if kind == 0:
            return Trigger, 'reset', Trigger.Request()
        if kind == 1:
            return SetBool, 'enable', SetBool.Request(data=bool(self.random.integers(4)))
        if kind == 2:
            return SetPayload, 'set_payload', self.payload()
        if kind == 3:
            mass = float(self.random.uniform(0.0, 5.0))
            return SetPayload, 'set_payload', SetPayload.Request(mass=mass)
        name = 'feedforward_scale' if kind == 4 else self.chosen(NAMES)
        row = Parameter(name, value=self.value()).to_parameter_msg()
        return SetParameters, 'set_parameters', SetParameters.Request(parameters=[row])

    def payload(self) -> SetPayload.Request:
        return SetPayload.Request(
            mass=self.number(), frame=self.chosen(FRAMES), center_of_mass=self.numbers(3),
            inertia=self.numbers(6),
        )  # fmt: skip

    def references(self) -> dict[str, list[float]]:
        """Return one of them, or all, also jumps far away.

        Of the right number and finite: a forward_command_controller drops others, or ends itself.
        """
        every = {
            kind: [each if np.isfinite(each) else 1e308 for each in self.row()] for kind in KINDS
        }
        return every if self.random.random() < 0.5 else dict([self.chosen([*every.items()])])

    def configuration(self) -> dict[str, object]:
        """Return some parameters to load a controller with, most of the right type."""
        result = {}
        for _ in range(self.random.integers(1, 4)):
            name = self.chosen((*ARRAYS, *SCALARS))
            size = float(10.0 ** self.random.uniform(-3.0, 4.0))
            right = [size] * self.chosen((1, 6)) if name in ARRAYS else size
            wrong = self.chosen((self.value(), self.number(), self.numbers(6)))
            result[name] = right if self.random.random() < 0.7 else wrong
        return result


def plugin_request(cell, hostile: HostileInput):
    """Send a random request; return its future."""
    kind, name, request = hostile.request()
    if (kind, name) not in cell.clients:
        client = cell.node.create_client(kind, f'{PLUGIN}/{name}')
        cell.wait(client.service_is_ready, name)
        cell.clients[kind, name] = client
    return cell.clients[kind, name].call_async(request)
