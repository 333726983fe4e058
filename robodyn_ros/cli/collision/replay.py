# SPDX-License-Identifier: Apache-2.0
"""`robodyn replay`: run of the collision detector over an event of the black box."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robodyn_ros.cli.output import EXIT_NEGATIVE, add_json, out_folder, progress_bar, show
from robodyn_ros.cli.page import with_page
from robodyn_ros.control.collision.black_box.event_file import read_event
from robodyn_ros.control.collision.black_box.replay import replay
from robodyn_ros.errors import ConfigError
from robodyn_ros.report.event.curves import event_curves
from robodyn_ros.report.event.facts import event_facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of the sub-command."""
    parser.description = (
        'Run the collision detector over the samples of an event, and compare its '
        'levels, torque errors and thresholds with the recorded ones, bit by bit. The exit code '
        'is 1 at the first difference. A page for a browser, event.html, shows the course of the '
        'event, place and force of the contact, and the answers to the reactions.'
    )
    parser.add_argument('event', help='folder of an event')
    parser.add_argument(
        '--out', type=out_folder, metavar='DIR', help='folder for the page (default: the event)'
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay, write the page and print; 1 if a result differs.

    Events may lie where nothing can be written: without --out, the page is then left out.
    """
    event = read_event(arguments.event)
    with progress_bar():
        found = replay(event)
        facts = event_facts(event, found)
    text = table(facts)
    path = Path(arguments.event)
    given, folder = arguments.out, path if path.is_dir() else path.parent
    arguments.out = str(given or folder)
    try:
        facts = with_page(
            arguments, facts, text, name='event', title=event.reason, sentence=_verdict(facts),
            good=None if found is None else False, curves=event_curves(event),
        )  # fmt: skip
        text += f'\nwritten: {facts["files"]["report"]}'
    except ConfigError as error:
        if given:
            raise
        text += f'\nno page: {error}; give a folder with --out'
    show(arguments, facts, text)
    return 0 if found is None else EXIT_NEGATIVE


def table(facts: dict[str, Any]) -> str:
    """Return the facts as text."""
    lines = [
        f'{facts["reason"]}; model {facts["model_hash"][:12]}, {facts["calls"]} calls in '
        f'{facts["duration"]:.3f} s', '',
        f'{"joint":<20}{"largest torque error":>22}{"threshold":>12}{"at [s]":>10}  worst level',
    ]  # fmt: skip
    for joint in facts['joints']:
        lines.append(
            f'{joint["name"]:<20}{joint["torque_error"]:>22.4g}{joint["threshold"]:>12.4g}'
            f'{joint["time"]:>10.3f}  {joint["worst"]}'
        )
    lines += ['', f'contact: {facts["contact"]}', f'model health: {facts["model_health"]}']
    lines += [f'{row["time"]:>10.3f} s  {row["reaction"]}: {row["state"]}'
              for row in facts['reactions']]  # fmt: skip
    shown = facts['messages'][:20]
    lines += ['', *(f'{row["time"]:>10.3f} s  {row["text"]}' for row in shown)]
    if len(facts['messages']) > len(shown):
        lines.append(f'... and {len(facts["messages"]) - len(shown)} more (--json)')
    return '\n'.join([*lines, '', _verdict(facts)])


def _verdict(facts: dict[str, Any]) -> str:
    odd = facts['difference']
    if odd is None:
        return 'replay: all levels, torque errors and thresholds are equal in every bit'
    return (
        f'replay: {odd["quantity"]} of {odd["joint"]} differs first in call {odd["row"]} after '
        f'{odd["time"]:.3f} s: recorded {odd["recorded"]!r}, now {odd["computed"]!r}'
    )
