# SPDX-License-Identifier: Apache-2.0
"""`python -m bench.first_day [KIND ...]`: the documented first day on fake drivers.

From the driver's topics alone to a validated model, monitoring and, where the driver takes it,
additive torque: about two minutes for each kind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bench.first_day.day import Outcome, run
from bench.first_day.kinds import KINDS
from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.errors import RobodynError

WORST = {'validation': 0.2, 'latency': 0.1, 'cut': 0.1}
"""Limits: relative residual, time to the alarm in [s], and least cut of the tracking error:
the drives of the simulated cell leave less than 0.1 mrad without torque, too."""


def problems(outcome: Outcome, additive: bool) -> list[str]:
    """Return what does not hold."""
    found = []
    if not outcome.validation <= WORST['validation']:
        found.append('the model is not valid')
    if outcome.false_alarms:
        found.append('false alarms')
    if not outcome.latency <= WORST['latency']:
        found.append('the alarm is late')
    if additive and not outcome.torque <= (1.0 - WORST['cut']) * outcome.without:
        found.append('the torque does not help')
    return found


def main() -> int:
    """Run; return 1 if something did not hold."""
    parser = argparse.ArgumentParser(prog='python -m bench.first_day', description=__doc__)
    parser.add_argument('kinds', nargs='*', metavar='KIND', help=f'of {", ".join(KINDS)}')
    parser.add_argument(
        '--rehearse', action='store_true', help='run the motion at 10 and 50 %% of its speed first'
    )
    parser.add_argument('--folder', type=Path, help='for logs and results; else temporary')
    given = parser.parse_args()
    os.environ.update(describe_domain(79))
    failed = False
    with tempfile.TemporaryDirectory(prefix='first_day_') as temporary:
        for name in given.kinds or KINDS:
            folder = (given.folder or Path(temporary)) / name
            folder.mkdir(parents=True, exist_ok=True)
            try:
                outcome = run(KINDS[name], folder, rehearse=given.rehearse)
                text = '; '.join(problems(outcome, KINDS[name].additive))
            except RobodynError as error:
                outcome, text = Outcome(), str(error)
            failed = failed or bool(text)
            print(f'{name}: {vars(outcome)} {text or "all holds"}', flush=True)
    return int(failed)


if __name__ == '__main__':
    sys.exit(main())
