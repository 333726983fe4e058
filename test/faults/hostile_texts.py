# SPDX-License-Identifier: Apache-2.0
"""Hostile texts: YAML, metadata of bags, trajectories, URDF and PRG."""

from __future__ import annotations

import yaml
from faults.corpus import MOTIONS


def _nested(*, mapping: bool = False, depth: int = 100_000) -> str:
    return '{a: ' * depth + '1' + '}' * depth if mapping else '[' * depth + ']' * depth


def _aliases(width: int = 10, levels: int = 10) -> str:
    rows = ['a0: &a0 [' + ', '.join(['1'] * width) + ']']
    rows += [f'a{n}: &a{n} [{", ".join([f"*a{n - 1}"] * width)}]' for n in range(1, levels)]
    return '\n'.join(rows)


def _merges(levels: int = 26) -> str:
    rows = ['a0: &a0 {x: 1}']
    rows += [f'a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}' for n in range(1, levels)]
    return '\n'.join(rows)


YAML = {
    'nested sequences': _nested(),
    'nested mappings': _nested(mapping=True),
    'nested blocks': '- ' * 100_000 + '1',
    'nested keys': '? ' * 50_000 + '1',
    'alias bomb': _aliases(),
    'merge bomb': _merges(),
    'alias of itself': '&a [*a]',
    'mapping of itself': '&a {urdf: arm.urdf, limits: *a, kind: chain, parts: [*a]}',
    'key that is itself': '&a {*a : 1}',
    'many values': '[' + '1,' * 3_000_000 + '1]',
    'long number': 'a: ' + '9' * 5000,
    'long text': 'a: "' + 'x' * 20_000_000 + '"',
    'many documents': '---\na: 1\n' * 100_000,
    'sexagesimal': 'a: ' + '1:' * 3000 + '1',
    'binary tag': 'a: !!binary "\xff"',
    'date out of range': 'a: 9999-99-99',
    'unknown tag': '!x {a: 1}',
    'not UTF-8': b'a: \xff\xfe',
    'UTF-16': 'a: 1'.encode('utf-16'),
    'surrogate': b'a: "\\ud800"',
    'nothing': '',
    'NUL': b'\0' * 1000,
    'null keys': '{null: 1, 1: 2, [1]: 3}',
}
"""Texts that are hostile to any reader of YAML."""

READERS = {
    'robot': ('robot.yaml', 'robot-file FILE'),
    'result': ('result_arm.yaml', 'result FILE'),
    'trajectory': ('motion_sine.yaml', 'motion FILE --urdf arm.urdf'),
    'columns': ('columns.yaml', 'check table.csv --columns FILE'),
    'metadata': ('mcap/metadata.yaml', 'check BAG'),
    'metadata for rosbags': ('mcap/metadata.yaml', 'topics BAG'),
    'model': ('model.yaml', 'prg scara.PRG --model FILE --out OUT/r.yaml'),
    'limits': ('limits.yaml', 'motion motion_sine.yaml --urdf arm.urdf --limits FILE'),
    'effort': ('effort.yaml', 'effort FILE'),
}


def _motion(base: str, **changes: object) -> str:
    # by libyaml: some have 10 000 numbers, and each test process reads this file
    return yaml.dump(MOTIONS[base] | changes, Dumper=yaml.CSafeDumper, sort_keys=False)


def _chain(depth: int) -> str:
    motion: object = MOTIONS['move']
    for _ in range(depth):
        motion = {'kind': 'chain', 'parts': [motion]}
    return yaml.safe_dump(motion, default_flow_style=True)


TRAJECTORIES = {
    'two points 100 000 s apart': _motion(
        'points', time=[0.0, 1e5, 2e5], position=[[0, 0], [0.1, 0], [0, 0]]
    ),
    'two points 1e300 s apart': _motion(
        'points', time=[0.0, 1.0, 1e300], position=[[0, 0], [0.1, 0], [0, 0]]
    ),
    'a sine of 1e9 s': _motion('sine', duration=1e9),
    'a sine of 1e9 Hz': _motion('sine', frequency=[1e9, 1e9]),
    'a lead of 1e7 s': _motion('sine', lead_in=1e7),
    'a series of 1e-9 Hz': _motion('fourier', base_frequency=1e-9),
    'a sum of 1e8 Hz': _motion('sine_sum', frequency=[[1e8, 1.0], [1.0, 1.0]]),
    'a move of 1e8 s': _motion('move', duration=1e8),
    'moves at 1e-9 rad/s': _motion('joint_moves', velocity=1e-9),
    'via-points 1e12 rad apart': _motion('joint_moves', points=[[0, 0], [1e12, 0]]),
    'experiment at 1e-9 rad/s': _motion('bidirectional', speeds=[1e-9]),
    'a million via-points': '{kind: joint_moves, joints: [a, b], velocity: 1, acceleration: 2, '
    'points: [' + '[0, 0], [1, 1], ' * 200_000 + ']}',
    'chains in chains': _chain(60),
    'a thousand joints': _motion(
        'move', joints=[f'j{k}' for k in range(5000)], start=[0.0] * 5000, target=[1.0] * 5000
    ),
    'ten thousand harmonics': _motion('fourier', a=[[1e-6] * 10_000] * 2, b=[[0.0] * 10_000] * 2),
}


METADATA = {
    'a path outside of the bag': ['/dev/zero'],
    'a path to a device': ['../../../../dev/zero'],
    'twenty thousand files': [str(n) for n in range(20_000)],
    'a number as path': 17,
    'a name too long': ['x' * 5000 + '.mcap'],
    'a NUL in a name': ['a\0b.mcap'],
}
"""Files that metadata.yaml names."""


LAUGHS = (
    '<!DOCTYPE r [<!ENTITY a0 "ha">'
    + ''.join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + ']><robot name="&a9;"><link name="l"/></robot>'
)


def _links(count: int) -> str:
    links = ''.join(f'<link name="l{n}"/>' for n in range(count + 1))
    joints = ''.join(
        f'<joint name="j{n}" type="revolute"><parent link="l{n}"/><child link="l{n + 1}"/></joint>'
        for n in range(count)
    )
    return f'<robot name="r">{links}{joints}</robot>'


URDFS = {
    'billion laughs': LAUGHS,
    'external entity': '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<robot name="&x;"><link name="l"/></robot>',
    'nested elements': '<robot name="r"><link name="l"/>'
    + '<a>' * 200_000
    + '</a>' * 200_000
    + '</robot>',
    'nested in a link': '<robot name="r"><link name="l">'
    + '<a>' * 5000
    + '</a>' * 5000
    + '</link></robot>',
    'two thousand joints': _links(2000),
    'a hundred thousand links': _links(100_000),
    'a root that is no robot': '<svg/>',
    'Latin-1': '<?xml version="1.0" encoding="latin-1"?><robot name="ä"/>'.encode('latin-1'),
    'declared UTF-16': '<?xml version="1.0" encoding="UTF-16"?><robot name="r"/>',
    'unknown encoding': '<?xml version="1.0" encoding="x"?><robot name="r"/>',
    'a name of 10 MB': '<robot name="' + 'x' * 10_000_000 + '"><link name="l"/></robot>',
}


PRGS = {
    'a line of 1 MB': "'" + 'x' * 10**6,
    'a thousand numbers too many': ''.join(
        f'SCARA.DynamicParameter[{n}] = 0\n' for n in range(1, 20_000)
    ),
    'a header of digits': "'Max relative torque error: " + 'axis 1 = ' * 50_000,
    'spaces': ' ' * 10**6,
    'not ASCII': 'PROGRAM ä',
}
