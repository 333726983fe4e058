# SPDX-License-Identifier: Apache-2.0
"""Configuration of the simulated robot cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from robodyn_ros.cell.delta import DeltaMechanism
from robodyn_ros.cell.driver import DriverConfig
from robodyn_ros.cell.profiles import DEFAULT, fill_from_profile
from robodyn_ros.errors import CellError
from robodyn_ros.robot_file import read_part
from robodyn_ros.schema import Finite, NotNegative, Positive, Vector, convert


@dataclass(frozen=True)
class JointConfig:
    """One axis: motor, gear, friction, encoder and drive; torques are joint-side.

    Values of None follow from the URDF: its effort limit E and velocity limit V. The defaults are
    those of the profile `ideal`.

    :param rotor_inertia: reflected inertia of motor and gear, in [kg m^2] or [kg]; 0 with an
        elastic gear: that of the moved links, as gears are usually chosen
    :param max_torque: torque limit of the drive, in [Nm] or [N]; None: E
    :param rated_torque: continuous torque of the motor, in [Nm] or [N]; None: max_torque / 2
    :param coulomb_friction: in [Nm] or [N]; None: 4 % of the rated torque
    :param static_friction: breakaway torque, in [Nm] or [N]; None: 1.2 times Coulomb
    :param stribeck_velocity: velocity at which friction has fallen by 63 % from static to
        Coulomb, in [rad/s] or [m/s]; None: 1 % of V
    :param viscous_friction: in [Nm s/rad] or [N s/m]; None: 6 % of the rated torque at V
    :param gear_ratio: motor revolutions per joint revolution, for a motor-side encoder
    :param encoder_bits: increments of the encoder per revolution, as a power of two
    :param encoder_side: 'motor' or 'joint', of an elastic gear too
    :param encoder_resolution: smallest measured step of the joint, in [rad] or [m]; replaces bits,
        side and ratio; None for a prismatic joint: 1e-6 m
    :param velocity_bandwidth: of the velocity loop, in [Hz]
    :param position_bandwidth: of the position loop, in [Hz]
    :param integral_time: of the velocity controller, in [s]
    :param velocity_feedforward: share of the commanded velocity that is fed forward, 0..1
    :param velocity_filter: corner of the drive's velocity low pass, in [Hz]
    :param torque_noise: standard deviation of the measured torque, as a share of rated torque
    :param torque_resolution: smallest step of the measured torque, as a share of rated torque
    :param torque_ripple: amplitude of the torque ripple of motor and gear, as a share of rated
        torque
    :param ripple_order: periods of the ripple per motor revolution
    :param lead: travel per motor revolution of a prismatic joint, in [m]
    :param deflection: of the gear at the rated torque, in [rad]; 0: stiff
    :param linear_deflection: the same of a prismatic joint, in [m]
    :param damping_ratio: of the elastic joint
    :param warming: share of the friction that is lost when the joint is warm
    :param warming_time: time constant of warming while moving, and of cooling at rest, in [s]
    :param initial_position: in [rad] or [m]; None: 0, or the middle of limits that exclude 0
    """

    rotor_inertia: NotNegative = 0.0
    max_torque: Positive | None = None
    rated_torque: Positive | None = None
    coulomb_friction: NotNegative | None = None
    static_friction: NotNegative | None = None
    stribeck_velocity: Positive | None = None
    viscous_friction: NotNegative | None = None
    gear_ratio: Positive = 100.0
    encoder_bits: Annotated[int, Meta(ge=1, le=48)] = 19
    encoder_side: Literal['motor', 'joint'] = 'motor'
    encoder_resolution: Positive | None = None
    velocity_bandwidth: Positive = 50.0
    position_bandwidth: Positive = 8.0
    integral_time: Positive = 0.02
    velocity_feedforward: NotNegative = 1.0
    velocity_filter: Positive = 500.0
    torque_noise: NotNegative = 0.01
    torque_resolution: NotNegative = 0.0
    torque_ripple: NotNegative = 0.0
    ripple_order: Positive = 2.0
    lead: Positive = 0.02
    deflection: NotNegative = 0.0
    linear_deflection: NotNegative = 0.0
    damping_ratio: NotNegative = 0.05
    warming: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.0
    warming_time: Positive = 1800.0
    initial_position: Finite | None = None

    def fill_defaults(
        self, *, effort: float, velocity: float, prismatic: bool
    ) -> dict[str, float]:
        """Return all numbers of the axis, with None replaced by derived values.

        :param effort: effort limit in the URDF, in [Nm] or [N]; 0: none
        :param velocity: velocity limit in the URDF, in [rad/s] or [m/s]; 0: none
        :raises CellError: neither the URDF nor the configuration limits the torque
        """
        top = effort if self.max_torque is None else self.max_torque
        if not top > 0.0:
            raise CellError('neither max_torque nor an effort limit in the URDF is given')
        rated = top / 2.0 if self.rated_torque is None else self.rated_torque
        speed = velocity if velocity > 0.0 else 1.0
        coulomb = 0.04 * rated if self.coulomb_friction is None else self.coulomb_friction
        derived = {
            'max_torque': top,
            'rated_torque': rated,
            'coulomb_friction': coulomb,
            'static_friction': 1.2 * coulomb,
            'stribeck_velocity': 0.01 * speed,
            'viscous_friction': 0.06 * rated / speed,
            'encoder_resolution': 1e-6 if prismatic else self._increment(),
            'initial_position': math.nan,
        }
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        given['joint_side'] = float(given.pop('encoder_side') == 'joint')
        linear = given.pop('linear_deflection'), given.pop('lead') / self.ripple_order
        turn = self.deflection, 2.0 * math.pi / (self.gear_ratio * self.ripple_order)
        given['deflection'], given['ripple_period'] = linear if prismatic else turn
        return {**derived, **{name: value for name, value in given.items() if value is not None}}

    def _increment(self) -> float:
        turns = self.gear_ratio if self.encoder_side == 'motor' else 1.0
        return math.ldexp(2.0 * math.pi, -self.encoder_bits) / turns


@dataclass(frozen=True)
class CellConfig:
    """A robot cell: section `cell` of a robot file.

    :param urdf: path of the URDF, or its XML text
    :param joints: configuration of joints by name; others have `defaults`
    :param defaults: configuration of the joints that `joints` does not name
    :param servo_period: of the position commands and of `RobotCell.step`, in [s]
    :param substeps: steps of drive loops and physics per servo period
    :param command_delay: cycles from a position command to the drive's set-point, at least 1
    :param gravity: shape (3,), in the URDF's root frame, in [m/s^2]
    :param seed: of everything that is random
    :param profile: name of a profile in `profiles.yaml`, whose values hold where none is given
    :param cycle_jitter: standard deviation of the start of a servo cycle, as a share of the period
    :param mechanism: a closed mechanism that replaces the links of the URDF, which then defines
        joints and limits only; None: the links of the URDF
    :param driver: meaning of efforts in ROS messages, and names of controllers
    """

    urdf: str
    joints: Mapping[str, JointConfig] = field(default_factory=dict)
    defaults: JointConfig = field(default_factory=JointConfig)
    servo_period: Annotated[float, Meta(ge=1e-4, le=0.1)] = 0.002
    substeps: Annotated[int, Meta(ge=1)] = 4
    command_delay: Annotated[int, Meta(ge=1)] = 3
    gravity: Vector = (0.0, 0.0, -9.81)
    seed: Annotated[int, Meta(ge=0)] = 0
    profile: str = DEFAULT
    cycle_jitter: Annotated[float, Meta(ge=0.0, le=0.1)] = 0.0
    mechanism: DeltaMechanism | None = None
    driver: DriverConfig = field(default_factory=DriverConfig)

    @classmethod
    def from_yaml(
        cls, path: Path | str, *, urdf: str | None = None, profile: str | None = None
    ) -> CellConfig:
        """Read a YAML file; a relative `urdf` in it is relative to its folder.

        :param path: of a cell configuration, or of a robot file with a section `cell`
        :param urdf: path or XML text that replaces the one in the file
        :param profile: replaces the one in the file
        :raises CellError: the file is missing, not YAML, or has an invalid entry
        """
        part = read_part(path, 'cell', 'the cell configuration', CellError)
        content = part.content
        if not isinstance(content, Mapping):
            raise CellError(f'the cell configuration {path} must be a mapping of names to values')
        if urdf is None and isinstance(content.get('urdf'), str):
            urdf = str(Path(path).parent / content['urdf'])
        elif urdf is None and part.robot:
            urdf = part.robot.urdf
        chosen = {'profile': profile} if profile else {}
        return cls.from_mapping({**content, 'urdf': urdf, **chosen}, source=part.source)

    @classmethod
    def from_mapping(cls, content: Mapping[str, Any], *, source: str = 'cell') -> CellConfig:
        """Build from plain values, as in a YAML file.

        :raises CellError: an unknown entry, or one of the wrong type or range
        """
        if not content.get('urdf'):
            raise CellError(f'{source}: a cell needs a urdf')
        content = fill_from_profile(content, source)
        common = _mapping(content.get('defaults'), f'{source}: defaults')
        driver = _mapping(content.get('driver'), f'{source}: driver')
        joints = _mapping(content.get('joints'), f'{source}: joints')
        values = {
            **content,
            'defaults': convert(common, JointConfig, f'{source}: defaults', CellError),
            'joints': {
                str(name): convert(
                    {**common, **_mapping(joint, f'{source}: joint {name!r}')},
                    JointConfig,
                    f'{source}: joint {name!r}',
                    CellError,
                )
                for name, joint in joints.items()
            },
            'mechanism': _mechanism(content.get('mechanism'), source),
            'driver': DriverConfig.from_mapping(driver, f'{source}: driver'),
        }
        return convert(values, cls, source, CellError)


MECHANISMS = {'delta': DeltaMechanism}
"""All kinds of closed mechanisms; a new kind is a new entry."""


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise CellError(f'{where}: expected names with values, got {value!r}')
    return dict(value)


def _mechanism(value: Any, where: str) -> DeltaMechanism | None:
    content = _mapping(value, f'{where}: mechanism')
    if not content:
        return None
    kind = content.get('kind')
    if not isinstance(kind, str) or kind not in MECHANISMS:
        known = ', '.join(MECHANISMS)
        raise CellError(f'{where}: there is no mechanism kind {kind!r:.60}, there are: {known}')
    return MECHANISMS[kind].from_mapping(content, where)
