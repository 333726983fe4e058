# SPDX-License-Identifier: Apache-2.0
"""Time per message of the wire codec: live JointState reader, bag decoder and trajectories.

CPU time of this process, the best of several runs. Run: `python bench/bench_wire.py`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'test/support'))

from writers import joint_states

from robodyn_ros.nodes.robot.joint_states import JointStateReader
from robodyn_ros.nodes.robot.trajectory_message import read_trajectory
from robodyn_ros.recording.bags.joint_state_decoder import JointStateDecoder
from robodyn_ros.recording.recording import Recording
from robodyn_ros.wire.trajectory import write_trajectory

RUNS = 7
LIVE = 20_000
"""Messages per run of the live reader."""
BAG = 200_000
"""Messages per run of the bag decoder."""
POINTS = 15_000
"""Points of the trajectory: 30 s at 500 Hz."""


def best(work: Callable[[], object]) -> float:
    """Return the smallest CPU time of several runs, in [s]."""
    times = []
    for _ in range(RUNS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    """Print the times."""
    joints = tuple(f'shoulder_{number}_joint' for number in range(1, 7))
    values = np.random.default_rng(0).normal(size=(BAG, 6))
    stamps = 0.001 * np.arange(BAG)
    recording = Recording(
        time=stamps, joints=joints, position=values, velocity=values, torque=values
    )
    encoded = best(lambda: sum(1 for _ in joint_states(recording)))
    messages = list(joint_states(recording))
    reader = JointStateReader(joints)
    live = [data for _, data in messages[:LIVE]]

    def read_live() -> None:
        for data in live:
            reader.read_bytes(data)

    def decode_bag() -> None:
        decoder = JointStateDecoder()
        decoder.add_all(messages)
        decoder.finish()

    def write() -> bytes:
        points = values[:POINTS]
        return write_trajectory(stamp=1, joints=joints, time=stamps[:POINTS], fields=[points] * 4)

    written = write()
    print(f'live reader          {1e6 * best(read_live) / LIVE:8.2f} us per message')
    print(f'bag decoder          {1e6 * best(decode_bag) / BAG:8.2f} us per message')
    print(f'JointState writer    {1e6 * encoded / BAG:8.2f} us per message')
    print(f'trajectory reader    {1e3 * best(lambda: read_trajectory(written)):8.2f} ms')
    print(f'trajectory writer    {1e3 * best(write):8.2f} ms')


if __name__ == '__main__':
    main()
