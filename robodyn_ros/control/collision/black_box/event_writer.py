# SPDX-License-Identifier: Apache-2.0
"""Thread that writes events, so that no cycle waits for a disk."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from robodyn_ros.control.collision.black_box.event import Event
from robodyn_ros.control.collision.black_box.event_folder import EventFolder
from robodyn_ros.errors import clip

Make = Callable[[], Event | None]


class EventWriter:
    """Queue of events for a thread. An event that cannot be written is lost; the thread goes on.

    :ivar written: number of events; `lost` likewise
    :ivar last: path of the last event, or why it was lost
    """

    def __init__(self, folder: EventFolder) -> None:
        """Start the thread."""
        self._folder = folder
        self._queue: queue.Queue[Make] = queue.Queue(maxsize=4)
        self.written = self.lost = 0
        self.last = ''
        threading.Thread(target=self._run, daemon=True, name='black_box').start()

    def put(self, make: Make) -> None:
        """Write an event in the thread.

        :param make: returns the event, or None if its data are gone; called in the thread
        """
        try:
            self._queue.put_nowait(make)
        except queue.Full:
            self._lose('too many events at once')

    def finish(self, timeout: float) -> None:
        """Wait until all events are written, at most for `timeout` [s]."""
        waiter = threading.Thread(target=self._queue.join, daemon=True)
        waiter.start()
        waiter.join(timeout)

    def _run(self) -> None:
        while True:
            make = self._queue.get()
            try:
                event = make()
                if event is None:
                    self._lose('its data were overwritten before they were written')
                else:
                    self.last = str(self._folder.add(event))
                    self.written += 1
            except Exception as error:  # whatever happens here, the monitor goes on
                self._lose(str(error))
            finally:
                self._queue.task_done()

    def _lose(self, reason: str) -> None:
        self.lost += 1
        self.last = f'lost: {clip(reason)}'
