# SPDX-License-Identifier: Apache-2.0
"""The recordings of a soak: readable, complete, and every second of them accounted for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robodyn_ros.errors import RobodynError
from robodyn_ros.recording.readers import read_recording

COMPLETE = 0.99
"""Share of the messages of a second that a complete one has: both ends see its limits at slightly
different messages."""


@dataclass
class Recordings:
    """Figures, and problems in sentences."""

    figures: dict[str, object] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def recorded(
    segments: dict[Path, int],
    dropped: dict[Path, int],
    seconds: dict[int, str],
    heard: Counter[int],
) -> Recordings:
    """Read all recordings and compare them with what was heard.

    :param segments: folder -> messages by the recorder, -1: it was killed
    :param dropped: folder -> messages that the recorder says it lost
    :param seconds: second -> what it was
    :param heard: second -> joint states that were published
    """
    found = Recordings()
    written: Counter[int] = Counter()
    samples = 0
    for folder, messages in segments.items():
        try:
            recording = read_recording(folder)
        except RobodynError as error:
            if messages > 100:
                found.problems.append(f'{folder.name} ({messages} messages): {error}')
            continue
        samples += len(recording.time)
        times = recording.origin * 1e-9 + recording.time
        written.update(times.astype(int).tolist())
    known = [second for second in seconds if second in heard]
    quiet = [second for second in known if _inside(second, seconds)]
    short = [second for second in quiet if written[second] < COMPLETE * heard[second]]
    found.problems += [
        f'second {second}: {written[second]} of {heard[second]} recorded' for second in short
    ]
    found.figures = {
        'recordings': len(segments),
        'ended by a kill': sum(messages == -1 for messages in segments.values()),
        'samples read': samples,
        'messages by the recorder': int(np.sum([m for m in segments.values() if m > 0])),
        'dropped by the recorder': sum(dropped.values()),
        'seconds with joint states': len(known),
        'quiet ones': len(quiet),
        'of these incomplete': len(short),
    }
    return found


def _inside(second: int, seconds: dict[int, str]) -> bool:
    """Return whether a second and its neighbours are quiet."""
    return all(seconds.get(second + step) == 'quiet' for step in (-1, 0, 1))
