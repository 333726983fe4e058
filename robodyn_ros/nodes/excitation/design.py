# SPDX-License-Identifier: Apache-2.0
"""Design of a motion by the excitation node: its parameters, and the search in a thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

from robodyn_ros.action import Excite
from robodyn_ros.errors import NO_FAULT, ConfigError, Fault, MotionError, RobodynError
from robodyn_ros.excitation.catalog import write_motion
from robodyn_ros.excitation.collisions.scene_shape import NOTHING, Surroundings
from robodyn_ros.excitation.design.problem import Design
from robodyn_ros.excitation.export import TRAJECTORY, export_motion, motion_files
from robodyn_ros.excitation.limits.constraints import PathLimit
from robodyn_ros.excitation.limits.joint_limits import JointLimits
from robodyn_ros.excitation.options import OPTIONS, Setting, check_options, make_design, search
from robodyn_ros.excitation.robot_frame import choose_frame
from robodyn_ros.excitation.summary import convert_value, sentence
from robodyn_ros.excitation.trajectory import Trajectory
from robodyn_ros.faults import fault_of, number_of
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.nodes.base.clock import start_real_timer, to_duration
from robodyn_ros.nodes.base.common import (
    check_when_set,
    declare,
    plain,
)
from robodyn_ros.nodes.base.folders import make_dated_folder, remove_if_empty
from robodyn_ros.nodes.excitation.parameters import file_model
from robodyn_ros.nodes.excitation.results import FEEDBACK_PERIOD
from robodyn_ros.nodes.robot.described_robot import robot_file
from robodyn_ros.output_files import make_folder
from robodyn_ros.paths import expand
from robodyn_ros.runs.file_set import sole_writer

OPTIMISED = 'optimised'
"""Value of `motion.kind` for a designed motion."""
LOG_PERIOD = 10.0
"""Time between two lines of the log about the progress of a search, in [s]."""
_TYPES = {float: 'DOUBLE', int: 'INTEGER', str: 'STRING', bool: 'BOOL'}


@dataclass(frozen=True)
class Prepared:
    """A search that can start: its problem, its options, and the goal's fields."""

    design: Design
    values: dict[str, Any]
    request: Excite.Goal


@dataclass(frozen=True)
class Designed:
    """A designed motion, its file, and a sentence about it for the operator."""

    trajectory: Trajectory
    file: str
    text: str


