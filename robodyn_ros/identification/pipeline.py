"""Identification: from recordings to an identified model, the steps in their order.

Signals are filtered and differentiated (`signals`), condensed to one triangular factor per joint
(`factors`), fitted (`fit`), and completed to all parameters (`physical`). A payload and the torque
of gear deflection are the same fit with a known torque: that of the identified arm, and that of
the gears, which is fitted in turn with the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from robodyn_ros.errors import InsufficientData
from robodyn_ros.identification.diagnosis.checks import failure_findings
from robodyn_ros.identification.factors.passes import Progress
from robodyn_ros.identification.options import IdentifyOptions, LeaveOneOut
from robodyn_ros.identification.result.result import IdentificationResult
from robodyn_ros.identification.signals.moving_samples import options_for
from robodyn_ros.identification.steps.known_torque import Known
from robodyn_ros.identification.steps.preparation import Task
from robodyn_ros.identification.steps.result_of_run import identified
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.recording.recording import Recording


def identify(
    recordings: Recording | Sequence[Recording],
    model: DynamicModel,
    *,
    known: Known | None = None,
    options: IdentifyOptions | None = None,
    validation: Recording | LeaveOneOut | None = None,
    progress: Progress | None = None,
) -> IdentificationResult:
    """Identify a model's parameters from recordings; joints are matched by name.

    A result that must not be used has `success` False and findings that say why, the cause first.
    Where there is too little to estimate anything, all its values are NaN (`has_estimate`).

    With a `PayloadModel` only the payload is estimated, on top of the arm in `known`. The result
    then has the arm's parameters as they are, in `payload` what was identified, and as base
    parameters the combinations of the payload's parameters that the motion excites.

    Recordings with the motor side of each joint get a torque of gear deflection too, unless the
    options say otherwise.

    :param recordings: one, or several that are fitted together
    :param known: torque that is not estimated: that of an identified arm with its values, or the
        torque of gear deflection
    :param validation: another recording, on which the identified model is only tested;
        'leave-one-out': each recording is tested with the parameters of all others
    :param progress: called with phase ('condense', 'evaluate' or 'validate') and share done
    :raises RobodynError: a joint is not in a recording, or an option cannot be used
    """
    given = (recordings,) if isinstance(recordings, Recording) else tuple(recordings)
    arm = model.arm if isinstance(model, PayloadModel) else model
    options = options_for(arm, options or IdentifyOptions())
    task = Task(given, model, options, known, validation, progress)
    try:
        # Matrices are small: where others use the cores, threads that wait for each other take
        # ten times as long.
        with threadpool_limits(limits=1, user_api='blas'):
            return identified(task)
    except InsufficientData as error:
        findings = (*failure_findings(given[0], arm, str(error)), *given[0].findings)
        return IdentificationResult.failed(given[0], arm, options, findings)
