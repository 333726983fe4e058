"""Refused requests and unexpected errors of a node: counted, and logged once per second."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult

from robodyn_ros.errors import RobodynError

LOG_PERIOD = 1.0
"""Shortest time between two log lines, in [s]."""


class Refusals:
    """Counts of what was refused, and of errors that belong to no request.

    :ivar refused: messages and requests that were refused because they raised an exception
    :ivar unexpected: exceptions of timers and of the executor
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        """Count from zero; `log` takes a sentence."""
        self._log = log
        self._logged = -LOG_PERIOD
        self._silent = 0
        self.refused = self.unexpected = 0
        self.refusal = self.error = ''

    def refuse(self, what: str, error: Exception) -> str:
        """Count a message or request that is refused, and return the reason."""
        reason = sentence(error)
        self.refused += 1
        self.refusal = f'{what} refused: {reason}'
        self._say(self.refusal)
        return reason

    def note(self, what: str, answer: Any) -> Any:
        """Count an answer without success, and return the answer."""
        if getattr(answer, 'success', True) is False:
            self.refused += 1
            self.refusal = f'{what}: {getattr(answer, "message", "refused")}'
        return answer

    def unexpect(self, what: str, error: Exception) -> str:
        """Count an error that belongs to no request, and return what happened."""
        self.unexpected += 1
        self.error = f'{what}: {sentence(error)}'
        self._say(self.error)
        return self.error

    def details(self) -> dict[str, object]:
        """Return the values for diagnostics; empty without refusals and errors."""
        found: dict[str, object] = {}
        if self.refused:
            found |= {'refused_requests': self.refused, 'last_refused_request': self.refusal}
        if self.unexpected:
            found |= {'unexpected_errors': self.unexpected, 'last_unexpected_error': self.error}
        return found

    def _say(self, text: str) -> None:
        now = time.monotonic()
        if now - self._logged < LOG_PERIOD:
            self._silent += 1
            return
        more = f' (and {self._silent} more since the last line)' if self._silent else ''
        self._logged, self._silent = now, 0
        self._log(text + more)


def sentence(error: BaseException) -> str:
    """Return the text of an error on one line, with its type if it is not of this suite."""
    text = ' '.join(str(error).split())
    text = text if len(text) <= 1000 else f'{text[:1000]}...'
    if isinstance(error, (RobodynError, OSError)):
        return text
    return f'unexpected {type(error).__name__}: {text}'


def guarded(
    callback: Any, failed: Callable[..., Any], done: Callable[[Any], Any] = lambda result: result
) -> Any:
    """Wrap a callback or coroutine function, so that no exception leaves it.

    :param failed: called with the exception and the arguments; returns the result instead
    :param done: called with the result, which it returns
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


def refused_response(request: Any, response: Any, reason: str) -> Any:
    """Set a response of any service to a refusal, as far as it has fields for it."""
    no = {'successful': False, 'reason': reason}
    if hasattr(response, 'success'):
        response.success = False
    if hasattr(response, 'message'):
        response.message = reason
    if hasattr(request, 'parameters') and hasattr(response, 'result'):
        response.result = SetParametersResult(**no)
    elif hasattr(request, 'parameters') and hasattr(response, 'results'):
        missing = len(request.parameters) - len(response.results)
        response.results = [*response.results, *[SetParametersResult(**no)] * missing]
    return response
