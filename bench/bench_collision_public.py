# SPDX-License-Identifier: Apache-2.0
"""Collision detection on recordings of a real robot with labelled contacts.

A folder has `result/result.yaml` (`robodyn identify` of the healthy files), `healthy_*.csv`
(no contact) and `touched_*.csv` with a column `label` (not 0: contact) and, if the reference is
known, columns `reference_JOINT`. Thresholds are learned from the healthy files as by `robodyn
thresholds` with its defaults; false alarms and contacts are counted in the touched ones. Each
method's thresholds are scaled to each rate of false alarms, as in `bench_collision.py`.

`python bench/bench_collision_public.py FOLDER`. Nothing is simulated; no data are in the project.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench')]

import numpy as np  # noqa: E402
from collision.methods import Constant, Largest, Method, Ramps  # noqa: E402
from collision.roc import Curve  # noqa: E402

from robodyn_ros.analysis.thresholds.learn import Learning  # noqa: E402
from robodyn_ros.analysis.thresholds.session import Mask, Session, session_of  # noqa: E402
from robodyn_ros.cli.collision import thresholds  # noqa: E402
from robodyn_ros.cli.collision.healthy import healthy_sessions  # noqa: E402
from robodyn_ros.cli.collision.model import load  # noqa: E402
from robodyn_ros.cli.effort import read_in_si_units  # noqa: E402
from robodyn_ros.control.collision.ramp_law import ErrorSamples  # noqa: E402
from robodyn_ros.models.interface import Array  # noqa: E402

RATES = (0.0, 10.0, 30.0, 100.0)
"""False alarms per hour of the table."""
APART, BEFORE, AFTER = 1.0, 0.5, 1.0
"""Labels less than `APART` s apart are one contact; `BEFORE` and `AFTER` one is not healthy."""


@dataclass(frozen=True)
class Touched:
    """A recording with contacts.

    :param label: contact, shape (N,)
    :param tracking: its position errors as a session; None: the reference is unknown
    """

    session: Session
    label: Mask
    tracking: Session | None

    def near(self, before: float, after: float) -> Mask:
        """Return the samples from `before` s before to `after` s after a label, (N,)."""
        time = self.session.time
        ends = np.concatenate([[-np.inf], time[self.label], [np.inf]])
        last = ends[np.searchsorted(ends, time, side='right') - 1]
        following = ends[np.searchsorted(ends, time, side='left')]
        return np.asarray((following - time <= before) | (time - last <= after))

    def onsets(self) -> Array:
        """Return the first samples of the contacts with a settled detector around them."""
        rows = np.flatnonzero(self.label)
        time, used = self.session.time, self.session.used
        first = rows[np.diff(time[rows], prepend=-np.inf) >= APART]
        around = [(time > time[k] - 1.0) & (time < time[k] + 0.5) for k in first]
        return first[[bool(used[each].all()) for each in around]]

    def healthy(self) -> list[slice]:
        """Return the stretches without contact."""
        rows = self.session.used & ~self.near(BEFORE, AFTER)
        edges = np.flatnonzero(np.diff(rows, prepend=False, append=False)).reshape(-1, 2)
        return [slice(*each) for each in edges]


def position_errors(path: Path, used: Mask, joints: tuple[str, ...]) -> Session | None:
    """Return a session whose residual is the position error; None: the reference is unknown."""
    table = np.genfromtxt(path, delimiter=',', names=True)
    if f'reference_{joints[0]}' not in table.dtype.names:
        return None
    pairs = [(table[f'reference_{each}'], table[f'q_{each}']) for each in joints]
    errors = np.abs(np.array([wanted - found for wanted, found in pairs])).T
    samples = ErrorSamples(table['time'], *[errors] * 4, rests=~used)
    return Session('', samples, used, used, ~used)


def judge(folder: Path) -> dict[str, Curve]:
    """Learn, and return the curves of the methods."""
    parser = argparse.ArgumentParser()
    thresholds.add_arguments(parser)
    healthy = sorted(map(str, folder.glob('healthy_*.csv')))
    model = str(folder / 'result' / 'result.yaml')
    given = parser.parse_args([*healthy, '--model', model])
    identified, torque = load(given)
    settings, learning, friction = healthy_sessions(given, identified, torque)
    print(f'  learned from {60 * sum(s.hours for s in learning):.2f} min')
    methods: dict[str, Method] = {
        'ramps': Ramps.of(learning, settings.period, friction, Learning()),
        'constant': Constant.learned(learning, friction, settings),
    }
    tracked = [
        position_errors(Path(path), each.used, torque.joints)
        for path, each in zip(healthy, learning, strict=True)
    ]
    follows = [each for each in tracked if each is not None]
    curves = {name: Curve(settings.period) for name in methods}
    for path in sorted(folder.glob('touched_*.csv')):
        recording = read_in_si_units(given, str(path), identified.joints, identified.model)
        session = session_of(recording, torque, settings)
        label = np.genfromtxt(path, delimiter=',', names=True)['label'] > 0
        own = Touched(session, label, position_errors(path, session.used, torque.joints))
        for name, method in methods.items():
            add(curves[name], own, method.ratio(session))
        if own.tracking is not None and follows:
            most = Largest.learned(follows)
            curve = curves.setdefault('position error', Curve(settings.period))
            add(curve, own, most.ratio(own.tracking))
    return curves


def add(curve: Curve, touched: Touched, ratios: Array) -> None:
    """Add a recording to the curve of a method."""
    for rows in touched.healthy():
        curve.add_healthy(ratios[rows])
    for onset in touched.onsets():
        curve.add_contact(ratios, int(onset))


def table(curves: dict[str, Curve]) -> None:
    """Print the figures."""
    first = next(iter(curves.values()))
    chosen = np.ones(len(first.found), dtype=bool)
    print(f'  {60 * first.hours:.2f} min without contact, {len(chosen)} contacts')
    print('  found within 100 ms [%] / within 500 ms [%] / median delay [ms]')
    rates = ''.join(f'{rate:>18g}' for rate in RATES)
    print(f'  {"false alarms per hour":22}{rates}   as learned')
    for name, curve in curves.items():
        scales = [curve.scale(rate) for rate in RATES] + [1.0]
        cells = []
        for scale in scales:
            alarms, soon, delay = curve.at(scale, chosen)
            late = np.isfinite(curve.delays(scale)).mean()
            cells.append(f'{100 * soon:6.1f}/{100 * late:5.1f}/{1e3 * delay:5.0f}')
        print(f'  {name:22}' + ''.join(cells) + f' at {alarms:.1f}/h')


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, nargs='*')
    for folder in parser.parse_args().folder:
        print(folder)
        table(judge(folder))
    return 0


if __name__ == '__main__':
    sys.exit(main())
