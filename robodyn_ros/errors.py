# SPDX-License-Identifier: Apache-2.0
"""Errors of the suite: one class per kind of failure; the text is one sentence for the user."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 4000
"""Largest number of characters of a sentence: a screen. Names come from files and messages."""


def clip(text: str) -> str:
    """Return a text of at most `MOST` characters on one line, without control characters."""
    if len(text) > MOST:  # the reason is mostly at the end, behind a name
        text = f'{text[: MOST - 500]} ... {text[-495:]}'
    return text if text.isprintable() else printable(' '.join(text.splitlines()))


def printable(text: str, keep: str = '') -> str:
    """Return a text with escape sequences for control and format characters, except those to keep.

    Such characters could control a terminal, or change the order of the text on it (U+202E).
    """
    if text.isprintable():
        return text
    return ''.join(
        letter if letter.isprintable() or letter in keep else ascii(letter)[1:-1]
        for letter in text
    )


class Fault(str):
    """Sentence about what is wrong, with its code.

    :ivar name: of the code in `faults.yaml`
    """

    __slots__ = ('name',)
    name: str

    def __new__(cls, name: str, text: str) -> Fault:
        """Make it of a code and a sentence."""
        fault = super().__new__(cls, text)
        fault.name = name
        return fault

    def __reduce__(self) -> tuple[type[Fault], tuple[str, str]]:
        return Fault, (self.name, str(self))


NO_FAULT = Fault('none', '')


class RobodynError(Exception):
    """Base class of the errors.

    :param text: the sentence; a `Fault` gives its code too
    :param lines: lines of a file that the user could write; commands print them below the text
    :param fault: name of the code, if it is not that of the class or of the text
    """

    usual = 'refused'

    def __init__(self, text: str = '', *, lines: Sequence[str] = (), fault: str = '') -> None:
        super().__init__(text)
        self.lines = tuple(map(clip, lines))
        self.fault = fault or (text.name if isinstance(text, Fault) else self.usual)

    def __str__(self) -> str:
        return clip(super().__str__())


class ConfigError(RobodynError):
    """A parameter or YAML file has an invalid value."""

    usual = 'invalid_value'


class ModelError(RobodynError):
    """A robot model cannot be built or was called with data that do not fit it."""

    usual = 'invalid_model'


class MotionError(RobodynError):
    """A motion breaks a limit or is not well defined."""

    usual = 'invalid_motion'


class RecordingError(RobodynError):
    """A recording cannot be read, written or used."""

    usual = 'recording_failed'


class MissingSignalError(RecordingError):
    """A recording has no such topic or joint, or no position or torque of a joint."""


class IdentificationError(RobodynError):
    """The parameters cannot be estimated, or a result may not be exported."""

    usual = 'identification_failed'


class InsufficientData(IdentificationError):  # noqa: N818, it becomes a finding
    """A recording has too little to estimate anything from."""


class ControlError(RobodynError):
    """Feed-forward or collision monitoring got an input that it cannot use."""


class CellError(RobodynError):
    """The simulated cell got a request that it cannot fulfil."""

    usual = 'cell_refused'


class UnstableError(CellError):
    """The mechanics of the simulated cell became unstable, and the cell was reset."""
