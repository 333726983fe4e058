# SPDX-License-Identifier: Apache-2.0
"""Node `watch`: live page for a browser, and markers for RViz. It only subscribes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticStatus

from robodyn_ros.errors import ConfigError
from robodyn_ros.models.serial.urdf_file import UrdfFile, parse_urdf
from robodyn_ros.nodes.base.clock import now, start_timer
from robodyn_ros.nodes.base.common import (
    Diagnostics,
    declare,
)
from robodyn_ros.nodes.base.spinning import run
from robodyn_ros.nodes.base.suite_node import SuiteNode
from robodyn_ros.nodes.robot.described_robot import robot_description
from robodyn_ros.nodes.robot.effort import EffortParameters
from robodyn_ros.nodes.watch.inputs import Inputs
from robodyn_ros.nodes.watch.markers import Markers
from robodyn_ros.watch.board import Board
from robodyn_ros.watch.requests import is_loopback

if TYPE_CHECKING:
    from robodyn_ros.watch.server import WatchServer

LOOK = 0.05
"""Time between two looks at the messages, in [s]: the middleware keeps those of 50 ms at 1 kHz."""


class Watch(SuiteNode):
    """Reader of the suite's topics; it sends nothing that another node of the suite reads."""

    def __init__(self) -> None:
        """Declare the parameters, subscribe, and start the server."""
        super().__init__('watch')
        period = declare(
            self, 'period', 0.1, 'time between two updates of the page [s]; changes of a level '
            'are shown at once', read_only=True, minimum=LOOK, maximum=1.0,
        )  # fmt: skip
        self._looks, self._per_frame = 0, round(period / LOOK)
        urdf = self._urdf()
        self._board = Board(units={} if urdf is None else _units(urdf), clock=partial(now, self))
        self._inputs = Inputs(self, self._board, EffortParameters(self), urdf)
        self._markers = Markers(self, urdf)
        self._server = self._serve()
        if self._server is not None and self._inputs.scene is not None:
            self._server.publish('robot', self._inputs.scene.robot())
        self._lists = (-1, -1)
        self._levels = b''
        self._diagnostics = Diagnostics(self, 'robodyn watch')
        start_timer(self, LOOK, self._on_look)
        start_timer(self, 0.2, self._on_markers)
        start_timer(self, 1.0, self._on_second)

    def _urdf(self) -> UrdfFile | None:
        """Return the robot, which markers and units need; None: it is not known."""
        try:
            return parse_urdf(robot_description(self, wanted=False))
        except ConfigError:
            return None

    def _serve(self) -> WatchServer | None:
        fixed = {'read_only': True}
        bind = declare(self, 'bind', '127.0.0.1', 'address of the live page', **fixed)
        port = declare(
            self, 'port', 8780, 'port of the live page; 0: a free one; -1: no page', **fixed,
            minimum=-1, maximum=65535,
        )  # fmt: skip
        most = declare(
            self, 'max_clients', 8, 'largest number of browsers', minimum=1, maximum=64, **fixed
        )
        if port < 0:
            return None
        server = _server_type()(bind, port, most_clients=most)
        self._address = f'http://{f"[{bind}]" if ":" in bind else bind}:{server.port}'
        self.get_logger().info(f'live page: {self._address}')
        if not is_loopback(bind):
            self.get_logger().warning(
                f'bind {bind}: everybody who reaches this computer can read the live page, '
                f'without a password; it cannot be used to command the robot'
            )
        return server

    @property
    def _pages(self) -> bool:
        """True if browsers show the page."""
        return self._server is not None and self._server.clients > 0

    def _on_look(self) -> None:
        """Look for changes of a level, which must not wait, and in time for all else."""
        levels = self._inputs.poll_levels()
        changed, self._levels = levels != self._levels, levels
        self._looks += 1
        in_time = self._looks % self._per_frame == 0
        if in_time:
            self._inputs.poll(pages=self._pages)
        if changed:
            self._on_markers()
        if in_time or changed:
            self._on_frame()

    def _on_frame(self) -> None:
        frame = self._board.frame()
        if self._server is not None:
            self._server.publish('frame', frame)
            self._publish_lists(always=False)

    def _on_markers(self) -> None:
        """Show the markers to RViz and to the pages that are open."""
        server, scene = self._server, self._inputs.scene
        if not (self._pages or self._markers.wanted):
            return
        markers = self._markers.make(self._inputs.monitor, self._board.fresh('monitor'))
        self._markers.publish(markers)
        if server and self._pages and scene and (text := scene.frame(markers)):
            server.publish('scene', text)

    def _on_second(self) -> None:
        self._publish_lists(always=True)
        pages = 0 if self._server is None else self._server.clients
        text = 'no page is served' if self._server is None else f'live page: {self._address}'
        values = {'browsers': pages, 'refused_messages': self._inputs.taps.refused}
        self._diagnostics.publish(DiagnosticStatus.OK, text, values)

    def _publish_lists(self, *, always: bool) -> None:
        """Publish diagnostics and events when they changed, and every second for their age."""
        changes = (self._board.events.changes, self._board.diagnostics.changes)
        if self._server is not None and (always or changes != self._lists):
            self._lists = changes
            self._server.publish('lists', self._board.lists())

    def destroy_node(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.close()
        self._inputs.taps.close()
        super().destroy_node()


def _server_type() -> type[WatchServer]:
    """Return the server."""
    try:
        from robodyn_ros.watch.server import WatchServer
    except ImportError as error:
        raise ConfigError(
            f"the live page needs websockets 13 or newer: pip install 'websockets>=13' ({error})"
        ) from error
    return WatchServer


def _units(urdf: UrdfFile) -> dict[str, str]:
    return {joint.name: 'N' if joint.type == 'prismatic' else 'Nm' for joint in urdf.joints}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node."""
    return run(Watch, argv)


if __name__ == '__main__':
    sys.exit(main(sys.argv))
