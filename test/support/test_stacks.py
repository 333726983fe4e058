# SPDX-License-Identifier: Apache-2.0
"""What a process waits for is found while it lives, and its end leaves its stacks."""

import os
import platform
import subprocess
import sys
import time

import pytest
import stacks

CODE = """
import mmap, os, sys, threading, time
lock = threading.Lock()
lock.acquire()
def hang():
    lock.acquire()
threading.Thread(target=hang, daemon=True).start()
print('ready', flush=True)
time.sleep(100)
"""


@pytest.fixture
def process(tmp_path):
    with (tmp_path / 'log').open('w') as log:
        process = subprocess.Popen(
            [sys.executable, '-c', CODE], stdout=subprocess.PIPE, stderr=log,
            env={**os.environ, 'PYTHONFAULTHANDLER': '1'},
        )  # fmt: skip
    try:
        assert process.stdout.readline() == b'ready\n'
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='system calls have other numbers')
def test_a_thread_that_waits_for_a_lock_is_shown_with_the_place_of_the_lock(process):
    deadline = time.monotonic() + 10.0
    while f'call {stacks.FUTEX} [heap]' not in (text := stacks.waits(process.pid)):
        assert time.monotonic() < deadline, text
    assert len(text.splitlines()) == 2


def test_a_dump_has_all_threads_and_ends_the_process(process, tmp_path):
    ended = subprocess.Popen([sys.executable, '-c', ''])
    ended.wait()
    stacks.dump({'one': process, 'ended': ended}, tmp_path)
    assert process.poll() is not None and 'call' in (tmp_path / 'one.stacks').read_text()
    assert 'in hang' in (tmp_path / 'log').read_text()
    assert [file.name for file in tmp_path.glob('*.stacks')] == ['one.stacks']
