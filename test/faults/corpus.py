# SPDX-License-Identifier: Apache-2.0
"""Small valid files of every kind that the suite reads, the same in every run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import struct
from pathlib import Path

import bodywise_example
import h5py
import lz4.frame
import numpy as np
import pandas
import yaml
import zstandard
from bags import JOINT_STATE, TYPES, cdr, message, write_bag, write_topics
from collision_event import write_collision
from healthy_arm import MODEL, VALUES, recorded
from mcap.opcode import Opcode
from prg_results import KINDS, model_of, result_of
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from scipy.io import savemat
from simulation import arm
from simulation import record as recording_of
from writers import write_csv, write_rosbag

from robodyn_ros.cli.main import main
from robodyn_ros.excitation.motions.bidirectional import BidirectionalMotion
from robodyn_ros.identification.files.prg import prg_text
from robodyn_ros.identification.files.result_file import model_parameters, parameter_text
from robodyn_ros.models.catalog import build_model
from robodyn_ros.recording.bags.mcap import MAGIC
from robodyn_ros.recording.recording import Recording

JOINTS = ('a', 'b')
START = 1_700_000_000 * 10**9
PERIOD = 0.01
LINK = """  <link name="{name}">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0 0 0"/>
      <mass value="2.0"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>
    </inertial>
    <collision>
      <origin xyz="0.1 0 0" rpy="0 0 0"/>
      <geometry>{shape}</geometry>
    </collision>
  </link>
"""
JOINT = """  <joint name="{name}" type="revolute">
    <parent link="{parent}"/>
    <child link="{child}"/>
    <origin xyz="0.4 0 0.1" rpy="1.5707963 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="4" effort="100"/>
  </joint>
