# SPDX-License-Identifier: Apache-2.0
"""Kinds of files with the commands that read them; weights keep slow commands rare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from robodyn_ros.cell.config import CellConfig
from robodyn_ros.control.collision.thresholds_file import read_thresholds
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.identification.files.base_result import load_base
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.recording.bags.bag_metadata import bag_metadata
from robodyn_ros.recording.bags.topic_bag import read_topic, topic_types
from robodyn_ros.robot_file import NODES, load_robot


@dataclass(frozen=True)
class Kind:
    """One kind of file.

    :param files: of the corpus, as paths; one is damaged
    :param form: of the mutations, see `mutate.mutated`
    :param commands: weight and words of each; FILE is the damaged file, OUT an output folder,
        BAG the folder of the damaged file, and a first word in `CALLS` is a function
    :param weight: relative number of cases
    """

    files: tuple[str, ...]
    form: str
    commands: tuple[tuple[int, str], ...]
    weight: float = 1.0


def _robot(path: str) -> None:
    robot = load_robot(path)
    for node in NODES:
        robot.parameters(node)
    if 'cell' in robot.content:
        CellConfig.from_yaml(robot.reference)


def _topics(path: str) -> None:
    topic_types(path)
    read_topic(path, '/joint_states', ('a', 'b'), lambda m: (m.name, (m.position,)))


CALLS: dict[str, Callable[[str], object]] = {
    'robot-file': _robot,
    'thresholds-file': read_thresholds,
    'result': load_identified_model,
    'base': lambda path: load_base(path, None),
    'effort': EffortDeclaration.from_file,
    'bag-facts': lambda path: bag_metadata(Path(path)),
    'topics': _topics,
}
"""Readers that no sub-command calls in a short time."""

EXCITE = '--time 0.1 --processes 0 --starts 1 --harmonics 2 --duration 6 --samples 30'
TABLE = ((20, 'check FILE --json'), (4, 'check FILE --joints a,b'), (1, 'check FILE --joints b'),
         (2, 'check FILE --columns columns.yaml'),
         (1, 'identify FILE --urdf arm.urdf --friction viscous --out OUT'))  # fmt: skip
BAG = ((20, 'check FILE --json'), (2, 'topics FILE'), (2, 'bag-facts FILE'),
       (1, 'identify FILE --urdf arm.urdf --friction viscous --effort Nm --out OUT'))  # fmt: skip
URDF = ((10, 'motion motion_sine.yaml --urdf FILE'), (1, 'check table.csv --urdf FILE'),
        (1, 'identify table.csv --urdf FILE --friction viscous --out OUT'),
        (1, 'compare --urdf FILE result_arm.yaml table.csv'),
        (1, f'excite --urdf FILE {EXCITE}'))  # fmt: skip
MOTIONS = ('sine', 'fourier', 'sine_sum', 'joint_moves', 'points', 'bidirectional', 'move',
           'chain')  # fmt: skip

KINDS = {
    'urdf': Kind(('arm.urdf',), 'text', URDF),
    'urdf with meshes': Kind(('meshed.urdf',), 'text', URDF),
    'mesh': Kind(('part.stl',), 'bytes', ((1, 'motion motion_sine.yaml --urdf BAG/meshed.urdf'),)),
    'robot': Kind(('robot.yaml',), 'yaml', (
        (10, 'motion motion_sine.yaml --robot FILE'), (20, 'robot-file FILE'),
        (1, 'motion motion_sine.yaml --robot FILE#slow'),
        (1, 'identify table.csv --robot FILE --out OUT'))),
    'model': Kind(('model.yaml', 'model_scara.yaml', 'model_puma2.yaml'), 'yaml', (
        (5, 'prg scara.PRG --model FILE --out OUT/r.yaml'),
        (1, 'motion motion_tool_moves.yaml --model FILE'))),
    'limits': Kind(('limits.yaml',), 'yaml', (
        (1, 'motion motion_sine.yaml --urdf arm.urdf --limits FILE'),)),
    'columns': Kind(('columns.yaml',), 'yaml', ((1, 'check table.csv --columns FILE'),)),
    'effort': Kind(('effort.yaml',), 'yaml', (
        (3, 'effort FILE'), (1, 'check mcap --effort FILE'))),
    'result': Kind(('result_arm.yaml', 'result_scara.yaml'), 'yaml', (
        (10, 'result FILE'), (2, 'base FILE'),
        (1, 'compare --urdf arm.urdf FILE table.csv'),
        (1, 'identify table.csv --payload --base FILE --out OUT'))),
    'prg': Kind(('scara.PRG',), 'text', (
        (3, 'prg FILE --model model_scara.yaml --out OUT/r.yaml'),
        (1, 'prg FILE --model model_scara.yaml --force --out OUT/r.yaml'))),
    'csv': Kind(('table.csv',), 'text', TABLE),
    'json': Kind(('table.jsonl',), 'text', TABLE),
    'parquet': Kind(('table.parquet',), 'bytes', TABLE),
    'hdf5': Kind(('table.h5',), 'bytes', TABLE, weight=0.1),
    'npz': Kind(('stored.npz', 'packed.npz'), 'zip', TABLE),
    'mat': Kind(('plain.mat', 'packed.mat', 'struct.mat', 'old.mat'), 'bytes', TABLE, weight=0.1),
    'mcap': Kind(('own.mcap', 'flat.mcap', 'zstd.mcap', 'lz4.mcap'), 'bytes', BAG),
    'bag of mcap': Kind(('mcap/mcap.mcap', 'big/big.mcap', 'own/own_0.mcap'), 'bytes', (
        (20, 'check BAG --json'), (4, 'topics BAG'))),
    'sqlite3': Kind(('rows.db3',), 'bytes', BAG),
    'bag of sqlite3': Kind(
        ('sqlite3/sqlite3.db3', 'by_message/by_message.db3', 'by_file/by_file.db3.zstd'),
        'bytes', ((10, 'check BAG --json'), (2, 'topics BAG'))),
    'metadata': Kind(
        tuple(f'{name}/metadata.yaml' for name in ('mcap', 'own', 'sqlite3', 'by_message')),
        'yaml', ((10, 'check BAG --json'), (2, 'topics BAG'), (2, 'bag-facts BAG'))),
    'trajectory': Kind(tuple(f'motion_{name}.yaml' for name in MOTIONS), 'yaml', (
        (20, 'motion FILE --urdf arm.urdf'), (1, 'motion FILE --urdf arm.urdf --out OUT'))),
    'srdf': Kind(('arm.srdf',), 'text', (
        (1, 'motion motion_sine.yaml --urdf arm.urdf --srdf FILE'),)),
    'xacro': Kind(('arm.urdf.xacro',), 'text', (
        (1, 'motion motion_sine.yaml --urdf FILE'),), weight=0.5),
    'bodywise': Kind(('bodies.csv',), 'text', ((3, 'bodywise FILE'), (1, 'bodywise FILE --json'))),
    'thresholds': Kind(('thresholds.yaml',), 'yaml', (
        (4, 'thresholds-file FILE'),
        (1, 'collisions healthy0.npz --thresholds FILE --model healthy.yaml --out OUT/c.csv'))),
    'healthy recording': Kind(('healthy0.npz',), 'zip', (
        (2, 'collisions FILE --thresholds thresholds.yaml --model healthy.yaml'),
        (1, 'thresholds FILE healthy1.npz --model healthy.yaml --out OUT/t.yaml')), weight=0.5),
    'event': Kind(
        ('event/event_0.mcap', 'event/metadata.yaml'), 'bytes', ((1, 'collisions BAG'),)),
    'settings of an event': Kind(('event/settings.yaml',), 'yaml', ((1, 'collisions BAG'),)),
    'report': Kind(('page/result.json',), 'json', (
        (1, 'report BAG --out OUT/p.html'),), weight=0.5),
    'report of a result': Kind(('page/result.yaml',), 'yaml', (
        (1, 'report BAG --out OUT/p.html'), (1, 'report FILE --out OUT/p.html'))),
    'report of signals': Kind(
        ('page/identification/identification_0.mcap', 'page/identification/metadata.yaml'),
        'bytes', ((1, 'report BAG --out OUT/p.html'),)),
    'delay': Kind(('delay/delay.mcap', 'delay/metadata.yaml'), 'bytes', (
        (3, 'delay BAG'), (1, 'delay BAG --out OUT')), weight=0.5),
    'friction': Kind(('passes.npz',), 'zip', (
        (20, 'friction FILE --joints a,b'),
        (20, 'friction FILE --joints a,b --friction linear --json'),
        (1, 'friction FILE --joints a,b --out OUT'))),
    'advise': Kind(('motion_sine.yaml', 'robot.yaml', 'parameters_motion.yaml'), 'yaml', (
        (1, 'advise FILE --urdf arm.urdf'),)),
    'tool trajectory': Kind(('motion_tool_moves.yaml',), 'yaml', (
        (1, 'motion FILE --model model.yaml'),)),
}  # fmt: skip
