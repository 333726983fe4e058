# SPDX-License-Identifier: Apache-2.0
"""Replay of the events of a real collision monitor, bit by bit.

The arm of `bench_reactions.py` has contacts of random joints, sizes and directions. Before each of
them, the operation changes at random: sensitivity, task, mute, payload, lost and damaged samples.
One round has the filtered torque error, one the observer with friction tracking.
`python bench/bench_black_box.py [--events 100] [--seed 1]`; exit code 1 if any event differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench')]

from bench_reactions import Bench  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import SetParameters  # noqa: E402
from robodyn_ros.srv import Mute, SetPayload, SetTask  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from robodyn_ros.control.collision.black_box.event_file import read_event  # noqa: E402
from robodyn_ros.control.collision.black_box.replay import replay  # noqa: E402

TASKS = (
    'tasks.names:=[screw, place]', 'tasks.screw.longest:=5.0', 'tasks.screw.sensitivity:=1.7',
    'tasks.place.longest:=0.5', 'tasks.place.mute:=true', 'tasks.place.sensitivity:=0.6',
    'black_box_size:=2000.0', 'stale_timeout:=0.1',
)  # fmt: skip
ROUNDS = (
    ('residual:=filtered',),
    ('residual:=observer', 'friction_tracking:=0.3'),
)


class Mixed(Bench):
    """The arm, and changes of the operation between its contacts."""

    def __init__(self, folder: Path, extra: tuple[str, ...], random: np.random.Generator) -> None:
        super().__init__(folder, (*TASKS, *extra))
        self.random = random
        self.clients = {
            kind: self.node.create_client(kind, f'collision_monitor/{name}')
            for kind, name in ((SetParameters, 'set_parameters'), (SetTask, 'set_task'),
                               (Mute, 'mute'), (SetPayload, 'set_payload'))
        }  # fmt: skip

    def call(self, kind: Any, **fields: Any) -> None:
        self.clients[kind].call_async(kind.Request(**fields))

    def change(self) -> None:
        """Change the operation at random."""
        draw = self.random.random()
        if (what := int(self.random.integers(7))) == 0:
            value = ParameterValue(
                type=ParameterType.PARAMETER_DOUBLE, double_value=0.5 + 1.5 * draw
            )
            self.call(SetParameters, parameters=[Parameter(name='sensitivity', value=value)])
        elif what == 1:
            self.call(SetTask, task=str(self.random.choice(['screw', 'place', '', 'unknown'])))
        elif what == 2:
            self.call(Mute, duration=Duration(nanosec=int(8e8 * draw)))
        elif what == 3:
            self.call(SetPayload, mass=float(3.0 * draw))
        elif what == 4:
            self.damaged = int(self.random.integers(1, 4))
        elif what == 5:
            time.sleep(0.3 * draw)

    def event(self) -> None:
        """Change something, touch the arm, go away and reset."""
        self.change()
        self.run(float(self.random.uniform(0.1, 0.6)))
        self.joint = int(self.random.integers(6))
        self.latched[0] = self.commands[0] = 0
        self.run(0.6, push=float(self.random.choice([-1, 1]) * self.random.uniform(30.0, 150.0)))
        self.change()
        self.run(0.3)
        self.reset.call_async(Trigger.Request())
        self.run(0.2)


def main() -> int:
    """Make events, replay them and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--events', type=int, default=100, help='about so many contacts')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    calls, levels, rows, count, differing = Counter(), Counter(), 0, 0, []
    for number, extra in enumerate(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            bench = Mixed(Path(folder), extra, np.random.default_rng([options.seed, number]))
            try:
                bench.run(3.0)
                for _ in range(options.events // len(ROUNDS)):
                    bench.event()
            finally:
                bench.close()
            for path in sorted((Path(folder) / 'events').iterdir()):
                event = read_event(path)
                count, rows = count + 1, rows + len(event.rows.times)
                calls += Counter(name for _, name, _ in event.rows.calls)
                levels += Counter(event.rows.level.ravel().tolist())
                if found := replay(event):
                    differing.append(f'{path.name}: {found}')
    print(f'{count} events, {rows} calls, of these {dict(calls)}; levels of joints {dict(levels)}')
    print(f'{len(differing)} events differ', *differing, sep='\n')
    return int(bool(differing))


if __name__ == '__main__':
    sys.exit(main())