"""
SPACE = {
    'floor': -2.0, 'box': [-2.0, -2.0, -2.0, 2.0, 2.0, 2.0], 'frames': ['l2'], 'clearance': 0.001,
    'obstacles': [1.5, 1.5, 1.5, 1.9, 1.9, 1.9], 'self_collision': True,
}  # fmt: skip
MOTIONS = {
    'sine': {
        'kind': 'sine', 'joints': list(JOINTS), 'start': [-0.5, 0.3], 'target': [0.5, -0.3],
        'frequency': [0.5, 0.7], 'lead_in': 0.5, 'lead_out': 0.5, 'duration': 4.0,
    },
    'fourier': {
        'kind': 'fourier', 'joints': list(JOINTS), 'center': [0.0, 0.1], 'base_frequency': 0.2,
        'a': [[0.1, 0.05], [0.1, 0.02]], 'b': [[0.1, 0.0], [0.0, 0.1]],
    },
    'sine_sum': {
        'kind': 'sine_sum', 'joints': list(JOINTS), 'center': [0.0, 0.1], 'duration': 4.0,
        'amplitude': [[0.1, 0.05], [0.1, 0.02]], 'frequency': [[0.5, 1.0], [0.7, 1.1]],
    },
    'joint_moves': {
        'kind': 'joint_moves', 'joints': list(JOINTS), 'velocity': 1.0, 'acceleration': 2.0,
        'points': [[0.0, 0.0], [0.5, 0.2], [-0.2, 0.4]], 'fly_by': 0.5, 'jerk': 20.0,
    },
    'points': {
        'kind': 'points', 'joints': list(JOINTS), 'time': [0.0, 1.0, 2.0],
        'position': [[0.0, 0.0], [0.1, 0.1], [0.0, 0.2]],
        'velocity': [[0.0, 0.0], [0.1, 0.0], [0.0, 0.0]],
    },
    'bidirectional': {
        'kind': 'bidirectional', 'joints': list(JOINTS), 'start': [-0.5, 0.3],
        'target': [0.5, -0.3], 'speeds': [0.3, 1.0], 'max_velocity': [2.0, 2.0],
        'max_acceleration': [3.0, 3.0],
    },
    'move': {'kind': 'move', 'joints': list(JOINTS), 'start': [0.0, 0.0], 'target': [0.2, 0.1],
             'duration': 2.0},
    'tool_moves': {
        'kind': 'tool_moves', 'joints': ['j1', 'j2', 'j3', 'j4'], 'speed': 0.2,
        'acceleration': 0.5,
        'robot': {'kind': 'scara', 'axes': 4, 'geometry': {'L1': 0.3, 'L2': 0.2}},
        'start': [0.3, 0.2, 0.0, 0.0], 'moves': [{'target': [0.2, 0.3, 0.0, 0.0]}],
    },
}  # fmt: skip

PAIR = '<disable_collisions link1="l0" link2="l2" reason="Never"/>'
SRDF = f'<robot name="arm">\n  {PAIR}\n</robot>\n'
SCENE = '(noname)+\n' + ''.join(
    f'* {shape}\n1.5 1.5 1.5\n0 0 0 1\n1\n{text}\n0 0 0\n0 0 0 1\n0 0 0 0\n0\n'
    for shape, text in {
        'a box': 'box\n0.1 0.1 0.1', 'ball': 'sphere\n0.1', 'post': 'cylinder\n0.1 0.2',
        'hat': 'cone\n0.1 0.2', 'part': 'mesh\n4 1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n0 1 2',
    }.items()
) + '.\n'  # fmt: skip
COMMANDS = (
    'thresholds healthy0.npz healthy1.npz --model healthy.yaml --out thresholds.yaml',
    'identify run.npz --urdf arm.urdf --friction viscous,coulomb --out page',
)
"""Commands that write files of the corpus."""


def make_corpus(folder: Path) -> None:
    """Write the files into an empty folder."""
    rng = np.random.default_rng(14)
    recording = _recording(rng)
    _robots(folder)
    _tables(folder, recording)
    _bags(folder, recording)
    _results(folder, rng)
    _made_by_commands(folder)


def _recording(rng: np.random.Generator) -> Recording:
    time = PERIOD * np.arange(300)
    phase = 2 * np.pi * np.outer(time, [0.5, 0.8])
    noise = [rng.normal(scale=1e-4, size=(len(time), 2)) for _ in range(3)]
    position, velocity = np.sin(phase), np.cos(phase) * 2 * np.pi * [0.5, 0.8]
    torque = 2.0 * position + 0.5 * velocity
    return Recording(
        time, JOINTS, position + noise[0], torque + noise[1], velocity + noise[2], origin=START
    )


def _urdf(shapes: tuple[str, ...]) -> str:
    links = ''.join(
        LINK.format(name=f'l{number}', shape=shape) for number, shape in enumerate(shapes)
    )
    joints = ''.join(
        JOINT.format(name=name, parent=f'l{number}', child=f'l{number + 1}')
        for number, name in enumerate(JOINTS)
    )
    return f'<robot name="arm">\n{links}{joints}</robot>\n'


def _robots(folder: Path) -> None:
    box = '<box size="0.05 0.05 0.05"/>'
    mesh = '<mesh filename="part.stl" scale="1 1 1"/>'
    (folder / 'arm.urdf').write_text(_urdf((box, '<sphere radius="0.04"/>', box)))
    (folder / 'meshed.urdf').write_text(_urdf((mesh, box, mesh)))
    (folder / 'part.stl').write_bytes(_stl())
    limits = {
        name: {'max_velocity': 3.0, 'max_acceleration': 40.0, 'has_acceleration_limits': True}
        for name in JOINTS
    }
    effort = {'unit': 'Nm', 'side': 'joint', 'gravity': 'included'}
    files = {
        'limits': {'joint_limits': limits},
        'effort': {'effort': effort},
        'columns': {
            'joints': list(JOINTS), 'time': {'columns': 'time', 'unit': 's'},
            'position': {'columns': ['q_a', 'q_b'], 'unit': 'deg', 'offset': [0.1, 0.0]},
            'torque': {'columns': ['tau_a', 'tau_b'], 'unit': 'mA', 'scale': [0.1, 2]},
        },
        'robot': {
            'urdf': 'arm.urdf', 'limits': limits, 'effort': effort,
            'excitation': {'motion': MOTIONS['sine'], 'settling_time': 0.5, 'optimise': SPACE},
            'identification': {'filter_cutoff_frequency': 20.0},
            'feedforward': {'max_torque': [10.0, 5.0], 'velocity_window': [0.01]},
            'collision_monitor': {'max_torque_error': [5.0, 2.0]},
            'cell': {'defaults': {'encoder_bits': 20}, 'joints': {'a': {'gear_ratio': 80}}},
            'variants': {'slow': {'limits': {'a': {'max_velocity': 1.0}}}},
        },
    }  # fmt: skip
    files['parameters_motion'] = {
        'excitation': {'ros__parameters': {'joints': list(JOINTS), 'motion': MOTIONS['sine']}}
    }
    files['model'] = {
        'kind': 'scara', 'dynamic_model': 1, 'joints': [f'j{k}' for k in range(1, 5)],
        'geometry': {'L1': 0.3, 'L2': 0.2}, 'friction': ['viscous', 'coulomb'],
    }  # fmt: skip
    files |= {f'motion_{name}': motion for name, motion in MOTIONS.items()}
    moves = [MOTIONS['move'], MOTIONS['move'] | {'start': [0.2, 0.1], 'target': [0.0, 0.0]}]
    files['motion_chain'] = {'kind': 'chain', 'parts': moves}
    for name, content in files.items():
        (folder / f'{name}.yaml').write_text(yaml.safe_dump(content, sort_keys=False))


def _stl() -> bytes:
    """Return a tetrahedron as a binary STL."""
    corners = 0.05 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype='<f4')
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    data = b''.join(
        np.vstack([[0, 0, 1], corners[list(face)]]).astype('<f4').tobytes() + b'\0\0'
        for face in faces
    )
    return bytes(80) + struct.pack('<I', len(faces)) + data


def _tables(folder: Path, recording: Recording) -> None:
    write_csv(recording, folder / 'table.csv')
    frame = pandas.read_csv(folder / 'table.csv')
    frame.to_parquet(folder / 'table.parquet')
    frame.to_json(folder / 'table.jsonl', orient='records', lines=True)
    arrays = {
        'time': recording.time, 'q': recording.position, 'tau': recording.torque,
        'qd': recording.velocity, 'joint_names': np.array(JOINTS),
    }  # fmt: skip
    with h5py.File(folder / 'table.h5', 'w') as file:
        for name in ('time', 'q', 'tau', 'qd'):
            file.create_dataset(f'log/{name}', data=arrays[name], compression='gzip')
    np.savez(folder / 'stored.npz', **arrays)
    np.savez_compressed(folder / 'packed.npz', **arrays)
    names = np.array(JOINTS, dtype=object)
    for name, packed in {'plain': False, 'packed': True}.items():
        content = arrays | {'joint_names': names}
        savemat(folder / f'{name}.mat', content, do_compression=packed)
    savemat(folder / 'struct.mat', {'data': arrays | {'joint_names': names}})
    savemat(folder / 'old.mat', {k: arrays[k] for k in ('time', 'q', 'tau')}, format='4')


def _bags(folder: Path, recording: Recording) -> None:
    write_rosbag(recording, folder / 'own', metadata={'robodyn_effort': json.dumps(
        {'unit': 'SI', 'side': 'joint', 'gravity': 'included'})})  # fmt: skip
    shutil.copy(folder / 'own' / 'own_0.mcap', folder / 'own.mcap')
    stamps = [START + round(1e9 * time) for time in recording.time]
    signals = zip(recording.position, recording.velocity, recording.torque, strict=True)
    messages = [
        (stamp, message(stamp, JOINTS, *values))
        for stamp, values in zip(stamps, signals, strict=True)
    ]
    encoded = [(time, cdr(state)) for time, state in messages]
    for plugin in StoragePlugin:
        write_bag(folder / plugin.name.lower(), encoded, plugin=plugin)
    write_bag(folder / 'big', [(t, cdr(m, little_endian=False)) for t, m in messages[:50]])
    for mode in (CompressionMode.MESSAGE, CompressionMode.FILE):
        writer = Writer(folder / f'by_{mode.name.lower()}', version=9)
        writer.set_compression(mode, CompressionFormat.ZSTD)
        with writer:
            link = writer.add_connection('/joint_states', JOINT_STATE, typestore=TYPES)
            for time, data in encoded[:50]:
                writer.write(link, time, data)
    for name in ('zstd', 'lz4'):
        (folder / f'{name}.mcap').write_bytes(flat_mcap(encoded[:100], compression=name))
    (folder / 'flat.mcap').write_bytes(flat_mcap(encoded))
    shutil.copy(folder / 'sqlite3' / 'sqlite3.db3', folder / 'rows.db3')


def flat_mcap(messages: list[tuple[int, bytes]], *, compression: str | None = None) -> bytes:
    """Return an MCAP file without checksums, so that damage gets to the decoder.

    :param compression: of its chunk; None: no chunk
    """
    schema = struct.pack('<H', 1) + text(JOINT_STATE) + text('ros2msg') + text('')
    channel = struct.pack('<HH', 1, 1) + text('/joint_states') + text('cdr') + bytes(4)
    body = record(Opcode.SCHEMA, schema) + record(Opcode.CHANNEL, channel)
    body += b''.join(
        record(Opcode.MESSAGE, struct.pack('<HIQQ', 1, 0, time, time) + data)
        for time, data in messages
    )
    if compression is not None:
        body = chunk(body, compression)
    head = MAGIC + record(Opcode.HEADER, text('ros2') + text(''))
    return (
        head + body + record(Opcode.DATA_END, bytes(4)) + record(Opcode.FOOTER, bytes(20)) + MAGIC
    )


def record(code: int, content: bytes) -> bytes:
    """Return a record of MCAP."""
    return struct.pack('<BQ', code, len(content)) + content


def text(value: str) -> bytes:
    """Return a text in a record of MCAP."""
    return struct.pack('<I', len(value)) + value.encode()


def chunk(body: bytes, compression: str, size: int | None = None) -> bytes:
    """Return a chunk record without checksum; `size` is its declared size."""
    packed = {'zstd': zstandard.compress, 'lz4': lz4.frame.compress, '': bytes}[compression](body)
    sizes = struct.pack('<QQQI', 0, 0, len(body) if size is None else size, 0)
    return record(
        Opcode.CHUNK, sizes + text(compression) + struct.pack('<Q', len(packed)) + packed
    )


def _results(folder: Path, rng: np.random.Generator) -> None:
    urdf = {'kind': 'urdf', 'urdf': (folder / 'arm.urdf').read_text(), 'joints': list(JOINTS)}
    for name, description in {'scara': KINDS['scara'], 'arm': urdf}.items():
        friction = {'friction': ['viscous', 'coulomb']}
        number = {'dynamic_model': 1} if name == 'scara' else {}
        model = build_model({**description, **number, **friction})
        values = rng.uniform(0.5, 1.5, len(model.parameters))
        block = {'dynamic_model': model_parameters(model, values, 0.1 * values)}
        content = {'/**': {'ros__parameters': block}}
        (folder / f'result_{name}.yaml').write_text(yaml.safe_dump(content, width=10**6))
    for name in ('scara', 'puma2'):
        model = model_of(name)
        values = np.linspace(0.5, 1.5, len(model.parameters))
        (folder / f'{name}.PRG').write_text(prg_text(result_of(model, values)))
        (folder / f'model_{name}.yaml').write_text(yaml.safe_dump(model.describe()))


def _made_by_commands(folder: Path) -> None:
    """Write what comes after an identification, and the files of further commands."""
    text = (folder / 'arm.urdf').read_text()
    (folder / 'arm.srdf').write_text(SRDF)
    (folder / 'arm.scene').write_text(SCENE)
    (folder / 'arm.urdf.xacro').write_text(text)
    bodywise_example.write(folder / 'bodies.csv')
    passes = BidirectionalMotion(
        joints=['a', 'b'], start=[0.0, 0.0], target=[0.4, -0.4], speeds=[0.4, 0.7, 1.0],
        max_velocity=[1.0, 0.5], max_acceleration=[10.0, 10.0],
    ).grid(0.01)  # fmt: skip
    torque = 2.0 * passes.velocity + 3.0 * np.sign(passes.velocity)
    np.savez(folder / 'passes.npz', times=passes.time, positions=passes.position,
             velocities=passes.velocity, torques=torque)  # fmt: skip
    _delay(folder / 'delay')
    block = model_parameters(MODEL, VALUES, np.zeros_like(VALUES))
    (folder / 'healthy.yaml').write_text(parameter_text({'dynamic_model': block}))
    for seed in range(2):
        _save(folder / f'healthy{seed}.npz', recorded(60.0, seed))
    write_collision(folder / 'events', folder / 'healthy.yaml').rename(folder / 'event')
    model, values = arm(text, friction=['viscous', 'coulomb'])
    _save(folder / 'run.npz', recording_of(model, values, 2000, noise=0.01))
    here = Path.cwd()
    os.chdir(folder)
    try:
        for command in COMMANDS:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                assert main(command.split()) == 0, output.getvalue()
    finally:
        os.chdir(here)


def _save(path: Path, data: object) -> None:
    names = ('time', 'position', 'velocity', 'torque', 'joints')
    np.savez(path, **{name: getattr(data, name) for name in names})


def _delay(folder: Path) -> None:
    """Write a bag whose joint states follow a command three cycles of 2 ms later."""
    time, zero = 2e-3 * np.arange(1000), np.zeros(2)
    late = {'/joint_states': 0.006, '/joint_trajectory_controller/reference': 0.0}
    write_topics(folder, {
        topic: [
            message(START + round(1e9 * at), JOINTS, row, zero, zero)
            for at, row in zip(
                time, 0.4 * np.sin(3.0 * (time[:, None] - by) + np.arange(2.0)), strict=True
            )
        ]
        for topic, by in late.items()
    })  # fmt: skip
