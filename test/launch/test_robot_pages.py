# SPDX-License-Identifier: Apache-2.0
"""The commands on the pages of drivers, run as they stand, on a fake driver each.

Only what needs the driver's own packages is left out: its launch file, and `robodyn` with the
description of its robot. The identification runs its motion at 10, 50 and
100 % of its speed, so that a page takes several minutes.
"""

import os
import shutil
import signal
import subprocess
from contextlib import ExitStack, contextmanager

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed (it comes with ROS 2)')
if shutil.which('ros2') is None:
    pytest.skip('there is no ros2 command (it comes with ROS 2)', allow_module_level=True)
from fences import DOCS, FENCE, commands
from robodyn_ros.msg import CollisionState, TorqueState

from bench.first_day.day import Day
from bench.first_day.kinds import KINDS
from robodyn_ros.cli.demo.client import Client
from robodyn_ros.cli.demo.processes import NodeProcesses
from robodyn_ros.cli.demo.ros_domain import describe_domain
from robodyn_ros.nodes.base.common import MONITOR_QOS

pytestmark = [pytest.mark.ros, pytest.mark.slow]
PAGES = {'ur': 'ur', 'franka': 'franka', 'lbr': 'kuka_lbr', 'ethercat': 'ethercat'}
OWN = 'my_robodyn.launch.py'
"""Launch file that a page shows."""
LONGEST = 1500.0
TOPICS = {
    'collision_monitor.launch.py': ('collision_monitor/collision_state', CollisionState),
    'feedforward.launch.py': ('feedforward/torque_state', TorqueState),
}


def write_files(page, kind, folder):
    """Write the files that a page shows."""
    for language, text in FENCE.findall((DOCS / page).read_text()):
        if language == 'yaml':
            (folder / text.split()[1].rstrip(':')).write_text(text)
        elif language == 'python':
            # The simulated robot has links of another shape, so another motion is in its file.
            text = text.replace(f"'{kind.robot}'", "'my_robot.yaml'") if kind.motion else text
            (folder / OWN).write_text(text)


@contextmanager
def launched(words, folder):
    """`ros2 launch`, as in a terminal of its own that ends with Ctrl-C."""
    log = folder / f'{words[-1 if len(words) == 3 else 3]}.log'.replace('/', '_')
    with log.open('w') as output:
        process = subprocess.Popen(
            words, cwd=folder, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30.0)
        finally:
            with pytest.raises(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert 'Traceback' not in log.read_text()


@pytest.mark.parametrize(('name', 'page'), PAGES.items())
def test_the_commands_lead_from_the_driver_to_a_watched_robot(name, page, tmp_path, monkeypatch):
    for variable, value in describe_domain(78).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.chdir(tmp_path)
    kind, file = KINDS[name], f'robots/{page}.md'
    write_files(file, kind, tmp_path)
    with NodeProcesses(tmp_path / 'log') as nodes, Client(nodes.check, simulated=False) as client:
        Day(kind, tmp_path, nodes, client)
        steps = [words for words in commands(file) if words[0] == 'ros2']
        steps = [words for words in steps if words[1] != 'launch' or is_ours(words)]
        run(steps, kind, client, tmp_path)
    results = [*tmp_path.rglob('result.yaml')]
    assert len(results) == 1 and (results[0].parent / 'report.html').exists()


def run(steps, kind, client, folder):
    """Run the commands; what is launched stays until the last one has ended."""
    with ExitStack() as terminals:
        for words in steps:
            if words[1] == 'launch':
                terminals.enter_context(launched(launch_line(words, folder), folder))
                wait_for(words[3], kind, client)
                continue
            done = subprocess.run(
                words, cwd=folder, capture_output=True, text=True, timeout=LONGEST
            )
            assert 'status: SUCCEEDED' in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


def is_ours(words):
    """Return False for the launch file of a driver."""
    return words[2] == 'robodyn_ros' or words[3] == OWN


def launch_line(words, folder):
    """The words with the folder of the result, or the launch file that the page shows."""
    if words[2] == 'my_cell':
        return ['ros2', 'launch', OWN]
    result = next(iter(folder.rglob('result.yaml')), folder)
    return [word.replace('DIR', str(result.parent)) for word in words]


def wait_for(file, kind, client):
    """Wait until a launch file has done what it is for."""
    if file in TOPICS:
        topic, message = TOPICS[file]
        heard = []
        name = f'{kind.namespace}/{topic}'
        client.node.create_subscription(message, name, heard.append, MONITOR_QOS)
        client.wait(lambda: heard and known(heard[-1]), 60.0, topic)


def known(state):
    """The robot is watched and free of contact, or torque is added."""
    if isinstance(state, CollisionState):
        return set(state.level) == {CollisionState.OK}
    return state.enabled


def test_the_commands_identify_a_simulated_axis(tmp_path, monkeypatch):
    for name, value in describe_domain(78).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    start, goal = commands('robots/single_axis.md')[-2:]
    with launched(start, tmp_path):
        done = subprocess.run(goal, capture_output=True, text=True, timeout=LONGEST)
    assert 'status: SUCCEEDED' in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    assert len([*tmp_path.rglob('result.yaml')]) == 1
