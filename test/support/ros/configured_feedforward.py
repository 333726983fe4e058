# SPDX-License-Identifier: Apache-2.0
"""Configures one feed-forward after the other in one process and prints what each one says.

Arguments: a JSON list of parameter sets. The problem of each node is a line of its own.
"""

import gc
import json
import sys

import rclpy

from robodyn_ros.errors import RobodynError
from robodyn_ros.nodes.feedforward.node import Feedforward


def problem(parameters) -> str:
    words = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
    rclpy.init(args=['test', '--ros-args', *words])
    node = Feedforward.__new__(Feedforward)
    try:
        node.__init__()
        return node._problem
    except RobodynError as error:
        return str(error)
    finally:
        node.destroy_node()
        rclpy.shutdown()


if __name__ == '__main__':
    for parameters in json.loads(sys.argv[1]):
        print('PROBLEM', problem(parameters))
        gc.collect()  # its DDS participant, see `ros_client.joined`
