# SPDX-License-Identifier: Apache-2.0
"""Configuration of the simulated robot cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from robodyn_ros.cell.delta import DeltaMechanism
from robodyn_ros.cell.driver import DriverConfig
from robodyn_ros.cell.profiles import DEFAULT, fill_from_profile
from robodyn_ros.errors import CellError
from robodyn_ros.robot_file import read_part


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

    rotor_inertia: float = 0.0
    max_torque: float | None = None
    rated_torque: float | None = None
    coulomb_friction: float | None = None
    static_friction: float | None = None
    stribeck_velocity: float | None = None
    viscous_friction: float | None = None
    gear_ratio: float = 100.0
    encoder_bits: int = 19
    encoder_side: str = 'motor'
    encoder_resolution: float | None = None
    velocity_bandwidth: float = 50.0
    position_bandwidth: float = 8.0
    integral_time: float = 0.02
    velocity_feedforward: float = 1.0
    velocity_filter: float = 500.0
    torque_noise: float = 0.01
    torque_resolution: float = 0.0
    torque_ripple: float = 0.0
    ripple_order: float = 2.0
    lead: float = 0.02
    deflection: float = 0.0
    linear_deflection: float = 0.0
    damping_ratio: float = 0.05
    warming: float = 0.0
    warming_time: float = 1800.0
    initial_position: float | None = None

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
    servo_period: float = 0.002
    substeps: int = 4
    command_delay: int = 3
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    seed: int = 0
    profile: str = DEFAULT
    cycle_jitter: float = 0.0
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
        values = dict(content)
        values['defaults'] = _joint(common, f'{source}: defaults')
        values['joints'] = {
            str(name): _joint(
                {**common, **_mapping(joint, f'{source}: joint {name!r}')},
                f'{source}: joint {name!r}',
            )
            for name, joint in _mapping(content.get('joints'), f'{source}: joints').items()
        }
        _check_names(values, cls, source)
        _check_cell(values, source)
        values['mechanism'] = _mechanism(content.get('mechanism'), source)
        driver = _mapping(content.get('driver'), f'{source}: driver')
        values['driver'] = DriverConfig.from_mapping(driver, f'{source}: driver')
        return cls(**values)


MECHANISMS = {'delta': DeltaMechanism}
"""All kinds of closed mechanisms; a new kind is a new entry."""

POSITIVE = {
    'max_torque', 'rated_torque', 'stribeck_velocity', 'gear_ratio', 'encoder_resolution',
    'velocity_bandwidth', 'position_bandwidth', 'integral_time', 'velocity_filter',
    'ripple_order', 'lead', 'warming_time',
}  # fmt: skip
SIGNED = {'initial_position'}


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


def _check_names(values: Mapping[str, Any], kind: type, where: str) -> None:
    known = [item.name for item in fields(kind)]
    unknown = [name for name in values if name not in known]
    if unknown:
        raise CellError(f'{where}: unknown entry {unknown[0]!r}, expected some of {known}')


def _joint(values: Mapping[str, Any], where: str) -> JointConfig:
    _check_names(values, JointConfig, where)
    for item in fields(JointConfig):
        if item.name in values and values[item.name] is not None:
            _check_value(item.name, values[item.name], where)
    if values.get('encoder_side', 'motor') not in ('motor', 'joint'):
        raise CellError(
            f"{where}: encoder_side must be 'motor' or 'joint', got {values['encoder_side']!r}"
        )
    return JointConfig(**values)


def _check_value(name: str, value: Any, where: str) -> None:
    if name == 'encoder_side':
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise CellError(f'{where}: {name} must be a number, got {value!r}')
    if name == 'encoder_bits' and (not isinstance(value, int) or not 1 <= value <= 48):
        raise CellError(f'{where}: encoder_bits must be an integer from 1 to 48, got {value!r}')
    if name == 'warming' and not 0.0 <= value < 1.0:
        raise CellError(f'{where}: warming must be at least 0 and below 1, got {value!r}')
    if (name in POSITIVE and value <= 0.0) or (name not in SIGNED and value < 0.0):
        word = 'above' if name in POSITIVE else 'not below'
        raise CellError(f'{where}: {name} must be {word} 0, got {value}')


def _check_cell(values: dict[str, Any], where: str) -> None:
    for name, least in (('substeps', 1), ('command_delay', 1), ('seed', 0)):
        value = values.get(name, least)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise CellError(f'{where}: {name} must be an integer from {least}, got {value!r}')
    period = values.get('servo_period', 0.002)
    if not isinstance(period, (int, float)) or not 1e-4 <= period <= 0.1:
        raise CellError(f'{where}: servo_period must be from 0.0001 to 0.1 s, got {period!r}')
    jitter = values.get('cycle_jitter', 0.0)
    if not isinstance(jitter, (int, float)) or not 0.0 <= jitter <= 0.1:
        raise CellError(f'{where}: cycle_jitter must be a share from 0.0 to 0.1, got {jitter!r}')
    gravity = values.get('gravity', (0.0, 0.0, -9.81))
    numbers = isinstance(gravity, (list, tuple)) and [
        g for g in gravity if isinstance(g, (int, float)) and math.isfinite(g)
    ]
    if not numbers or len(gravity) != 3 or len(numbers) != 3:
        raise CellError(f'{where}: gravity must be three numbers in m/s^2, got {gravity!r}')
    values['gravity'] = tuple(float(g) for g in gravity)
