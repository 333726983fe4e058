# SPDX-License-Identifier: Apache-2.0
"""Signals of long recordings in memory-mapped temporary files.

An hour of six axes at 1 kHz is half a gigabyte of numbers. An array of more than `KEPT` bytes is
written block by block to an unnamed file (in TMPDIR or /tmp; it vanishes with the process) and
mapped as a read-only array. Its pages occupy memory only from their first use to `release`, so
that code that processes a recording block by block (`sweep`, `blockwise`) needs little memory for
recordings of any length.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from robodyn_ros.bounds import NUMBER
from robodyn_ros.errors import RecordingError

KEPT = 2**25
"""Smallest size in bytes of an array that is stored in a file (700 000 samples of 6 axes)."""

BLOCK = 2**16
"""Samples that are processed at a time."""

Numbers = NDArray[Any]


class Spool:
    """An array that grows by blocks of rows, in memory while it is small."""

    def __init__(self, shape: tuple[int, ...] = (), dtype: DTypeLike = np.float64) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.count = 0
        self._parts: list[Numbers] = []
        self._size = 0
        self._file: IO[bytes] | None = None

    def append(self, rows: Numbers) -> None:
        """Append rows, which are copied.

        :param rows: shape (N, ...), or all their numbers one after the other
        :raises RecordingError: the temporary file cannot be written
        """
        part = np.array(rows, dtype=self.dtype, order='C')
        if part.shape[1:] != self.shape:
            part = part.reshape(-1, *self.shape)
        self.count += len(part)
        self._size += part.nbytes
        self._parts.append(part)
        if self._file is not None or self._size > KEPT:
            self._write()

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix='robodyn_')  # noqa: SIM115 (mapped)
            for part in self._parts:
                self._file.write(part.data)
            self._file.flush()
        except OSError as error:
            raise _no_space(self._size, error) from error
        self._parts.clear()

    def array(self) -> Numbers:
        """Return all rows, shape (count, ...), read-only, and empty the spool."""
        parts, file, count = self._parts, self._file, self.count
        self._parts, self._file, self._size, self.count = [], None, 0, 0
        if file is None:
            array = np.concatenate(parts) if parts else np.empty((0, *self.shape), self.dtype)
            array.setflags(write=False)
            return array
        with file:  # the mapping keeps the file
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(mapping, self.dtype).reshape(count, *self.shape)


def store(array: Numbers) -> Numbers:
    """Return the array, from a file if it is large."""
    if array.nbytes <= KEPT:
        return array
    return blockwise(np.asarray, array, dtype=array.dtype)


@contextmanager
def temporary_folder(size: int) -> Iterator[Path]:
    """Yield a folder for temporary files, which is deleted at the end.

    :param size: expected size of the files, in [bytes], for messages
    :raises RecordingError: it cannot be created
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix='robodyn_')
    except OSError as error:
        raise _no_space(size, error) from error
    with folder:
        yield Path(folder.name)


def _no_space(size: int, error: OSError) -> RecordingError:
    place = tempfile.tempdir or 'no folder'  # None: no folder is writable
    return RecordingError(
        f'{place}: a long recording needs space for temporary files there (or in TMPDIR), '
        f'more than {size / 1e6:.0f} MB: {error}'
    )


def release(*arrays: Numbers | None) -> None:
    """Free the memory of mapped arrays; they remain usable."""
    for array in arrays:
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        owner = base.obj if isinstance(base, memoryview) else base
        if isinstance(owner, mmap.mmap) and hasattr(owner, 'madvise'):
            owner.madvise(mmap.MADV_DONTNEED)


def sweep(*arrays: Numbers, overlap: int = 0) -> Iterator[slice]:
    """Yield blocks of arrays of equal length, and release each block afterwards.

    :param overlap: samples that a block shares with the next
    """
    length = len(arrays[0])
    for first in range(0, max(length - overlap, 1), BLOCK):
        try:
            yield slice(first, min(first + BLOCK + overlap, length))
        finally:
            release(*arrays)


def blockwise(
    change: Callable[..., Numbers], *arrays: Numbers, dtype: DTypeLike = np.float64
) -> Numbers:
    """Apply a function to arrays block by block; return its rows as one read-only array.

    :param change: function of one block of each array, which returns some or all rows
    """
    spool: Spool | None = None
    for rows in sweep(*arrays):
        part = np.asarray(change(*(array[rows] for array in arrays)))
        spool = spool or Spool(part.shape[1:], dtype)
        spool.append(part)
    assert spool is not None
    return spool.array()


def all_usable(*arrays: Numbers) -> NDArray[np.bool_]:
    """Return which rows have usable numbers only in all arrays, shape (N,)."""
    result = np.ones(len(arrays[0]), dtype=bool)
    for rows in sweep(*arrays):
        for array in arrays:
            part = array[rows]
            if -NUMBER.most <= part.min() and part.max() <= NUMBER.most:  # fast; NaN is neither
                continue
            good = usable(part)
            result[rows] &= good if good.ndim == 1 else good.all(axis=1)
    return result


def usable(values: Numbers) -> NDArray[np.bool_]:
    """Return which numbers are finite and can be a measurement, in the shape of the values."""
    return np.asarray(np.abs(values) <= NUMBER.most)


def extremes(values: Numbers) -> tuple[Numbers, Numbers]:
    """Return the smallest and largest number of each column (N, n), N >= 1, but for NaN."""
    low, high = np.array(values[0]), np.array(values[0])
    for rows in sweep(values):
        np.fmin(low, np.fmin.reduce(values[rows], axis=0), out=low)
        np.fmax(high, np.fmax.reduce(values[rows], axis=0), out=high)
    return low, high
