# SPDX-License-Identifier: Apache-2.0
"""Design of an excitation motion in one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robodyn_ros.excitation.design.optimize import Cancel, Optimised, Progress
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.limits.limits_file import load_limits, narrow_limits
from robodyn_ros.excitation.options import make_design, search
from robodyn_ros.excitation.robot_frame import model_limits
from robodyn_ros.models.interface import DynamicModel


def design_motion(
    model: DynamicModel,
    limits: JointLimits | Mapping[str, object] | str | Path | None = None,
    *,
    urdf: str | Path = '',
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    **options: Any,
) -> Optimised:
    """Search the motion that identifies a model best within every limit.

    :param limits: of the model's joints; or a file in the form of MoveIt's joint_limits.yaml, or
        its content, that narrows those of the model's URDF; None: those of the URDF alone.
        Accelerations that neither limits follow a slow rule (`with_default_acceleration`)
    :param progress: called with the share of the work that is done and the best criterion so far
    :param cancel: asked regularly whether to end; the result is then the best motion so far
    :param options: flags of `robodyn excite` by name (`excitation/options.py`): `duration=20.0`,
        `time=60.0`, `criterion='cond'`. The search runs in one process here; a script that asks
        for more with `processes` needs `if __name__ == '__main__':`
    :raises RobodynError: a limits file cannot be used, an option has no such value, or no motion
        keeps the limits
    """
    if limits is None:
        limits = model_limits(model)
    elif isinstance(limits, Mapping):
        limits = narrow_limits(model_limits(model), limits, source='limits')
    elif not isinstance(limits, JointLimits):
        limits = load_limits(limits, model_limits(model))
    values = {'processes': 0, **options}
    design = make_design(values, model, limits.with_default_acceleration(), urdf=str(urdf))
    return search(design, values, progress=progress, cancel=cancel)
