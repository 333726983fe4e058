# SPDX-License-Identifier: Apache-2.0
"""Declaration of effort, and column mapping, with estimated factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from robodyn_ros.analysis.gains.estimate import JointGain
from robodyn_ros.control.effort.declaration import EffortDeclaration
from robodyn_ros.errors import ConfigError
from robodyn_ros.recording.position_drive import POSITION_ERROR

UNITS = ('raw', 'A', 'permille', POSITION_ERROR)
"""Units of the signal that `--unit` takes."""
_SIGNIFICANT = 6


def effort_text(gains: Sequence[JointGain], unit: str, head: str) -> str:
    """Return the YAML of the declaration of effort of joints with a factor.

    :param unit: of the signal, from `UNITS`
    :param head: comment
    :raises ConfigError: per mille of a prismatic joint
    """
    sizes = [_round(abs(each.factor)) for each in gains]
    linear = [each.joint.type == 'prismatic' for each in gains]
    facts: dict[str, list[float]] = {}
    if unit == 'permille':
        if any(linear):
            name = gains[linear.index(True)].joint.name
            raise ConfigError(
                f'--unit permille is for rotary joints, but {name!r} is prismatic: use --unit raw'
            )
        facts['rated_torque'] = [_round(1e6 * size) for size in sizes]
    else:
        for key, kind in (('torque_constant', False), ('force_constant', True)):
            values = [size if is_linear is kind else 0.0 for size, is_linear in
                      zip(sizes, linear, strict=True)]  # fmt: skip
            if any(values):
                facts[key] = values
    declared: dict[str, Any] = {
        'joints': [each.joint.name for each in gains],
        'unit': 'permille_rated_torque' if unit == 'permille' else unit,
        'side': 'joint',
        'gravity': 'included',
        'direction': [1 if each.factor > 0.0 else -1 for each in gains],
        **facts,
    }
    EffortDeclaration.from_mapping(declared).for_joints([each.joint for each in gains])
    return _comment(head) + yaml.safe_dump(
        {'effort': declared}, sort_keys=False, default_flow_style=None
    )


def columns_text(
    gains: Sequence[JointGain],
    columns: Mapping[str, object],
    head: str,
    delay: Mapping[str, float] | None = None,
) -> str:
    """Return the YAML of a column mapping that has the factors as scale of the torque.

    :param columns: mapping that the recordings were read with
    :param delay: of commands, by joint, in [s]; the torque is of the error of position then
    """
    torque = _as_mapping(columns.get('torque'))
    if delay is not None:
        names = {each.joint.name for each in gains}
        late = {name: _round(value) for name, value in delay.items() if name in names}
        columns = {**columns, 'command': {**_as_mapping(columns.get('command')), 'delay': late}}
        torque = {'unit': POSITION_ERROR}
    scale = {each.joint.name: _round(each.factor) for each in gains}
    return _comment(head) + yaml.safe_dump(
        {**columns, 'torque': {**torque, 'scale': scale}}, sort_keys=False
    )


def _as_mapping(spec: object) -> dict[str, object]:
    if isinstance(spec, Mapping):
        return dict(spec)
    return {} if spec is None else {'columns': spec}


def _comment(text: str) -> str:
    return ''.join(f'# {line}\n' for line in text.splitlines())


def _round(value: float) -> float:
    return float(f'{value:.{_SIGNIFICANT}g}')
