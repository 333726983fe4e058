# SPDX-License-Identifier: Apache-2.0
"""Messages with the joints of a recording, of one publisher or merged from several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import MissingSignalError, RecordingError
from robodyn_ros.findings import Finding, finding
from robodyn_ros.recording.missing_values import MISSING_SHARE
from robodyn_ros.recording.time_order import at_times, in_order
from robodyn_ros.recording.topics.decoder import Group
from robodyn_ros.recording.topics.publishers import VALUES, Publisher, publishers_of
from robodyn_ros.recording.topics.rename import rename_hint

LATE = 16
"""Messages that come late at once, at most: after more, the clock was set back."""
SELDOM = 0.1
"""Share of the messages of the robot below which a publisher is not merged unless asked for."""
CLOCKS = 0.05
"""Difference of the clocks of two publishers, in [s], that can be a delay of their messages."""
MOTOR = '_motor'
"""A second encoder, on the motor of joint `name`, is published as joint `name_motor`."""


def series_of(
    groups: Sequence[Group], joints: Sequence[str] | None, *, part: int | None, topic: str
) -> tuple[Publisher, list[Finding]]:
    """Return the messages with the requested joints as one series, and findings.

    Messages without effort are left out. Joints in messages of several publishers are merged at
    the times of the one that publishes most often. Where messages overlap in time, as of two
    publishers or of a simulation that was restarted, one part of them is read.

    :param joints: None: those that most messages have, and those of other frequent publishers
    :param part: number of the part, from 1; None: the one with most messages
    :raises MissingSignalError: no message has one of the joints
    :raises RecordingError: there is no such part
    """
    every = publishers_of(groups)
    sources = [each for each in every if each.measured] or every
    findings = _report([each for each in every if each not in sources], topic, effort=False)
    names = _usual_joints(sources) if joints is None else tuple(joints)
    known = {name for source in sources for name in source.names}
    if missing := [name for name in names if name not in known]:
        raise MissingSignalError(
            f'joint {missing[0]!r} is not in the recording, which has {sorted(known)}'
            f'{rename_hint(names, known)}'
        )
    remaining = [n for n in (*names, *(f'{name}{MOTOR}' for name in names)) if n in known]
    picks: list[Publisher] = []
    while remaining:
        best = max(sources, key=lambda each: (len(set(remaining) & set(each.names)), each.count))
        supplied = [name for name in remaining if name in best.names]
        remaining = [name for name in remaining if name not in best.names]
        parts = _parts(sources, supplied, picks[:1])
        if not parts:
            raise RecordingError(
                f'{topic}: no message with {supplied[0]!r} came while those with '
                f'{picks[0].names[0]!r} did'
            )
        number = part or 1 + int(np.argmax([each.count for each in parts]))
        if part is not None and not (1 <= part <= len(parts) or (picks and part > 0)):
            raise RecordingError(f'--part {part}: {topic} has {len(parts)} parts')
        if len(parts) > 1:
            findings.append(_parts_finding(parts, number, topic))
        picks.append(parts[min(number, len(parts)) - 1])
    used = {name for each in picks for name in each.names}
    others = [each for each in sources if not used & set(each.names)]
    findings += _report(others, topic)
    if len(picks) == 1:
        return picks[0], findings
    base, *others = sorted(picks, key=lambda each: -each.count)
    for other in others:
        _check_clocks(base, other, topic)
    merged = _merge(base, others)
    main, more = ', '.join(base.names), ', '.join(merged.names[len(base.names) :])
    if merged.count < 2:
        raise RecordingError(f'{topic}: no messages with {main} and {more} at the same time')
    return merged, [*findings, finding('merged', joints=more, main=main, topic=topic)]


def _check_clocks(base: Publisher, other: Publisher, topic: str) -> None:
    """Check that the stamps of two publishers have one clock, by the times in the bag.

    :raises RecordingError: they have not
    """
    logs, start = [each.columns['log'] for each in (base, other)], base.columns['log'][0]
    ages = [(log - each.time) / 1e9 for log, each in zip(logs, (base, other), strict=True)]
    there = np.interp((logs[0] - start) / 1e9, (logs[1] - start) / 1e9, ages[1])
    apart = abs(float(np.median(there - ages[0])))
    if apart > max(CLOCKS, float(np.median(np.diff(base.time))) / 1e9):
        raise RecordingError(
            f'{topic}: the stamps of {other.names[0]!r} and of {base.names[0]!r} are of clocks '
            f'that differ by {apart:.3g} s, expected one: synchronise the computers, or read the '
            f'joints of one of them (--joints)'
        )


def _report(sources: Sequence[Publisher], topic: str, *, effort: bool = True) -> list[Finding]:
    """Count the messages of publishers that were not read."""
    key = 'other_messages' if effort else 'no_effort_messages'
    joints = ', '.join(sorted({name for each in sources for name in each.names}))
    count = sum(each.count for each in sources)
    return [finding(key, count=count, topic=topic, joints=joints)] if sources else []


def motors_of(names: Iterable[str]) -> set[str]:
    """Return the names that are the motors of others."""
    every = {*names}
    return {name for name in every if name.removesuffix(MOTOR) in every - {name}}


def _usual_joints(sources: Sequence[Publisher]) -> tuple[str, ...]:
    """Return the joints of the robot, without its motors, and those of other publishers."""
    # With equal numbers of messages, the publisher with more joints is the robot.
    most = max(each.count for each in sources)
    best = max(sources, key=lambda each: (round(each.count / most, 1), len(each.names)))
    names = [*best.names]
    for source in sources:
        if source.count >= SELDOM * best.count and not set(source.names) & set(names):
            names += source.names
    return tuple(name for name in names if name not in motors_of(names))


def _parts(
    sources: Sequence[Publisher], names: Sequence[str], before: Sequence[Publisher]
) -> list[Publisher]:
    """Return the messages with these joints in parts, in each of which time goes on.

    :param before: chosen part of other joints: only messages that came while its did count
    """
    chains: list[Publisher] = []
    for source in sources:
        if not set(names) <= set(source.names):
            continue
        source = source.select(names)
        for chosen in before:
            logs, span = source.columns['log'], chosen.columns['log']
            source = source.cut((logs >= span.min()) & (logs <= span.max()))
        if not source.count:
            continue
        start, end = source.time.min(), source.time.max()
        for k, chain in enumerate(chains):
            if chain.time.max() < start or end < chain.time.min():
                chains[k] = chain.join(source)
                break
        else:
            chains.append(source)
    parts = [each.cut(rows) for each in chains for rows in _restarts(each.time)]
    most = max((each.count for each in parts), default=0)
    return [each for each in parts if each.count >= SELDOM * most]


def _restarts(time: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Return the rows (N,) of each part between restarts of the clock.

    Few messages that come late, or while a clock is wrong, are no restart.
    """
    back = np.flatnonzero(np.diff(time) < 0) + 1
    if len(back) >= 1000 or np.mean(~in_order((time - time[0]) / 1e9)) <= MISSING_SHARE:
        back = back[:0]
    cuts = [int(row) for row in back if time[row : row + LATE].max() < time[row - 1]]
    number = np.searchsorted(cuts, np.arange(len(time)), side='right')
    return [number == each for each in range(len(cuts) + 1)]


def _parts_finding(parts: Sequence[Publisher], number: int, topic: str) -> Finding:
    listed = '; '.join(
        f'{k}: {each.count} messages of {np.ptp(each.time) / 1e9:.4g} s'
        for k, each in enumerate(parts, 1)
    )
    joints = ', '.join(parts[0].names)
    return finding('parts', topic=topic, joints=joints, parts=listed, number=number)


def _merge(base: Publisher, others: Sequence[Publisher]) -> Publisher:
    """Interpolate the values of others at the times of the first, but not over gaps."""
    kept = np.ones(base.count, dtype=bool)
    values = {name: [base.columns[name]] for name in VALUES}
    for other in others:
        order = np.argsort(other.time, kind='stable')
        wanted, known = ((each - base.time[0]) / 1e9 for each in (base.time, other.time[order]))
        for name in VALUES:
            values[name].append(at_times(wanted, known, other.columns[name][order]))
        kept &= ~np.isnan(values['position'][-1]).all(axis=1)
    names = tuple(name for each in (base, *others) for name in each.names)
    columns = {name: np.hstack(each) for name, each in values.items()}
    return Publisher(names, base.columns | columns).cut(kept)
