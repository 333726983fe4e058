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
from robodyn_ros.identification.fit.torque_errors import (  # noqa: E402
    reference_torque,
    relative_error,
)
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


def named(result: IdentificationResult) -> list[str]:
    """Return code and joint of the findings that name a cause, in their order."""
    return [
        f'{item.code} {item.joint}'.strip()
        for item in result.findings
        if item.code in CAUSES and (item.severity != 'info' or item.code == 'time_offset')
    ]


def cause(row: Row, clean: Row) -> str:
    """Return the first cause that the clean recording of the machine does not have; '' for none.

    A time offset that was corrected is a cause only where it was planted.
    """
    fresh = [each for each in row['named'] if each not in clean['named']]
    codes = [each.partition(' ')[0] for each in fresh]
    return next((each for each in codes if each != 'time_offset' or each in row['causes']), '')


def usable(result: IdentificationResult) -> list[str]:
    """Return the verdict of each joint for feed-forward."""
    if hasattr(result, 'verdict'):
        return [joint.feedforward.word for joint in result.verdict.joints]
    return ['usable' if result.success else 'not usable'] * len(result.model.joints)


def spoiled(
    clean: IdentificationResult, truth: Array, result: IdentificationResult, test: Recording
) -> list[int]:
    """Return the joints whose torque on the clean validation a flaw changed by more than 10 %.

    It is relative to the torque that the errors of the joint are relative to.
    """
    changed = np.sqrt(np.mean((predicted(result, test) - truth) ** 2, axis=0))
    share = changed / reference_torque(clean.validation or clean.identification, clean.model)
    return [k for k in moving(test).tolist() if not share[k] <= CHANGED]


def visible(clean: IdentificationResult, result: IdentificationResult) -> bool:
    """Return True if the flaw leaves a joint more of its torque unexplained than the clean data.

    Otherwise the model explains the flawed recording as well: it is another convention, which no
    method can see without a reference from outside, such as the masses of the URDF.
    """
    before, after = (
        np.maximum(
            relative_error(each.identification, each.model),
            relative_error(each.validation or each.identification, each.model),
        )
        for each in (clean, result)
    )
    return bool((after > 1.25 * before + 0.01).any())


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
    rows = [_row(split, 'published', 0, identify(fit, model, validation=test), [])]
    fit, test = split.corrected(fit), split.corrected(test)
    clean = identify(fit, model, validation=test)
    test = test.select(model.joint_names)
    truth = predicted(clean, test)
    rows.append(_row(split, 'clean', 0, clean, []))
    for flaw in (*FLAWS, without_gravity(clean)):
        if only not in flaw.name or len(moving(fit)) < flaw.joints:
            continue
        for seed in seeds:
            rows.append(_flawed(split, flaw, seed, model, (fit, test), (clean, truth)))
    for row in rows:
        row['cause'] = cause(row, rows[1])
    return rows


def _flawed(
    split: Split, flaw: Flaw, seed: int, model: DynamicModel, pair: Any, truth: Any
) -> Row:
    def planted(recording: Recording) -> Recording:
        draw = np.random.default_rng([seed, zlib.crc32(f'{split.name} {flaw.name}'.encode())])
        return flaw.plant(recording, draw)

    fit, test = pair
    try:
        validation = planted(test) if flaw.everywhere else test
        result = identify(planted(fit), model, validation=validation)
    except RobodynError as error:
        return _row(split, flaw.name, seed, None, list(flaw.causes)) | {'refused': str(error)}
    row = _row(split, flaw.name, seed, result, list(flaw.causes))
    if result.has_estimate:
        row['spoiled'] = spoiled(*truth, result, test)
        row['visible'] = visible(truth[0], result)
    return row


def _row(
    split: Split, flaw: str, seed: int, result: IdentificationResult | None, causes: list[str]
) -> Row:
    row: Row = {'robot': split.name, 'flaw': flaw, 'seed': seed, 'causes': causes, 'spoiled': []}
    if result is None:
        return row | {'verdict': [], 'named': ['refused'], 'findings': []}
    report = result.validation or result.identification
    error = report.rms_error / np.maximum(report.rms_torque, 1e-12)
    return row | {
        'verdict': usable(result),
        'unusable': list(split.unusable),
        'named': named(result),
        'error': [round(float(each), 3) for each in error],
        'findings': [f'{item.severity} {item.code} {item.joint}' for item in result.findings],
    }


def table(rows: list[Row]) -> str:
    """Return one line per flaw, the totals, and the clean recordings."""
    lines = [f'{"flaw":<32} runs  count  usable  right  wrong']
    total, seen = np.zeros((2, 5), dtype=int)
    for flaw in dict.fromkeys(row['flaw'] for row in rows):
        if flaw in ('published', 'clean'):
            continue
        mine = [row for row in rows if row['flaw'] == flaw]
        numbers = _counts(mine)
        total += numbers
        seen += _counts([row for row in mine if row.get('visible', True)])
        lines.append(f'{flaw:<32} {" ".join(f"{each:6d}" for each in numbers)}')
    for words, sums in (('all', total), ('of these not a mere change of units', seen)):
        shares = 'usable {:.1f} %, right {:.1f} %, wrong {:.1f} %'
        lines.append(f'{words}: {" ".join(map(str, sums))}')
        lines.append(shares.format(*(100.0 * sums[2:] / max(int(sums[1]), 1))))
    for row in rows:
        if row['flaw'] in ('published', 'clean'):
            pairs = zip(row['verdict'], row['error'], strict=True)
            words = ', '.join(f'{word} {error:.1%}' for word, error in pairs)
            causes = ', '.join(row['named']) or 'no cause'
            lines.append(f'{row["robot"]:<9} {row["flaw"]:<9} {causes}; {words}')
    return '\n'.join(lines)


def _counts(rows: list[Row]) -> Array:
    """Return runs, those that count, usable for what is spoiled, right and wrong causes."""
    counted = [row for row in rows if row['spoiled'] or 'refused' in row]
    bad = sum(any(row['verdict'][k] == 'usable' for k in row['spoiled']) for row in counted)
    right = sum('refused' in row or row['cause'] in row['causes'] for row in counted)
    wrong = sum(bool(row['cause']) for row in counted) - right
    return np.array([len(rows), len(counted), bad, right, wrong])


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