class Designer:
    """Search for one motion at a time, in a thread, while the node continues to spin."""

    def __init__(
        self,
        node: Node,
        limits: JointLimits,
        run: Callable[[Trajectory, Any, str], object],
        give: Callable[[Any, Excite.Result], None],
        rules: Sequence[PathLimit] = (),
    ) -> None:
        """Declare the parameters; they may be changed while the node runs.

        :param run: starts a motion for a goal, from a file; it may raise a `RobodynError`
        """
        self._node, self._limits = node, limits
        self._run, self._give, self._rules = run, give, rules
        for name, option in OPTIONS.items():
            declare(node, f'optimise.{name}', _default(option), f'designed motion: {option.text}')
        declare(node, 'optimise.friction', [''], 'friction terms, where the model is the URDF')
        declare(node, 'output_directory', '.', 'folder for designed motions')
        self._check({})
        check_when_set(node, self._check)
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._work: Future[Designed] | None = None
        self.goal: Any = None
        self._move, self._reason, self._pictures = True, NO_FAULT, True
        self._timer = start_real_timer(node, FEEDBACK_PERIOD, self._look)
        self._timer.cancel()

    @property
    def asked(self) -> bool:
        """Return True if the parameters request a designed motion."""
        kind = self._node.get_parameter_or('motion.kind', None)
        return kind is not None and kind.value == OPTIMISED

    @property
    def busy(self) -> bool:
        """Return True while a search runs or its result has not been processed."""
        return self._work is not None

    def prepare(self, request: Excite.Goal, surroundings: Surroundings = NOTHING) -> Prepared:
        """Build the problem of a search, which may read files; this can be done in a thread.

        :raises RobodynError: parameters that cannot be used
        """
        values = self.values()
        design = self._design(values, surroundings)
        return Prepared(design, values, request)

    def begin(self, goal: Any, prepared: Prepared) -> str:
        """Start a search.

        :param goal: goal handle of the action; None if a service was called
        :raises RobodynError: its folder cannot be made
        """
        design, values, request = prepared.design, prepared.values, prepared.request
        path = self._folder(request.output_directory)
        seconds = float(values.get('time', OPTIONS['time'].default))
        self.goal, self._move = goal, not request.design_only
        self._reason, self._pictures = NO_FAULT, True
        self._best, self._saving = float('inf'), False
        self._began, self._seconds = time.monotonic(), seconds
        self._log_due = self._began + LOG_PERIOD
        self._criterion = design.criterion.name
        self._work = self._pool.submit(self._search, design, values, path)
        self._timer.reset()
        text = (
            f'a motion of {design.duration:.3g} s is designed for at most {seconds:.0f} s, by '
            f'criterion {self._criterion}, and saved in {path}'
        )
        self._node.get_logger().info(text)
        return text

    def cancel(self, reason: Fault, *, pictures: bool = True) -> None:
        """End the search; the best motion so far is kept."""
        self._reason = self._reason or reason
        self._pictures = pictures

    def feedback(self) -> Excite.Feedback:
        """Return the progress of the search; log it every `LOG_PERIOD`."""
        share = min(1.0, (time.monotonic() - self._began) / self._seconds)
        text, value = 'searching', self._best
        if value < float('inf'):
            name, figure = convert_value(self._criterion, value)
            text = f'best {name.replace("_", " ")} so far {figure:.4g}'
        if self._saving:
            text = 'saving the motion and its pictures'
        if time.monotonic() >= self._log_due:
            self._log_due += LOG_PERIOD
            self._node.get_logger().info(f'designing the motion, {share:.0%}: {text}')
        return Excite.Feedback(
            phase=Excite.Feedback.DESIGNING,
            progress=share,
            remaining=to_duration(max(0.0, self._seconds * (1.0 - share))),
            message=text,
        )

    def _look(self) -> None:
        """Publish the progress of the search; at its end run the motion unless `design_only`."""
        feedback, goal = self.feedback(), self.goal
        if goal is not None:
            goal.publish_feedback(feedback)
        if self._work is None or not self._work.done():
            return
        self._timer.cancel()
        work, self._work, self.goal = self._work, None, None
        result = Excite.Result()
        try:
            designed = _result_of(work)
            result.motion_file, result.message = designed.file, designed.text
            self._node.get_logger().info(designed.text)
            if self._reason:
                result.fault_code = number_of(self._reason)
                result.message = f'{self._reason}; the best motion so far is kept: {designed.text}'
            elif self._move:
                self._run(designed.trajectory, goal, designed.file)
                return
            else:
                result.success = True
        except RobodynError as error:
            self._node.get_logger().error(str(error))
            kept = f'; the motion is in {result.motion_file}' if result.motion_file else ''
            result.message = f'{error}{kept}'
            result.fault_code = number_of(fault_of(error, str(error)))
        if goal is not None:
            self._give(goal, result)

    def _search(self, design: Design, values: dict[str, Any], folder: Path) -> Designed:
        def tell(share: float, value: float) -> None:
            self._best = value

        with remove_if_empty(folder), sole_writer(folder, MotionError):
            result = search(design, values, progress=tell, cancel=lambda: bool(self._reason))
            self._saving = True
            points = choose_frame(design.model, values.get('frames', ()))
            file = str(folder / TRAJECTORY)
            if self._pictures:
                export_motion(result.trajectory, folder, limits=self._limits, points=points)
            else:
                with motion_files(folder) as partial:
                    write_motion(result.trajectory, partial / TRAJECTORY)
        return Designed(result.trajectory, file, f'{sentence(result, design)}; saved: {file}')

    def values(self, new: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """Return the given options."""
        values = {}
        for name in OPTIONS:
            parameter = f'optimise.{name}'
            value = self._node.get_parameter_or(parameter, Parameter('none')).value
            value = new.get(parameter, value)
            if value is not None and not (hasattr(value, '__len__') and len(value) == 0):
                values[name] = plain(value)
        return values

    def _check(self, new: Mapping[str, Any]) -> None:
        """Check the options together with new values."""
        names = [name for name in new if name.startswith('optimise.')]
        if not names and new:
            return
        try:
            check_options(self.values(new))
        except MotionError as error:
            raise ConfigError(f'parameter {", ".join(names) or "optimise"}: {error}') from error

    def _design(self, values: dict[str, Any], surroundings: Surroundings) -> Design:
        model = self.model()
        for name in self._limits.joints:
            if name not in model.joint_names:
                raise ConfigError(
                    f'a motion of joint {name!r} cannot be designed: the model has the joints '
                    f'{list(model.joint_names)}'
                )
        limits = self._limits.select(model.joint_names)
        return make_design(
            values, model, limits, urdf=robot_file(self._node), rules=self._rules,
            surroundings=surroundings,
        )  # fmt: skip

    def model(self) -> DynamicModel:
        """Build the model to be identified, from model_file or else from the URDF."""
        if (model := file_model(self._node)) is not None:
            return model
        given = self._node.get_parameter('optimise.friction').value
        terms = [str(term) for term in given if term]
        return robot_model(
            robot_file(self._node), joints=list(self._limits.joints), friction=terms
        )

    def _folder(self, name: str) -> Path:
        if not name:
            parent = expand(str(self._node.get_parameter('output_directory').value))
            return make_dated_folder(parent, 'motion')
        return make_folder(expand(name).absolute(), ConfigError)


def _result_of(work: Future[Designed]) -> Designed:
    """Return the motion of the thread."""
    try:
        return work.result()
    except RobodynError:
        raise
    except Exception as error:  # a bug must not end the node
        raise MotionError(f'unexpected {type(error).__name__}: {error}') from error


def _default(option: Setting) -> Any:
    """Return the default of the parameter, or its type if there is no default."""
    kind = _TYPES[option.kind]
    if option.count != 1:
        return Parameter.Type[f'{kind}_ARRAY']
    return Parameter.Type[kind] if option.default is None else option.default
