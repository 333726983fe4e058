# SPDX-License-Identifier: Apache-2.0
"""Self-collision of designed motions of public robots, by brute force on a grid of 1 ms.

    pip install --no-deps --target /tmp/robots example-robot-data
    python bench/bench_self_collision.py /tmp/robots [--seeds 3] [--robots ur5,panda] [--time 4]

designs motions with `design_motion`, and measures the distance of every pair of links that is
checked at every millisecond, without the bounds by which the check leaves out most of them.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # it searches in this process

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from robodyn_ros.errors import RobodynError  # noqa: E402
from robodyn_ros.excitation.collisions.self_collision import SelfCollisionLimit  # noqa: E402
from robodyn_ros.excitation.design_motion import design_motion  # noqa: E402
from robodyn_ros.models.catalog import robot_model  # noqa: E402

SHARE = 'cmeel.prefix/share'
ROBOTS = {
    'ur3': 'ur_description/urdf/ur3_robot.urdf',
    'ur5': 'ur_description/urdf/ur5_robot.urdf',
    'ur10': 'ur_description/urdf/ur10_robot.urdf',
    'ur5_gripper': 'ur_description/urdf/ur5_gripper.urdf',
    'panda': 'panda_description/urdf/panda.urdf',
    'xarm7': 'xarm_description/urdf/xarm7.urdf',
    'kinova': 'kinova_description/robots/kinova.urdf',
    'z1': 'z1_description/urdf/z1.urdf',
    'so100': 'so_arm_description/urdf/so100.urdf',
    'so101': 'so_arm_description/urdf/so101.urdf',
    'talos_left_arm': 'talos_data/robots/talos_left_arm.urdf',
}
"""Arms of example-robot-data 6."""
HAND = 'finger|gripper|knuckle|Gripper'
"""Names of joints that are held."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('folder', nargs='?', help='where pip put example-robot-data')
    parser.add_argument('--robots', default=','.join(ROBOTS))
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--time', type=float, default=4.0, help='of each search, in s')
    parser.add_argument('--duration', type=float, default=10.0, help='of each motion, in s')
    arguments = parser.parse_args()
    share = found(arguments.folder)
    if share is None:
        print('skipped: example-robot-data is not installed; see --help')
        return 0
    os.environ['ROS_PACKAGE_PATH'] = str(share)  # for package://example-robot-data/...
    began, hits, refused, count = time.monotonic(), 0, 0, 0
    for name in arguments.robots.split(','):
        for seed in range(1, arguments.seeds + 1):
            count += 1
            urdf = share / 'example-robot-data/robots' / ROBOTS[name]
            try:
                distance, text = judged(urdf, seed, arguments)
                hits += distance < 0.0
            except RobodynError as error:
                refused += 1
                text = f'refused: {error}'
            print(f'{name:15} seed {seed}  {text}', flush=True)
    print(
        f'{hits} of {count - refused} motions collide ({refused} refused), '
        f'{time.monotonic() - began:.0f} s'
    )
    return int(hits > 0)


def found(folder: str | None) -> Path | None:
    """Return the share folder of the robots: below a folder, or of the installed package."""
    places = [Path(folder)] if folder else [Path(entry) for entry in sys.path if entry]
    return next((p / SHARE for p in places if (p / SHARE / 'example-robot-data').is_dir()), None)


def arm_joints(urdf: Path) -> list[str]:
    """Return the moving joints of a URDF without those of its hand."""
    return [
        joint.get('name', '')
        for joint in ET.parse(urdf).getroot().findall('joint')
        if joint.get('type') in ('revolute', 'continuous', 'prismatic')
        and joint.find('mimic') is None
        and not re.search(HAND, joint.get('name', ''))
    ]


def judged(urdf: Path, seed: int, arguments: argparse.Namespace) -> tuple[float, str]:
    """Return the smallest distance of two links in a designed motion, in [m], and a note."""
    model = robot_model(urdf, joints=arm_joints(urdf), friction=())
    motion = design_motion(
        model, urdf=urdf, seed=seed, time=arguments.time, duration=arguments.duration
    ).trajectory
    geometry = SelfCollisionLimit(str(urdf)).rule(model).geometry
    grid = motion.grid(0.001)
    columns = [motion.joints.index(name) for name in model.joint_names]
    pairs = range(len(geometry.pairs))
    distances = np.array(
        [[geometry.distance(pair, row) for pair in pairs] for row in grid.position[:, columns]]
    )
    least = float(distances.min())
    return least, f'smallest distance of {len(pairs)} pairs {1e3 * least:.1f} mm'


if __name__ == '__main__':
    sys.exit(main())
