# SPDX-License-Identifier: Apache-2.0
"""Robots of the document, their motions and their first result, for the tests of payloads."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from robodyn_ros.identification.files.base_result import load_base
from robodyn_ros.identification.files.result_file import load_identified_model, write_result
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.result import IdentificationResult, IdentifiedModel
from robodyn_ros.models.catalog import build_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.recording.recording import Recording

NOISE = 0.01
JOINTS = [f'joint{k}' for k in range(1, 7)]
DELTA = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7}
PUMA = {'a2': 0.43, 'a3': -0.02, 'd2': 0.24, 'd3': -0.09, 'd4': 0.43}
CRANK = {'type': 'rotary', 'dynamic_model': 3, 'prior': {'L^2': 0.09, 'g*L': 2.943}}
KINDS = {
    'rotary1': ('axis', 1, {'type': 'rotary', 'dynamic_model': 1}, (4.0, 0.4)),
    'rotary2': (
        'axis', 1, {'type': 'rotary', 'dynamic_model': 2, 'prior': {'L^2': 0.09}}, (4.0, 0.0),
    ),
    'rotary3': ('axis', 1, CRANK, (4.0, 0.3)),
    'linear1': ('axis', 1, {'type': 'linear', 'dynamic_model': 1}, (4.0, 0.0)),
    'linear2': (
        'axis', 1, {'type': 'linear', 'dynamic_model': 2, 'prior': {'g*cos(alpha)': 9.8}},
        (4.0, 0.0),
    ),
    'scara3': ('scara', 3, {'geometry': {'L1': 0.3, 'L2': 0.25}}, (2.0, 0.3)),
    'scara': ('scara', 4, {'geometry': {'L1': 0.3, 'L2': 0.25}}, (2.0, 0.3)),
    'delta3': ('delta', 3, {'geometry': DELTA}, (2.0, 0.0)),
    'delta': ('delta', 4, {'geometry': {**DELTA, 'h_O': 0.1}}, (2.0, 0.3)),
    'puma': ('puma', 6, {'dynamic_model': 2, 'geometry': PUMA}, (2.0, 0.0)),
}  # fmt: skip


def built(kind: str, joints: int, options: dict[str, Any]) -> DynamicModel:
    """Model of the document with friction."""
    description = {'kind': kind, 'dynamic_model': 1, 'joints': JOINTS[:joints], **options}
    return build_model({**description, 'friction': ['viscous', 'coulomb']})


def motion(model: DynamicModel, seconds: float, slower: float = 1.0) -> tuple[Array, ...]:
    """Each joint through most of its range, at a frequency of its own."""
    time = np.arange(0.0, seconds, 0.004)
    count = len(model.joints)
    omega = 2 * np.pi * 0.4 / slower * np.array([1.0, 1.27, 1.43, 1.13, 1.61, 0.91])[:count]
    turn = np.outer(time, omega) + np.arange(count)
    reach = 0.45 * np.diff(model.position_limits()).T
    q = model.positions(np.zeros((1, count))) + reach * np.sin(turn)
    return time, q, reach * omega * np.cos(turn), -reach * omega**2 * np.sin(turn)


def recorded(
    model: DynamicModel, values: Array, seed: int, seconds: float = 20.0, slower: float = 1.0
) -> Recording:
    """Recording of that motion, with noise."""
    time, q, qd, qdd = motion(model, seconds, slower)
    torque = model.torque(q, qd, qdd, values)
    noise = np.random.default_rng(seed).normal(size=torque.shape) * torque.std(axis=0)
    return Recording(
        time=time, joints=model.joint_names, position=q, torque=torque + NOISE * noise
    )


def base_of(recording: Recording, model: DynamicModel, folder: Path) -> IdentifiedModel:
    """Step 1, through its file."""
    result = identify(recording, model)
    assert result.success, result.findings
    write_result(result, folder / 'base.yaml')
    return load_base(folder / 'base.yaml', model)


def as_base(result: IdentificationResult) -> IdentifiedModel:
    """The result as its file gives it back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'base.yaml'
        write_result(result, path)
        return load_identified_model(path)


def identify_payload(
    recording: Recording, base: IdentifiedModel, *, frame: str = '', **others: Any
) -> IdentificationResult:
    """Identify what the arm of a base result carries."""
    return identify(recording, PayloadModel(arm=base.model, frame=frame), known=base, **others)
