# SPDX-License-Identifier: Apache-2.0
"""Small valid files of what comes after an identification, and of its further commands."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

import bodywise_example
import numpy as np
from bags import JOINT_STATE, TYPES, message
from collision_event import write_collision
from healthy_arm import MODEL, VALUES, recorded
from rosbags.rosbag2 import StoragePlugin, Writer
from simulation import arm, record

from robodyn_ros.cli.main import main
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.identification.files.parameter_text import parameter_text
from robodyn_ros.identification.files.result_file import model_parameters

PAIR = '<disable_collisions link1="l0" link2="l2" reason="Never"/>'
SRDF = f'<robot name="arm">\n  {PAIR}\n</robot>\n'
CYCLES = 1000
"""Length of the bag for `delay`, in servo cycles."""


def make_results(folder: Path) -> None:
    """Write the files into the folder of the corpus, which has arm.urdf."""
    text = (folder / 'arm.urdf').read_text()
    (folder / 'arm.srdf').write_text(SRDF)
    (folder / 'arm.urdf.xacro').write_text(text)
    bodywise_example.write(folder / 'bodies.csv')
    _passes(folder / 'passes.npz')
    _delay(folder / 'delay')
    _healthy(folder)
    write_collision(folder / 'events', folder / 'healthy.yaml').rename(folder / 'event')
    model, values = arm(text, friction=['viscous', 'coulomb'])
    motion = record(model, values, 2000, noise=0.01)
    _save(folder / 'run.npz', motion)
    _made(folder, 'identify run.npz --urdf arm.urdf --friction viscous,coulomb --out page')


def _made(folder: Path, command: str) -> None:
    """Let a command write a file of the corpus."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            assert main(command.split()) == 0, output.getvalue()
    finally:
        os.chdir(here)


def _save(path: Path, data: object) -> None:
    names = ('time', 'position', 'velocity', 'torque', 'joints')
    np.savez(path, **{name: getattr(data, name) for name in names})


def _passes(path: Path) -> None:
    """Write the recording of an experiment for friction."""
    motion = BidirectionalMotion(
        joints=['a', 'b'], start=[0.0, 0.0], target=[0.4, -0.4], speeds=[0.4, 0.7, 1.0],
        max_velocity=[1.0, 0.5], max_acceleration=[10.0, 10.0],
    ).grid(0.01)  # fmt: skip
    torque = 2.0 * motion.velocity + 3.0 * np.sign(motion.velocity)
    np.savez(path, times=motion.time, positions=motion.position, velocities=motion.velocity,
             torques=torque)  # fmt: skip


def _delay(folder: Path) -> None:
    """Write a bag whose joint states follow a command three cycles later."""
    stamps = 1_700_000_000 * 10**9 + 2_000_000 * np.arange(CYCLES)
    time, zero = 2e-3 * np.arange(CYCLES), np.zeros(2)
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, late in (
            ('/joint_states', 0.006),
            ('/joint_trajectory_controller/reference', 0.0),
        ):
            link = writer.add_connection(topic, JOINT_STATE, typestore=TYPES)
            values = 0.4 * np.sin(3.0 * (time[:, None] - late) + np.array([0.0, 1.0]))
            for stamp, row in zip(stamps.tolist(), values, strict=True):
                state = message(stamp, ['a', 'b'], row, zero, zero)
                writer.write(link, stamp, TYPES.serialize_cdr(state, JOINT_STATE))


def _healthy(folder: Path) -> None:
    """Write recordings without contact, their model, and the thresholds learned from them."""
    block = model_parameters(MODEL, VALUES, np.zeros_like(VALUES))
    (folder / 'healthy.yaml').write_text(parameter_text({'dynamic_model': block}))
    for seed in range(2):
        _save(folder / f'healthy{seed}.npz', recorded(60.0, seed))
    _made(folder, 'thresholds healthy0.npz healthy1.npz --model healthy.yaml '
          '--out thresholds.yaml')  # fmt: skip
