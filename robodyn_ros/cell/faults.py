# SPDX-License-Identifier: Apache-2.0
"""Faults of published samples: dropped, late, duplicate, corrupt, frozen, wrong stamps.

They are for tests of subscribers of a cell: a fault acts on the samples of one stream for a given
time. The cell itself is not affected.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robodyn_ros.errors import CellError

Array = NDArray[np.float64]
KINDS = {
    'drop': 'every sample is lost',
    'delay': 'every sample comes SIZE s late',
    'duplicate': 'every sample comes twice',
    'corrupt': 'one number of every sample is not finite, or is absurdly large',
    'freeze': 'the values stay the same while the stamps move',
    'clock': 'the stamps are SIZE s off',
}
"""All kinds of faults."""
SPOILT = (math.nan, math.inf, -math.inf, 1e300)


class StreamSample(NamedTuple):
    """One sample of a stream.

    :param stamp: in [ns]
    :param values: all its numbers, shape (rows, n)
    """

    stamp: int
    values: Array


@dataclass(frozen=True)
class InjectedFault:
    """Kind and duration of a fault.

    :param kind: one of `KINDS`
    :param duration: in [s]
    :param size: of a delay or a clock's error, in [s]
    """

    stream: str
    kind: str
    duration: float
    size: float = 0.0

    @classmethod
    def parse(cls, text: str, streams: tuple[str, ...]) -> InjectedFault:
        """Read 'STREAM KIND DURATION [SIZE]'.

        :raises CellError: an unknown stream or kind, or invalid numbers
        """
        words = text.split()
        try:
            numbers = [float(word) for word in words[2:]]
            fault = cls(words[0], words[1], *numbers)
        except (ValueError, IndexError, TypeError):
            raise CellError(f"a fault is 'STREAM KIND DURATION [SIZE]', got {text!r}") from None
        if fault.stream not in streams or fault.kind not in KINDS:
            raise CellError(
                f'a fault is of {", ".join(streams)} and one of {", ".join(KINDS)}, got {text!r}'
            )
        late = fault.kind == 'delay'
        if not (0.0 < fault.duration < math.inf and math.isfinite(fault.size)):
            raise CellError(f'a fault has a duration above 0 s and a finite size, got {text!r}')
        if late and not fault.size > 0.0:
            raise CellError(f'a delay has a size above 0 s, got {text!r}')
        return fault


class FaultyStream:
    """Stream of samples with faults."""

    def __init__(self, period: float) -> None:
        """Start without a fault.

        :param period: of the samples, in [s]
        """
        self._period = period
        self._random = np.random.default_rng(0)
        self._left = 0
        self._fault: InjectedFault | None = None
        self._kept: deque[StreamSample] = deque()
        self._last: Array | None = None

    @property
    def active(self) -> bool:
        """True if a fault acts on the next sample."""
        return self._left > 0 or bool(self._kept)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault from the next sample on, instead of an active one."""
        self._fault = fault
        self._left = max(1, round(fault.duration / self._period))
        self._kept.clear()
        self._last = None

    def through(self, sample: StreamSample) -> list[StreamSample]:
        """Return the samples to publish instead of a sample, in order."""
        if not self._left or self._fault is None:
            late = [*self._kept, sample]
            self._kept.clear()
            return late
        self._left -= 1
        act: list[StreamSample] = getattr(self, f'_{self._fault.kind}')(sample, self._fault.size)
        return act

    def _drop(self, sample: StreamSample, size: float) -> list[StreamSample]:
        return []

    def _delay(self, sample: StreamSample, size: float) -> list[StreamSample]:
        self._kept.append(StreamSample(sample.stamp, sample.values.copy()))
        late = len(self._kept) > max(1, round(size / self._period))
        return [self._kept.popleft()] if late else []

    def _duplicate(self, sample: StreamSample, size: float) -> list[StreamSample]:
        return [sample, sample]

    def _corrupt(self, sample: StreamSample, size: float) -> list[StreamSample]:
        values = sample.values.copy()
        values.flat[self._random.integers(values.size)] = self._random.choice(SPOILT)
        return [StreamSample(sample.stamp, values)]

    def _freeze(self, sample: StreamSample, size: float) -> list[StreamSample]:
        if self._last is None:
            self._last = sample.values.copy()
        return [StreamSample(sample.stamp, self._last)]

    def _clock(self, sample: StreamSample, size: float) -> list[StreamSample]:
        return [StreamSample(sample.stamp + round(size * 1e9), sample.values)]
