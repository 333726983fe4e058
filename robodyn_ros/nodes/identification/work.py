# SPDX-License-Identifier: Apache-2.0
"""Computations of the node `identification`, and their parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

from robodyn_ros.control.effort.declaration import HOW
from robodyn_ros.control.effort.recorded import check_gravity
from robodyn_ros.errors import ConfigError, IdentificationError, MissingSignalError
from robodyn_ros.identification.diagnosis.position_limits import position_limits
from robodyn_ros.identification.files.base_result import load_base
from robodyn_ros.identification.files.export import Exported
from robodyn_ros.identification.files.result_folder import ResultFolder
from robodyn_ros.identification.options import LEAVE_ONE_OUT, IdentifyOptions, LeaveOneOut
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.identification.result.result import IdentificationResult, IdentifiedModel
from robodyn_ros.long_work import Show, progress, show_progress
from robodyn_ros.models.catalog import load_model, robot_model
from robodyn_ros.models.friction_terms import AUTO
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.payload import PayloadModel
from robodyn_ros.models.serial.urdf import GRAVITY
from robodyn_ros.models.serial.urdf_file import parse_urdf
from robodyn_ros.nodes.base.common import declare
from robodyn_ros.nodes.base.folders import make_dated_folder
from robodyn_ros.nodes.base.suite_node import ROBOT
from robodyn_ros.nodes.identification.options import declare_options
from robodyn_ros.nodes.robot.described_robot import robot_description
from robodyn_ros.nodes.robot.effort import EffortParameters
from robodyn_ros.paths import expand, resource
from robodyn_ros.recording.readers import read_recording, recording_format
from robodyn_ros.recording.recording import Recording
from robodyn_ros.recording.signals import MAX_CUTOFF, split_motion
from robodyn_ros.recording.tables.columns import load_columns
from robodyn_ros.report.coverage import list_limits
from robodyn_ros.report.write import export_with_page
from robodyn_ros.runs.file_set import sole_writer


@dataclass(frozen=True)
class Terms:
    """Settings of an identification in a request.

    :param filter_cutoff: in [Hz]; None: from the data
    """

    filter_cutoff: float | None = None
    base: IdentifiedModel | None = None
    frame: str = ''


@dataclass
class Job:
    """One identification to compute: the motion's recording, and one to validate on.

    :param between: stamps between which the motion is, in [ns]; None: all of the recording
    """

    recording: Path
    folder: Path
    terms: Terms
    validation: Path | None = None
    others: tuple[Path, ...] = ()
    between: tuple[int, int] | None = None
    validation_between: tuple[int, int] | None = None


class IdentificationWork:
    """Model, options and folder of an identification node, and the computation itself."""

    def __init__(self, node: Node) -> None:
        """Declare the parameters and build the model.

        :raises RobodynError: a parameter that cannot be used
        """
        self._node = node
        self._urdf = self._declare_urdf()
        self.model = self._declare_model()
        self._effort = EffortParameters(node)
        self._options = self._declare_options()
        self._gear_ratio = self._declare_gear_ratio()
        text = 'column mapping for tables (docs/recordings.md)'
        columns = declare(node, 'columns', '', text, read_only=True)
        self._columns = load_columns(resource(columns)) if columns else {}
        text = 'JointState topic in bags; empty: joint_states of this node, or else /joint_states'
        self._topic = declare(node, 'topic', '', text, read_only=True)
        self._folder = expand(
            declare(
                node, 'output_directory', '.', 'folder for recordings and results', read_only=True
            )
        )
        self._export_failed = declare(
            node,
            'export_failed',
            False,
            'write the model of a failed identification too',
            read_only=True,
        )
        self._fraction = declare(
            node,
            'validation_fraction',
            0.2,
            'share of the recording kept for validation when there is no other recording',
            read_only=True,
            minimum=0.05,
            maximum=0.5,
        )

    def _declare_urdf(self) -> str:
        """Text of the URDF; '' where a model file is enough."""
        node = self._node
        self._file = declare(
            node, 'model_file', '', 'model YAML; empty: the URDF below', read_only=True
        )
        try:
            return robot_description(node, wanted=not self._file)
        except ConfigError:
            if self._file and not node.get_parameter('urdf').value:
                return ''
            raise

    def _declare_model(self) -> DynamicModel:
        node, fixed, file = self._node, {'read_only': True}, self._file
        number = declare(
            node,
            'dynamic_model',
            0,
            'number of the dynamic model, in place of the one in model_file; 0: that one',
            minimum=0,
            **fixed,
        )
        text = 'friction terms or laws; auto: a mean of laws'
        terms = declare(node, 'friction', [AUTO], text, **fixed)
        joints = declare(node, 'joints', [''], 'joints to identify; empty: all', **fixed)
        gravity = self._declare_gravity()
        text = 'identify a rotor inertia for each joint of a URDF; a model_file has its own'
        rotors = declare(node, 'rotor_inertia', True, text, **fixed)
        if file:
            return load_model(resource(file), dynamic_model=number or None)
        if number:
            raise ConfigError(
                f'dynamic_model {number} needs a model_file: a URDF has only one model'
            )
        return robot_model(
            self._urdf,
            joints=[j for j in joints if j] or None,
            friction=terms,
            gravity=gravity,
            rotor_inertia=rotors,
        )

    def _declare_gravity(self) -> list[float]:
        text = 'gravity in the root frame of the URDF [m/s^2], by the mounting of the robot; '
        text += '0 0 0 for efforts without gravity; a model_file has its own'
        given = declare(self._node, 'gravity', list(GRAVITY), text, read_only=True)
        if len(given) != len(GRAVITY):
            raise ConfigError(f"parameter 'gravity' must be three numbers in m/s^2, got {given}")
        return list(given)

    def _declare_options(self) -> IdentifyOptions:
        """Options of every identification; a request may have another cut-off frequency."""
        options = declare_options(self._node, self.model.joint_names)
        _check_cutoff(options['filter_cutoff'] or 0.0, 'parameter filter_cutoff_frequency: ')
        return IdentifyOptions(**options, position_limits=self._declare_limits())

    def _declare_gear_ratio(self) -> list[float]:
        """Gear ratios of encoders on the motors, per joint."""
        ratio = declare(
            self._node, 'gear_ratio', [1.0], 'motor revolutions per revolution of the joint, of '
            'joints NAME_motor in the recording; one value or one per joint', read_only=True,
        )  # fmt: skip
        count = len(self.model.joints)
        if len(ratio) not in (1, count) or not all(ratio):
            raise ConfigError(
                f"parameter 'gear_ratio' must have 1 value or {count} other than 0, got {ratio}"
            )
        return list(ratio) * (count if len(ratio) == 1 else 1)

    def _declare_limits(self) -> dict[str, tuple[float, float]]:
        """Return the position limits for the diagnosis; keep all limits for the page."""
        text = "file in the form of MoveIt's joint_limits.yaml, on top of the URDF: positions for "
        text += 'the diagnosis, all for the report'
        file = declare(self._node, 'joint_limits', '', text, read_only=True)
        urdf = parse_urdf(self._urdf) if self._urdf else None
        path = resource(file) if file else None
        self._limits = list_limits(self.model, urdf, path)
        return position_limits(self.model, urdf, path)

    def terms(self, request: Any) -> Terms:
        """Return the options of a request, checked as far as possible before the robot moves.

        Whether the cut-off suits the sampling rate and the motion only the recording tells.

        :raises RobodynError: a cut-off that none can be, or a payload that cannot be identified
        """
        cutoff = float(request.filter_cutoff_frequency)
        _check_cutoff(cutoff)
        base = None
        if request.ident_payload:
            PayloadModel(arm=self.model, frame=request.payload_frame)
            path = request.base_result
            base = load_base(resource(path) if path else '', self.model)
        elif request.base_result:
            raise IdentificationError('base_result is for an identification with ident_payload')
        return Terms(cutoff or self._options.filter_cutoff, base, request.payload_frame)

    def check_effort(self) -> None:
        """Make sure, before the robot moves, that what will be recorded can be identified from.

        :raises ConfigError: the effort of a joint is not declared, or has no gravity where the
            model does
        """
        if self._effort.declaration is None:
            raise ConfigError(
                f'the effort is not declared in the parameters of node '
                f'{self._node.get_name()!r}, so the robot is not moved: {HOW}'
            )
        check_gravity(self._effort.for_joints(self.model.joints), self.model)

    def folder(self, name: str) -> Path:
        """Folder that a request names, or a new one in `output_directory`.

        :raises RobodynError: it cannot be made, or it has another's result
        """
        if name:
            return ResultFolder(expand(name).absolute()).folder
        return make_dated_folder(self._folder, 'identification')

    def compute(self, job: Job, show: Show) -> tuple[IdentificationResult, Exported]:
        """Read, identify and write the files; runs in a thread.

        :raises RobodynError: nothing can be identified, or a file cannot be written
        """
        with show_progress(show), sole_writer(job.folder, IdentificationError):
            return self._compute(job)

    def _compute(self, job: Job) -> tuple[IdentificationResult, Exported]:
        recordings = [self._read(job.recording, job.between)]
        recordings += [self._read(path) for path in job.others]
        validation: Recording | LeaveOneOut = LEAVE_ONE_OUT
        if job.validation is not None:
            validation = self._read(job.validation, job.validation_between)
        elif not job.others:
            recordings[0], validation = split_motion(recordings[0], 1.0 - self._fraction)
        options = replace(self._options, filter_cutoff=job.terms.filter_cutoff)
        model, base = self.model, job.terms.base
        if base is not None:
            model = PayloadModel(arm=base.model, frame=job.terms.frame)
        result = identify(
            recordings,
            model,
            known=base,
            options=options,
            validation=validation,
        )
        progress('writing', 1.0)  # the last moment at which a cancel leaves nothing behind
        files = export_with_page(
            result,
            job.folder,
            command=self._command(job),
            robot=str(self._node.get_parameter_or(ROBOT, Parameter(ROBOT, value='')).value),
            limits=self._limits,
            export_failed=self._export_failed,
        )
        return result, files

    def _command(self, job: Job) -> str:
        """Return how to repeat a computation: recordings and the parameters of the node."""
        lines = [f'node {self._node.get_fully_qualified_name()}: identify {job.recording}']
        lines += [f'together with: {path}' for path in job.others]
        lines += [] if job.validation is None else [f'validation: {job.validation}']
        for name, item in sorted(self._node.get_parameters_by_prefix('').items()):
            text = str(item.value)
            lines.append(f'{name}: {text if len(text) <= 200 else f"{text[:200]}..."}')
        return '\n'.join(lines)

    def _read(self, path: Path, between: tuple[int, int] | None = None) -> Recording:
        columns: dict[str, object] = {'gear_ratio': self._gear_ratio}
        if not recording_format(path).startswith('rosbag'):
            columns |= self._columns
        read = partial(read_recording, path, joints=self.model.joint_names, columns=columns)
        try:  # as the recorder names it, in a namespace or remapped
            recording = read(topic=self._topic or self._node.resolve_topic_name('joint_states'))
        except MissingSignalError:
            if self._topic:
                raise
            recording = read()
        recording = self._effort.in_si_units(recording, path, self.model, columns=columns)
        return recording if between is None else recording.between(*between)


def _check_cutoff(cutoff: float, where: str = '') -> None:
    if cutoff < 0.0 or not math.isfinite(cutoff):
        raise IdentificationError(f'{where}the filter cut-off must be positive, got {cutoff} Hz')
    if cutoff >= MAX_CUTOFF:
        raise IdentificationError(
            f'{where}the filter cut-off must be below {MAX_CUTOFF:g} Hz, got {cutoff:g} Hz'
        )
