# SPDX-License-Identifier: Apache-2.0
"""Verdicts and named causes on real recordings: clean, and with every flaw planted.

A flaw counts where it changes the model's torque on the clean validation by more than 10 %.
Wanted: at most 2 % of these are called usable for a joint that they spoil, at least 85 % have the
right cause first, at most 3 % a wrong one, and clean recordings have none:
`python bench/bench_verdict.py [--seeds 0 1] [--only WORD] [--robots NAME ...] [--out FILE]`.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from bench.verdict.corpus import Split, splits  # noqa: E402
from bench.verdict.flaws import FLAWS, Flaw, moving  # noqa: E402
from robodyn_ros.errors import RobodynError  # noqa: E402
from robodyn_ros.identification.pipeline import identify  # noqa: E402
from robodyn_ros.identification.result.result import IdentificationResult  # noqa: E402
from robodyn_ros.models.interface import Array, DynamicModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

CAUSES = {cause for flaw in FLAWS for cause in flaw.causes} | {'effort_without_gravity'}
CHANGED = 0.1
"""Share of a joint's torque by which a flaw changes the model for it to count."""
Row = dict[str, Any]


def without_gravity(clean: IdentificationResult) -> Flaw:
    """Return the flaw of a driver that subtracts gravity, by the model of the clean recording."""

    def plant(recording: Recording, random: np.random.Generator) -> Recording:
        still = np.zeros_like(recording.position)
        rows = recording.select(clean.model.joint_names)
        gravity = clean.model.torque(rows.position, still, still, clean.values)
        return replace(rows, torque=rows.torque - gravity)

    return Flaw('torque without gravity', plant, ('effort_without_gravity',), 2)


def cause(result: IdentificationResult) -> str:
    """Return the code of the first finding that names a cause; '' if none does."""
    named = [
        item.code
        for item in result.findings
        if item.code in CAUSES and (item.severity != 'info' or item.code == 'time_offset')
    ]
    return named[0] if named else ''


def usable(result: IdentificationResult) -> list[str]:
    """Return the verdict of each joint for feed-forward."""
    if hasattr(result, 'verdict'):
        return [joint.feedforward.word for joint in result.verdict.joints]
    return ['usable' if result.success else 'not usable'] * len(result.model.joints)


def spoiled(clean: Array, result: IdentificationResult, test: Recording) -> list[int]:
    """Return the joints whose torque on the clean validation a flaw changed by more than 10 %."""
    changed = predicted(result, test) - clean
    size = np.sqrt(np.mean(clean**2, axis=0))
    share = np.sqrt(np.mean(changed**2, axis=0)) / np.maximum(size, 0.02 * size.max())
    return [k for k in moving(test).tolist() if not share[k] <= CHANGED]


