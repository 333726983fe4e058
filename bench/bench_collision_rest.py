# SPDX-License-Identifier: Apache-2.0
"""Pushes at standstill: the map, and with the change of torque while the reference rests.

`python bench/bench_collision_rest.py [--robot NAME] [--hours H] [--contacts N] [--seed S]`

The change is a proposal (`collision/rest.py`) and not part of the monitor. Both are compared on
robots as of `bench_collision.py`, at 1 kHz.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np
from bench_collision import STEEP, identified, in_turn, simulated
from collision.contacts import KINDS
from collision.lanes import sessions
from collision.methods import Mapped, ratio
from collision.plant import START, Measured
from collision.rest import AtRest
from collision.robot import ROBOTS
from collision.roc import Curve

from robodyn_ros.analysis.thresholds.session import Session
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.models.interface import Array

PERIOD = 0.001


def references(measured: Measured) -> list[Array]:
    """Return the reference of each robot."""
    return [measured.reference[:, k] for k in range(measured.reference.shape[1])]


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robot', choices=list(ROBOTS), default='industrial')
    parser.add_argument('--hours', type=float, default=1.0, help='healthy motion')
    parser.add_argument('--contacts', type=int, default=400, help='about so many')
    parser.add_argument('--seed', type=int, default=1)
    given = parser.parse_args()
    robot, random = ROBOTS[given.robot], np.random.default_rng([13, given.seed])
    torque = identified(robot, 250.0, random)
    settings = CollisionSettings(torque.joints, 1.0, period=PERIOD)
    learning, _ = simulated(robot, 12, 300.0, 1000.0, random)
    signed = sessions(learning, torque, settings, np.float32, signed=True)
    rest = AtRest.learned(signed, references(learning))
    mapped = Mapped.learned([positive(each) for each in signed], torque.friction_step, 2)
    print(f'  thresholds at rest [Nm]: {mapped.map.collision[:, -1].round(1)}')
    print(f'  thresholds of the change [Nm]: {rest.threshold.round(2)}', flush=True)
    found = {'map': Curve(PERIOD), 'map and change at rest': Curve(PERIOD)}

    def ratios(each: Session, reference: Array) -> tuple[Array, Array]:
        own = ratio(positive(each), mapped.threshold(each), mapped.debounce)
        return own, np.maximum(own, rest.ratio(each, reference, mapped.debounce))

    for seconds in in_turn(given.hours * 3600.0):
        healthy, _ = simulated(robot, 120, START + seconds, 1000.0, random)
        parts = sessions(healthy, torque, settings, signed=True)
        for pair in zip(parts, references(healthy), strict=True):
            for curve, series in zip(found.values(), ratios(*pair), strict=True):
                curve.add_healthy(series)
    seconds = 8.0 + given.contacts * 7.5 / 120
    touched, contacts = simulated(robot, 120, seconds, 1000.0, random, True)
    assert contacts is not None
    parts = sessions(touched, torque, settings, signed=True)
    series_of = [ratios(*pair) for pair in zip(parts, references(touched), strict=True)]
    happened = np.flatnonzero(contacts.onset >= 0)
    for k in happened:
        onset = int(contacts.onset[k] - START / PERIOD)
        for curve, series in zip(found.values(), series_of[contacts.all[k].robot], strict=True):
            curve.add_contact(series, onset)
    kinds = np.array([contacts.all[k].kind for k in happened])
    steep = contacts.steepest[happened] >= STEEP
    for name, curve in found.items():
        for title, scale in (('no false alarm', curve.scale(0.0)), ('as learned', 1.0)):
            alarms, share, _ = curve.at(scale, steep)
            print(f'  {name}, {title} ({alarms:.1f}/h in {curve.hours:.2f} h): '
                  f'{100 * share:.1f} % of {steep.sum()}; ' + '; '.join(
                      f'{kind} {100 * curve.at(scale, steep & (kinds == kind))[1]:.0f} % of '
                      f'{(steep & (kinds == kind)).sum()}' for kind in KINDS))  # fmt: skip
    return 0


def positive(signed: Session) -> Session:
    """Return the session with absolute torque errors."""
    return replace(signed, residual=np.abs(signed.residual))


if __name__ == '__main__':
    sys.exit(main())
