"""Configures one feed-forward after the other in one process and prints what each one says.

Arguments: a JSON list of parameter sets. The problem of each node is a line of its own.
"""

import json
import sys

import rclpy

from robodyn_ros.errors import RobodynError
from robodyn_ros.nodes.feedforward import Feedforward


def problem(parameters) -> str:
    words = [word for name, value in parameters.items() for word in ('-p', f'{name}:={value}')]
    rclpy.init(args=['test', '--ros-args', *words])
    try:
        node = Feedforward()
        node.destroy_node()
        return node._problem
    except RobodynError as error:
        return str(error)
    finally:
        rclpy.shutdown()


if __name__ == '__main__':
    for parameters in json.loads(sys.argv[1]):
        print('PROBLEM', problem(parameters))
