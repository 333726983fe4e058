# SPDX-License-Identifier: Apache-2.0
"""Start and end of the program `robodyn`: signals and closed streams."""

import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest

from robodyn_ros.runs.entry import interruptible

PROGRAM = str(Path(__file__).resolve().parents[2] / 'scripts' / 'robodyn')
MOTION = ['motion', 'axis.yaml', '--robot', 'axis.yaml']
ROBOTS = Path(__file__).resolve().parents[2] / 'config' / 'robots'


@pytest.mark.slow
@pytest.mark.parametrize('number', (0, 6, 12))
def test_ctrl_c_in_the_first_second_is_one_line_or_silent(number):
    # before Python has its handler, a few milliseconds, the signal itself ends the process: a
    # shell says 130 then, too
    command = [PROGRAM, 'excite', '--robot', 'six_axis']
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, start_new_session=True) as run:
        time.sleep(0.05 * number)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60.0)
    assert run.returncode in (130, -signal.SIGINT) and said.count('\n') <= 1, said
    assert 'Traceback' not in said


def test_a_signal_ends_the_work_by_an_exception():
    for number, expected in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)):
        before = signal.getsignal(number)
        with pytest.raises(expected), interruptible():
            signal.raise_signal(number)
        assert signal.getsignal(number) is before


def test_an_interrupt_that_python_ignores_is_repeated():
    class Item:
        pass

    def interrupted(_):
        raise KeyboardInterrupt

    item = Item()
    reference = weakref.ref(item, interrupted)
    with pytest.raises(KeyboardInterrupt), interruptible():
        del item
        deadline = time.monotonic() + 20.0
        while time.monotonic() < deadline:
            pass
    assert reference() is None


@pytest.mark.parametrize(
    ('streams', 'code', 'said'),
    [
        ('> /dev/full', 2, 'error: the output cannot be written: No space left on device\n'),
        ('> /dev/full 2>&1', 2, ''),
        ('--wrong 2>&-', 2, ''),
        ('<&- >&- 2>&-', 0, ''),
    ],
)
def test_full_and_closed_streams(streams, code, said):
    command = f'exec {sys.executable} {PROGRAM} {" ".join(MOTION)} {streams}'
    run = subprocess.run(
        ['sh', '-c', command], cwd=ROBOTS, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (code, said)
    assert ('20.000 s' in run.stdout or '>' in streams) and 'unexpected' not in run.stdout


def test_a_closed_stream_leaves_no_place_for_another_file(tmp_path):
    (tmp_path / 'run.py').write_text(
        'from robodyn_ros.runs.entry import prepare\nprepare()\nfrom probe import main\nmain()\n'
    )
    (tmp_path / 'probe.py').write_text(
        'import os\n\n\ndef main():\n    print(os.open("/dev/null", os.O_RDONLY))\n    return 0\n'
    )
    run = subprocess.run(
        ['sh', '-c', 'exec "$0" "$1" 2>&-', sys.executable, str(tmp_path / 'run.py')],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert int(run.stdout) > 2
