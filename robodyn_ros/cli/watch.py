# SPDX-License-Identifier: Apache-2.0
"""`robodyn watch`: live page of the robot in a browser, read-only."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Serve a page with the state of joints, torque curves, collision monitor, '
        'feed-forward, diagnostics and events. It only reads: nothing can be commanded. End it '
        'with Ctrl-C.'
    )
    parser.add_argument(
        '--robot',
        metavar='NAME|FILE',
        help='robot of this package, or robot file: declares the unit of effort in joint_states, '
        'so that measured torque is shown without the feed-forward too',
    )
    parser.add_argument(
        '--port', type=int, default=8780, help='default: %(default)s; 0: a free one'
    )
    parser.add_argument(
        '--bind',
        default='127.0.0.1',
        metavar='ADDRESS',
        help='address to listen on; with 0.0.0.0 every computer of the network can read the page '
        '(default: %(default)s, this computer only)',
    )
    parser.add_argument('--namespace', default='', help='namespace of the nodes')


def run(arguments: argparse.Namespace) -> int:
    """Run the node until Ctrl-C."""
    from robodyn_ros.nodes.watch.node import main

    return main(node_arguments(arguments))


def node_arguments(arguments: argparse.Namespace) -> list[str]:
    """Return the command line of the node."""
    words = ['watch', '--ros-args', '-r', '__node:=watch']
    if arguments.namespace:
        words += ['-r', f'__ns:=/{arguments.namespace.strip("/")}']
    parameters = {'port': arguments.port, 'bind': f'"{arguments.bind}"'}
    if arguments.robot:
        parameters['robot'] = f'"{arguments.robot}"'
    for name, value in parameters.items():
        words += ['-p', f'{name}:={value}']
    return words
