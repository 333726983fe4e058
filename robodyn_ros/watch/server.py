# SPDX-License-Identifier: Apache-2.0
"""Read-only server of the live page, in a thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import suppress
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from robodyn_ros.errors import ConfigError
from robodyn_ros.watch.requests import FILES, LIVE, answer_headers, refusal

RECEIPT = 'ok'
"""Message that a browser sends after each message that it has received."""


class WatchServer:
    """Server of the page and of its messages.

    Browsers get the newest message of each kind, and send a receipt for each message. A slow
    browser skips messages. One that sends no receipt for some seconds, or sends anything else, is
    disconnected. Everything runs in one thread, so a browser cannot delay `publish`.

    :ivar port: port in use
    """

    def __init__(
        self,
        bind: str = '127.0.0.1',
        port: int = 0,
        *,
        most_clients: int = 8,
        send_timeout: float = 3.0,
    ) -> None:
        """Start to serve.

        :param port: 0: a free one
        :param most_clients: largest number of browsers; more are refused
        :param send_timeout: time without a receipt until a browser is disconnected, in [s]
        :raises ConfigError: the address cannot be used
        """
        self._most_clients = most_clients
        self._send_timeout = send_timeout
        self._messages: dict[str, tuple[int, str]] = {}
        self._news: asyncio.Event
        self._clients: set[ServerConnection] = set()
        self._loop = asyncio.new_event_loop()
        try:
            server = self._loop.run_until_complete(self._serve(bind, port))
        except (OSError, OverflowError) as error:
            self._loop.close()
            raise ConfigError(
                f'the live page cannot be served on {bind} port {port}: {error}; choose another '
                f'port or address'
            ) from error
        self._server = server
        self.port = int(next(iter(server.sockets)).getsockname()[1])
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    @property
    def clients(self) -> int:
        """Number of connected browsers."""
        return len(self._clients)

    def publish(self, kind: str, text: str) -> None:
        """Send a message to all browsers; those that connect later get the last of each kind."""
        self._loop.call_soon_threadsafe(self._take, kind, text)

    def close(self) -> None:
        """Disconnect all browsers and end the thread."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(5.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)
        self._loop.close()

    async def _serve(self, bind: str, port: int) -> Server:
        self._news = asyncio.Event()
        quiet = logging.getLogger('robodyn_ros.watch')
        quiet.setLevel(logging.CRITICAL)  # the library logs a traceback per damaged request
        server: Server = await serve(
            self._on_client,
            bind,
            port,
            process_request=self._on_request,
            compression=None,
            max_size=64,
            open_timeout=5.0,
            ping_interval=None,  # receipts show that a browser is alive
            close_timeout=1.0,
            server_header=None,
            logger=quiet,
        )
        return server

    def _on_request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Answer a request for a file; None: continue with the WebSocket."""
        if getattr(request, 'method', 'GET') != 'GET':  # older libraries accept no other one
            return _text(HTTPStatus.METHOD_NOT_ALLOWED, 'this server only answers GET')
        path = request.path.partition('?')[0]
        reason = refusal(request.headers)
        if reason:
            return _text(HTTPStatus.FORBIDDEN, reason)
        if path == LIVE:
            if self.clients < self._most_clients:
                return None
            text = f'{self.clients} browsers are connected, more are refused'
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, text)
        if path not in FILES:
            return _text(HTTPStatus.NOT_FOUND, 'there is no such page')
        file, kind = FILES[path]
        return _answer(HTTPStatus.OK, request.headers['Host'], kind, file.read_bytes())

    async def _on_client(self, connection: ServerConnection) -> None:
        """Send to a browser until it leaves, or sends anything but the receipts."""
        if self.clients >= self._most_clients:
            return
        self._clients.add(connection)
        receipt = asyncio.Event()
        receipt.set()
        sender = asyncio.create_task(self._send(connection, receipt))
        try:
            while await connection.recv() == RECEIPT and not receipt.is_set():
                receipt.set()
            await connection.close(1008, 'this server only sends')
        except ConnectionClosed:
            pass
        finally:
            sender.cancel()
            self._clients.discard(connection)

    async def _send(self, connection: ServerConnection, receipt: asyncio.Event) -> None:
        """Send the newest messages, the next one after the receipt of the one before.

        Without receipts, messages would wait in the buffers of a slow browser, which would show
        old data as present.
        """
        sent: dict[str, int] = {}
        with suppress(ConnectionClosed):
            while True:
                news = self._news
                for kind in list(self._messages):
                    number, text = self._messages[kind]
                    if sent.get(kind) != number:
                        receipt.clear()
                        try:
                            await asyncio.wait_for(connection.send(text), self._send_timeout)
                            await asyncio.wait_for(receipt.wait(), self._send_timeout)
                        except (TimeoutError, asyncio.TimeoutError):
                            connection.transport.abort()
                            return
                        sent[kind] = number
                await news.wait()

    def _take(self, kind: str, text: str) -> None:
        number, _ = self._messages.get(kind, (0, ''))
        self._messages[kind] = (number + 1, text)
        self._news.set()
        self._news = asyncio.Event()

    async def _end(self) -> None:
        self._server.close()
        await self._server.wait_closed()


def _text(status: HTTPStatus, text: str) -> Response:
    return _answer(status, 'localhost', 'text/plain; charset=utf-8', f'{text}\n'.encode())


def _answer(status: HTTPStatus, host: str, kind: str, body: bytes) -> Response:
    headers = Headers(answer_headers(host, kind, len(body)))
    return Response(status.value, status.phrase, headers, body)
