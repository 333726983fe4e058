# SPDX-License-Identifier: Apache-2.0
"""Recordings and results as files, for tests and measurements of what reads them."""

import numpy as np
import yaml
from verdicts import with_bad

from robodyn_ros.identification.files.gear_torque_block import residual_block
from robodyn_ros.identification.files.result_file import model_parameters
from robodyn_ros.identification.result.payload_block import payload_block
from robodyn_ros.identification.result.verdict import make_unknown_verdict, verdict_hash
from robodyn_ros.recording.bags.joint_state_bag import JointStateBag
from robodyn_ros.recording.stamps import stamps_of
from robodyn_ros.wire.joint_state import encode_joint_states

PREFIXES = {'position': 'q', 'velocity': 'qd', 'acceleration': 'qdd', 'torque': 'tau'}


def joint_states(recording):
    """Yield stamps in [ns] and JointState messages, encoded in blocks of little memory."""
    stamps = stamps_of(recording.time, recording.origin, recording.source)
    signals = (recording.position, recording.velocity, recording.torque)
    for first in range(0, len(recording), 4096):
        rows = slice(first, first + 4096)
        block = [None if values is None else values[rows] for values in signals]
        messages = encode_joint_states(recording.joints, stamps[rows], *block)
        yield from zip(stamps[rows].tolist(), (row.tobytes() for row in messages), strict=True)


def write_rosbag(recording, path, *, topic='/joint_states', metadata=None):
    with JointStateBag(path, topic=topic, metadata=metadata) as bag:
        for stamp, data in joint_states(recording):
            bag.add(data, stamp)


def write_csv(recording, path):
    """Write all signals with column names such as q_JOINT; numbers are read back exactly."""
    signals = {PREFIXES[name]: getattr(recording, name) for name in PREFIXES}
    present = {name: values for name, values in signals.items() if values is not None}
    header = ['time', *(f'{name}_{joint}' for name in present for joint in recording.joints)]
    table = np.column_stack([recording.time, *present.values()])
    np.savetxt(path, table, '%.17g', ',', header=','.join(header), comments='')


def result_file(folder, model, values, payload=None, residual=None, bad=None):
    """Write a model, its values, a payload and a gear torque as an identification does.

    :param bad: names of joints that the verdict calls not usable; None: there is no verdict
    """
    parameters = {'dynamic_model': model_parameters(model, values, np.full(len(values), 0.1))}
    if bad is not None:
        block = with_bad(make_unknown_verdict(model.joint_names), *bad).to_block()
        block['hash'] = verdict_hash(block, parameters['dynamic_model']['hash'])
        parameters['identification'] = {'verdict': block}
    if payload is not None:
        parameters['payload'] = payload_block(payload)
    if residual is not None:
        own_hash = parameters['dynamic_model']['hash']
        parameters['residual_torque'] = residual_block(residual, own_hash)
    path = folder / 'result.yaml'
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}, width=10**6))
    return path