def predicted(result: IdentificationResult, recording: Recording) -> Array:
    """Return the torque of a result on a recording's motion, (N, n), velocities by differences."""
    q = recording.position
    qd = np.gradient(q, recording.time, axis=0)
    step = max(1, len(q) // 2000)
    qdd = np.gradient(qd, recording.time, axis=0)
    return result.model.torque(q[::step], qd[::step], qdd[::step], result.values)


def run(split: Split, seeds: list[int], only: str) -> list[Row]:
    """Identify a split clean and with every flaw; one row each."""
    model = split.model()
    fit, test = split.read(model)
    rows = [_row(split, 'clean', 0, identify(fit, model, validation=test), [])]
    fit, test = split.corrected(fit), split.corrected(test)
    clean = identify(fit, model, validation=test)
    test = test.select(model.joint_names)
    truth = predicted(clean, test)
    for flaw in (*FLAWS, without_gravity(clean)):
        if only not in flaw.name or len(moving(fit)) < flaw.joints:
            continue
        for seed in seeds:
            rows.append(_flawed(split, flaw, seed, model, (fit, test), truth))
    return rows


def _flawed(
    split: Split, flaw: Flaw, seed: int, model: DynamicModel, pair: Any, truth: Array
) -> Row:
    def planted(recording: Recording) -> Recording:
        draw = np.random.default_rng([seed, zlib.crc32(f'{split.name} {flaw.name}'.encode())])
        return flaw.plant(recording, draw)

    fit, test = pair
    try:
        validation = planted(test) if flaw.everywhere else test
        result = identify(planted(fit), model, validation=validation)
    except RobodynError as error:
        return _row(split, flaw.name, seed, None, list(flaw.causes)) | {'error': str(error)}
    row = _row(split, flaw.name, seed, result, list(flaw.causes))
    if result.has_estimate:
        row['spoiled'] = spoiled(truth, result, test)
    return row


def _row(
    split: Split, flaw: str, seed: int, result: IdentificationResult | None, causes: list[str]
) -> Row:
    row: Row = {'robot': split.name, 'flaw': flaw, 'seed': seed, 'causes': causes, 'spoiled': []}
    if result is None:
        return row | {'verdict': [], 'cause': 'refused', 'findings': []}
    report = result.validation or result.identification
    error = report.rms_error / np.maximum(report.rms_torque, 1e-12)
    return row | {
        'verdict': usable(result),
        'unusable': list(split.unusable),
        'cause': cause(result),
        'error': [round(float(each), 3) for each in error],
        'findings': [f'{item.severity} {item.code} {item.joint}' for item in result.findings],
    }


def table(rows: list[Row]) -> str:
    """Return one line per flaw, and the totals."""
    lines = [f'{"flaw":<32} runs  count  usable  right  wrong']
    total = np.zeros(5, dtype=int)
    for flaw in dict.fromkeys(row['flaw'] for row in rows):
        mine = [row for row in rows if row['flaw'] == flaw]
        if flaw == 'clean':
            continue
        counted = [row for row in mine if row['spoiled'] or row['cause'] == 'refused']
        bad = sum(any(row['verdict'][k] == 'usable' for k in row['spoiled']) for row in counted)
        right = sum(row['cause'] in (*row['causes'], 'refused') for row in counted)
        wrong = sum(bool(row['cause']) for row in counted) - right
        numbers = np.array([len(mine), len(counted), bad, right, wrong])
        total += numbers
        lines.append(f'{flaw:<32} {" ".join(f"{each:6d}" for each in numbers)}')
    lines.append(f'{"all":<32} {" ".join(f"{each:6d}" for each in total)}')
    share = 100.0 * total[2:] / max(int(total[1]), 1)
    lines.append(
        'of those that count: usable {:.1f} %, right {:.1f} %, wrong {:.1f} %'.format(*share)
    )
    for row in rows:
        if row['flaw'] == 'clean':
            words = ', '.join(
                f'{word} {error:.1%}'
                for word, error in zip(row['verdict'], row['error'], strict=True)
            )
            lines.append(f'{row["robot"]:<10} clean: {row["cause"] or "no cause"}; {words}')
    return '\n'.join(lines)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, nargs='+', default=[0, 1])
    parser.add_argument('--only', default='', help='flaws whose names contain this')
    parser.add_argument('--robots', nargs='+', help='names of machines')
    parser.add_argument('--out', type=Path, help='write the rows as JSON lines')
    given = parser.parse_args()
    chosen = [each for each in splits() if given.robots is None or each.name in given.robots]
    rows: list[Row] = []
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(_named, each.name, given.seeds, given.only) for each in chosen]
        for job in jobs:
            rows += job.result()
    if given.out is not None:
        given.out.write_text('\n'.join(map(json.dumps, rows)) + '\n', encoding='utf-8')
    print(table(rows))
    return 0


def _named(name: str, seeds: list[int], only: str) -> list[Row]:
    return run(next(each for each in splits() if each.name == name), seeds, only)


if __name__ == '__main__':
    sys.exit(main())
