# SPDX-License-Identifier: Apache-2.0
"""Figures of many plants as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from next_robot.flaws import FLAWS

Row = Mapping[str, Any]

GOOD, BAD = 0.2, 0.4
"""Relative error of the worst joint on the truth: up to GOOD an identification has to succeed,
above BAD it has to fail; either verdict is right in between. Torque predicted within 20 % serves
feed-forward and collision detection; at 40 % four tenths of the torque are missing."""
POSSIBLE = 0.4
"""Largest relative error of the expert at which the error ratio of a plant counts: above it the
recording does not hold what the truth needs, and both errors are chance."""
NOTICEABLE = 0.005
"""Errors below this count as this large in ratios: the least torque noise of a plant."""
STRATA = {
    'clean': ('',),
    'short': ('short',),
    'gaps, repeats': ('gaps', 'repeats'),
    'resting': ('resting',),
    'delay, drives off': ('delay', 'drives off'),
}
"""Kinds of recordings whose error ratios count, by their flaws."""
VERDICTS = ('relative_error_too_large', 'refused', 'validation_too_short')
"""Findings that state a verdict, not a flaw."""


def counted(rows: Iterable[Row]) -> list[Row]:
    """Return the plants whose error ratio counts."""
    return [row for row in rows if row['fair'] and row['expert'] <= POSSIBLE]


def false_errors(row: Row) -> list[str]:
    """Return the codes of severity error that the flaw of the plant does not explain."""
    codes = (code for severity, code, _ in row['findings'] if severity == 'error')
    return [code for code in codes if code not in (*FLAWS[row['flaw']].codes, *VERDICTS)]


def is_missed(row: Row) -> bool:
    """Return True if the plant has a flaw and no finding names it."""
    codes = {code for _, code, _ in row['findings']}
    return bool(row['flaw']) and not codes & {*FLAWS[row['flaw']].codes}


def is_right(row: Row) -> bool:
    """Return True if the verdict suits the worst joint's error on the truth."""
    return bool(row['worst_joint'] <= BAD if row['success'] else row['worst_joint'] > GOOD)


def ratio(error: float, other: float) -> float:
    """Return the ratio of two errors, 1 where both are negligible."""
    return max(error, NOTICEABLE) / max(other, NOTICEABLE) if np.isfinite(other) else np.nan


def ratio_line(name: str, rows: Sequence[Row], other: str, *, blind: bool) -> str:
    """Return a table row of the distribution of error ratios."""
    ratios = np.array([ratio(row['error'], row[other]) for row in rows])
    known = np.isfinite(ratios)
    if not known.any():
        return f'| {name} | no plant |'
    shares = np.quantile(ratios[known], [0.5, 0.95, 0.99, 1.0])
    worst = rows[int(np.argmax(np.where(known, ratios, 0.0)))]
    text = '' if blind else described(worst)
    return f'| {name} | {" | ".join(f"{share:.3f}" for share in shares)} | {text} |'


def described(row: Row) -> str:
    """Return a plant in one line."""
    return (
        f'seed {row["seed"]} plant {row["number"]}: {row["axes"]} axes, {row["rate"]:g} Hz, '
        f'{row["seconds_recorded"]:.3g} s, speed {row["speed"]:g}, {row["bits"]} bit, torque by '
        f'{row["torque"]}, friction {row["friction"]}, noise {row["noise"]:g} (pole '
        f'{row["pole"]:g}), masses {row["masses"]:g}, spring {row["spring"]:g}, '
        f'flaw {row["flaw"] or "none"}; error {row["error"]:.1%}, expert '
        f'{row.get("expert", np.nan):.1%} ({row.get("choices", "")}), plain {row["plain"]:.1%}, '
        f'package: {row["made"]}'
    )


def table(rows: Sequence[Row], *, blind: bool = False) -> str:
    """Return the figures of all plants as Markdown.

    :param blind: without the description of any plant
    """
    fair = counted(rows)
    flawed = [row for row in rows if row['flaw']]
    wrong, missed = [row for row in rows if false_errors(row)], [*filter(is_missed, flawed)]
    bad = [row for row in rows if not is_right(row)]
    lines = [
        f'{len(rows)} plants, {len(flawed)} with a flaw; error ratios of the {len(fair)} whose '
        f'expert is below {POSSIBLE:.0%}; {sum(not row["estimate"] for row in fair)} of these '
        f'without an estimate',
        '',
        '| error on the truth | median | 95 % | 99 % | worst | plant |',
        '|---|---|---|---|---|---|',
        ratio_line('over expert', fair, 'expert', blind=blind),
        ratio_line('over plain WLS', fair, 'plain', blind=blind),
        '',
        *strata(fair),
        '',
        '| | share | of | wanted |',
        '|---|---|---|---|',
        f'| false errors | {_share(wrong, rows)} | below 1 % |',
        f'| missed flaws | {_share(missed, flawed)} | below 3 % |',
        f'| verdict right | {_share([*filter(is_right, rows)], rows)} | 98 % |',
    ]
    if blind:
        return '\n'.join(lines)
    lines += ['', *(f'false {false_errors(row)}: {_short(row)}' for row in wrong)]
    lines += ['', *(f'missed {row["flaw"]}: {_short(row)}' for row in missed)]
    verdict = {True: 'success', False: 'failure'}
    lines += [
        '',
        *(
            f'wrong {verdict[row["success"]]} at {row["worst_joint"]:.0%}: {_short(row)}'
            for row in bad
        ),
    ]
    return '\n'.join(lines)


def strata(rows: Sequence[Row]) -> list[str]:
    """Return the distribution of error ratios by kind of recording, as lines of a table."""
    lines = [
        '| recording | plants | over expert | over plain WLS: median, 95 %, worst |',
        '|---|---|---|---|',
    ]
    for name, flaws in STRATA.items():
        here = [row for row in rows if row['flaw'] in flaws]
        shown = []
        for other in ('expert', 'plain'):
            ratios = [ratio(row['error'], row[other]) for row in here if np.isfinite(row[other])]
            shares = np.quantile(ratios, [0.5, 0.95, 1.0]) if ratios else []
            shown.append(', '.join(f'{share:.2f}' for share in shares))
        lines.append(f'| {name} | {len(here)} | {" | ".join(shown)} |')
    return lines


def _share(part: Sequence[Row], whole: Sequence[Row]) -> str:
    return f'{len(part) / max(len(whole), 1):.1%} | {len(part)} of {len(whole)}'


def _short(row: Row) -> str:
    codes = [
        f'{severity[0]}:{code}' for severity, code, _ in row['findings'] if severity != 'info'
    ]
    return f'plant {row["number"]}, flaw {row["flaw"] or "none"}, {", ".join(codes)}'
