# SPDX-License-Identifier: Apache-2.0
"""Refused requests and unexpected errors of a node: counted, and logged once per second."""

from __future__ import annotations

import functools
import inspect
import os
import re
import time
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.impl import rcutils_logger

from robodyn_ros.allowed_folders import SHOWN
from robodyn_ros.errors import Fault, RobodynError, clip
from robodyn_ros.faults import fault_of, number_of

LOG_PERIOD = 1.0
"""Shortest time between two log lines, in [s]."""
NAMES = re.compile(r"(?<!\w)'[^']*'(?!\w)|\S+")
"""Quoted names and words; the apostrophe in a word is no quote."""
MOST = 1000
"""Largest number of characters of a sentence, in the log and in answers."""


class Refusals:
    """Counts of what was refused, and of errors that belong to no request.

    :ivar refused: messages and requests that were refused because they raised an exception
    :ivar unexpected: exceptions of timers and of the executor
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        """Count from zero; `log` takes a sentence."""
        self._log = log
        self._logged = -LOG_PERIOD
        self._waiting: list[str] = []
        self._count = 0
        self.refused = self.unexpected = 0
        self.refusal = self.error = ''

    def refuse(self, what: str, error: Exception) -> Fault:
        """Count a message or request that is refused, and return the reason."""
        reason = sentence(error)
        self.refused += 1
        self.refusal = shorten_sentence(f'{what} refused: {reason}')
        self.say(self.refusal)
        return reason

    def note(self, what: str, answer: Any) -> Any:
        """Count an answer without success, and return the answer."""
        if getattr(answer, 'success', True) is False:
            self.refused += 1
            self.refusal = shorten_sentence(f'{what}: {getattr(answer, "message", "refused")}')
        return answer

    def unexpect(self, what: str, error: Exception) -> Fault:
        """Count an error that belongs to no request, and return what happened."""
        self.unexpected += 1
        self.error = shorten_sentence(f'{what}: {sentence(error)}')
        self.say(self.error)
        return Fault('unexpected', self.error)

    def details(self) -> dict[str, object]:
        """Return the values for diagnostics; empty without refusals and errors."""
        values: dict[str, object] = {}
        if self.refused:
            values |= {'refused_requests': self.refused, 'last_refused_request': self.refusal}
        if self.unexpected:
            values |= {'unexpected_errors': self.unexpected, 'last_unexpected_error': self.error}
        return values

    def say(self, text: str) -> None:
        """Log a sentence about a message or request, at most one in `LOG_PERIOD`.

        Further ones are counted. The next line, or `flush`, gives their number.
        """
        self._waiting.append(text)
        self._waiting, self._count = self._waiting[-1:], self._count + 1
        self.flush()

    def flush(self) -> None:
        """Log the last sentence that had to wait, once its time has come."""
        now = time.monotonic()
        if not self._waiting or now - self._logged < LOG_PERIOD:
            return
        more = f' (and {self._count - 1} more since the last line)' if self._count > 1 else ''
        text = self._waiting.pop()
        self._logged, self._count = now, 0
        self._log(shorten_sentence(text) + more)


class BoundedLogger(rcutils_logger.RcutilsLogger):
    """Logger that cuts long texts, and shows control characters as escapes."""

    def log(self, message: Any, severity: Any, **filters: Any) -> bool:
        """Log a text, `clip`."""
        return bool(super().log(clip(str(message)), severity, **filters))


# rclpy identifies a line of the log by its caller, which is not this file
rcutils_logger._internal_callers.append(os.path.realpath(__file__))


def shorten_sentence(text: str) -> str:
    """Return a sentence for the log and diagnostics, without long names from messages.

    Words and quoted names above `SHOWN` characters lose their middle, so that the file at the
    end of a path stays. The rest is cut at `MOST`.
    """
    text = NAMES.sub(_cut, ' '.join(clip(text).split()))
    return text if len(text) <= MOST else f'{text[:MOST]}...'


def _cut(match: re.Match[str]) -> str:
    name, half = match[0], (SHOWN - 3) // 2
    return name if len(name) <= SHOWN else f'{name[:half]}...{name[-half:]}'


def sentence(error: BaseException) -> Fault:
    """Return the text of an error on one line, with its type if it is not of this suite."""
    text = ' '.join(clip(str(error)).split())
    text = text if len(text) <= MOST else f'{text[:MOST]}...'
    if isinstance(error, (RobodynError, OSError)):
        return fault_of(error, text)
    return fault_of(error, f'unexpected {type(error).__name__}: {text}')


def guard_callback(
    callback: Any, failed: Callable[..., Any], done: Callable[[Any], Any] = lambda result: result
) -> Any:
    """Wrap a callback or coroutine function, so that no exception leaves it.

    :param failed: called with the exception and the arguments; returns the result instead
    """
    if callback is None:
        return None
    if inspect.iscoroutinefunction(callback):

        @functools.wraps(callback)
        async def wait(*arguments: Any) -> Any:
            try:
                return done(await callback(*arguments))
            except Exception as error:
                return failed(error, *arguments)

        return wait

    @functools.wraps(callback)
    def call(*arguments: Any) -> Any:
        try:
            return done(callback(*arguments))
        except Exception as error:
            return failed(error, *arguments)

    return call


def set_refusal(request: Any, response: Any, reason: Fault) -> Any:
    """Set a response of any service to a refusal, as far as it has fields for it."""
    no = {'successful': False, 'reason': reason}
    if hasattr(response, 'success'):
        response.success = False
    if hasattr(response, 'message'):
        response.message = reason
    if hasattr(response, 'fault_code'):
        response.fault_code = number_of(reason)
    if hasattr(request, 'parameters') and hasattr(response, 'result'):
        response.result = SetParametersResult(**no)
    elif hasattr(request, 'parameters') and hasattr(response, 'results'):
        missing = len(request.parameters) - len(response.results)
        response.results = [*response.results, *[SetParametersResult(**no)] * missing]
    return response
