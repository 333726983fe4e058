# SPDX-License-Identifier: Apache-2.0
"""The server over real sockets, without ROS."""

import http.client
import json
import socket
import time

import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from robodyn_ros.errors import ConfigError
from robodyn_ros.watch.requests import FILES
from robodyn_ros.watch.server import WatchServer


@pytest.fixture(scope='module')
def server():
    made = WatchServer(most_clients=2, send_timeout=0.5)
    yield made
    made.close()


def get(server, path, **headers):
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=10)
    connection.request('GET', path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def live(server, **options):
    return connect(f'ws://127.0.0.1:{server.port}/live', **options)


def wait(condition, what):
    deadline = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def test_files_of_the_page_and_no_others(server):
    for path, (file, kind) in FILES.items():
        status, body, headers = get(server, path)
        assert (status, body, headers['Content-Type']) == (200, file.read_bytes(), kind)
        policy = headers['Content-Security-Policy']
        assert "default-src 'none'" in policy and 'unsafe' not in policy and '*' not in policy
    for path in ('/../board.py', '/index.html', '//etc/passwd', '/watch.css/'):
        assert get(server, path)[0] == 404


@pytest.mark.parametrize('method', ['POST', 'HEAD', 'X'])
@pytest.mark.parametrize('path', ['/', '/live'])
def test_other_methods_than_get_are_refused(server, method, path):
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=10)
    connection.request(method, path)
    assert connection.getresponse().status == 405


def test_requests_of_other_names_and_origins_are_refused(server):
    assert get(server, '/', Host='attacker.example')[0] == 403
    with pytest.raises(InvalidStatus, match='403'):
        live(server, origin='http://attacker.example')


def test_newest_messages_reach_each_client_and_more_clients_are_refused(server):
    server.publish('frame', json.dumps({'number': 1}))
    with live(server) as one, live(server) as other:
        assert [json.loads(each.recv(10))['number'] for each in (one, other)] == [1, 1]
        for number in (2, 3):
            server.publish('frame', json.dumps({'number': number}))
        one.send('ok')
        assert json.loads(one.recv(10))['number'] == 3, 'without a receipt nothing was queued'
        with pytest.raises(InvalidStatus, match='503'):
            live(server)
    wait(lambda: server.clients == 0, 'the end of both')


@pytest.mark.parametrize('sent', ['reset the monitor', b'ok', 'x' * 1000])
def test_a_client_that_sends_anything_else_is_disconnected(server, sent):
    server.publish('frame', '{}')
    with live(server) as client:
        client.recv(10)
        client.send(sent)
        with pytest.raises(ConnectionClosedError, match=r'only sends|too big'):
            client.recv(10)


def test_a_client_that_does_not_read_is_dropped(server):
    text = 'x' * 300_000
    raw = socket.create_connection(('127.0.0.1', server.port))
    raw.sendall(
        f'GET /live HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n'
        'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'.encode()
    )
    wait(lambda: server.clients == 1, 'the client')

    def dropped():
        server.publish('frame', text)
        return server.clients == 0

    wait(dropped, 'the end of a client that does not read')
    raw.close()
    server.publish('frame', '{}')


def test_a_port_in_use_is_a_sentence(server):
    with pytest.raises(ConfigError, match=f'port {server.port}.*choose another port'):
        WatchServer(port=server.port)
