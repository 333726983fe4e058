# SPDX-License-Identifier: Apache-2.0
"""Plants of several kinds of robots, and recordings of them, healthy unless told otherwise.

The plants are not the models under test: serial robots are recursive Newton-Euler on a URDF, and
every plant has what no model here has: friction that rises near standstill (Stribeck) and differs
with the direction, torque ripple, noise, and encoders and torques in steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from closed_form_oracle import body, urdf
from numpy.typing import NDArray
from robots import SIX_AXIS

from robodyn_ros.models.catalog import build_model, robot_model
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.models.serial.urdf import UrdfModel
from robodyn_ros.recording.recording import Recording

Array = NDArray[np.float64]
Rigid = Callable[[Array, Array, Array], Array]
FRICTION = ('viscous', 'coulomb')
DEGREE = np.pi / 180.0


@dataclass(frozen=True)
class Robot:
    """A plant, the model that suits it, and the document's example motion for it.

    :param limits: joint limits, shape (n, 2)
    :param coulomb: Coulomb friction, shape (n,); the other friction follows from it
    :param speed: typical speed of each joint, shape (n,)
    :param wrong: descriptions of models that do not suit it
    """

    name: str
    model: DynamicModel
    rigid: Rigid
    limits: Array
    start: Array
    target: Array
    frequency: Array
    coulomb: Array
    resolution: Array
    wrong: tuple[DynamicModel, ...] = ()

    @property
    def joints(self) -> tuple[str, ...]:
        return self.model.joint_names


@dataclass
class Case:
    """A recording to be: what `record` makes it from; a flaw changes it before or after."""

    robot: Robot
    seed: int
    kind: str = 'sine'
    rate: float = 250.0
    duration: float = 22.0
    noise: Array = field(default_factory=lambda: np.zeros(0))
    delay: Array = field(default_factory=lambda: np.zeros(0))
    center: Array = field(default_factory=lambda: np.zeros(0))
    swing: Array = field(default_factory=lambda: np.zeros(0))
    frequency: Array = field(default_factory=lambda: np.zeros(0))
    phase: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        robot, count = self.robot, len(self.robot.joints)
        self.random = np.random.default_rng([11, self.seed, count, len(robot.name)])
        self.noise = np.full(count, self.random.uniform(0.005, 0.03))
        self.delay = np.zeros(count)
        vary = self.random.uniform(0.95, 1.05, 2)
        self.center = (robot.start + robot.target) / 2.0
        self.swing = (robot.target - robot.start) / 2.0 * min(vary[0], 1.0)
        self.frequency = robot.frequency * vary[1]
        self.phase = np.zeros(count)
        if self.seed % 2:
            self.rate = 500.0
        self.duration = max(20.0, 3.3 / self.frequency.min())


def record(case: Case) -> tuple[Recording, Array]:
    """Recording of a case, and the torque without noise."""
    robot, random = case.robot, case.random
    time, q, qd, qdd = motion(case)
    torque = np.empty_like(q)
    for joint in np.unique(case.delay):  # the torque that is seen was there so long ago
        own = case.delay == joint
        state = motion(case, -joint)[1:] if joint else (q, qd, qdd)
        torque[:, own] = (robot.rigid(*state) + friction(case, state[1]))[:, own]
    size = np.abs(torque).max(axis=0)
    ripple = 0.005 * size * np.sin(40.0 * q + random.uniform(0, 6, q.shape[1]))
    rms = np.sqrt(np.mean(torque**2, axis=0))
    share = np.where(case.noise > 0.1, case.noise * rms, case.noise * size)
    seen = torque + ripple + share * random.normal(size=torque.shape)
    seen = np.round(seen / (0.001 * size)) * (0.001 * size)
    steps = np.round(q / robot.resolution) * robot.resolution
    recording = Recording(
        time=time, joints=robot.joints, position=steps, torque=seen, source=robot.name
    )
    return recording, torque


def motion(case: Case, shift: float = 0.0) -> tuple[Array, Array, Array, Array]:
    """Stamps, and the motion `shift` seconds later: sines from start to target, or Fourier.

    As in the document the recording begins when the sines already run.
    """
    time = np.arange(0.0, case.duration, 1.0 / case.rate)
    if case.kind == 'sine':
        omega = 2.0 * np.pi * case.frequency
        turn = (time[:, None] + shift + 2.0) * omega + case.phase
        return (
            time,
            case.center - case.swing * np.cos(turn),
            case.swing * omega * np.sin(turn),
            case.swing * omega**2 * np.cos(turn),
        )
    random = np.random.default_rng([5, case.seed])
    count, base = len(case.center), 1.0 / case.duration
    peak = 2.0 * np.pi * case.frequency * case.swing
    sums = np.zeros((3, len(time), count))
    for joint in range(count):
        height = int(case.frequency[joint] / base)
        order = np.arange(max(1, height - 3), height + 4)
        omega = 2.0 * np.pi * base * order
        weight = order * random.uniform(0.3, 1.0, len(order)) / height
        phases = random.uniform(0, 2 * np.pi, len(order))
        turn = np.outer(time + shift, omega) + phases
        waves = [weight / omega * np.sin(turn), weight * np.cos(turn)]
        waves.append(-weight * omega * np.sin(turn))
        sums[:, :, joint] = [wave.sum(axis=1) for wave in waves]
    size = np.ptp(sums[0], axis=0) / 2.0
    middle = (sums[0].max(axis=0) + sums[0].min(axis=0)) / 2.0
    scale = np.minimum(np.abs(case.swing) / size, 1.5 * np.abs(peak) / np.abs(sums[1]).max(axis=0))
    return time, case.center + scale * (sums[0] - middle), scale * sums[1], scale * sums[2]


def friction(case: Case, velocity: Array) -> Array:
    """Friction torque: Coulomb, viscous, higher near standstill, uneven by direction."""
    coulomb = case.robot.coulomb
    top = 2.0 * np.pi * np.abs(case.robot.frequency * (case.robot.target - case.robot.start)) / 2
    unevenness = np.random.default_rng([3, case.seed]).uniform(-0.1, 0.1, len(coulomb))
    rise = 0.4 * coulomb * np.exp(-((velocity / (0.02 * top)) ** 2))
    kinetic = coulomb * (1.0 + unevenness * np.sign(velocity)) + rise
    return kinetic * np.tanh(velocity / (1e-4 * top)) + 0.8 * coulomb / top * velocity


# --- robots ------------------------------------------------------------------------------------


def robots(seed: int = 0) -> dict[str, Robot]:
    """Every kind of robot, its bodies varied by seed."""
    made = [
        six_axis(seed),
        scara(4, seed),
        scara(3, seed),
        delta(3, seed),
        delta(4, seed),
        puma(seed),
        crank(seed),
        lift(seed),
    ]
    return {robot.name: robot for robot in made}


def six_axis(seed: int) -> Robot:
    """The package's arm; its URDF is 15 % off the truth."""
    random = np.random.default_rng([1, seed])
    model = robot_model(SIX_AXIS)
    plant = UrdfModel.from_file(SIX_AXIS)
    values = np.nan_to_num(plant.prior())
    links = values[:60].reshape(6, 10)
    links *= random.uniform(0.85, 1.15, (6, 1))
    values[60:] = np.array([14.0, 18.0, 7.0, 1.1, 0.85, 0.32]) * random.uniform(0.8, 1.2, 6)
    limits = np.array([[j.lower, j.upper] for j in plant.urdf.joints if j.type == 'revolute'])
    turned = [[0, 0, 9.81], [9.81, 0, 0], [0, 9.81, 0]]
    return Robot(
        name='six_axis',
        model=model,
        rigid=lambda q, qd, qdd: plant.torque(q, qd, qdd, values),
        limits=limits,
        start=np.array([-1.2, -0.6, -1.4, -1.8, -1.5, -2.5]),
        target=np.array([1.2, 0.9, 0.4, 1.8, 1.5, 2.5]),
        frequency=np.array([0.17, 0.21, 0.25, 0.31, 0.37, 0.41]),
        coulomb=np.array([38.0, 46.0, 24.0, 4.8, 4.2, 2.4]),
        resolution=np.full(6, 2 * np.pi / 2**19 / 50),
        wrong=tuple(robot_model(SIX_AXIS, gravity=g) for g in turned),
    )


def scara(axes: int, seed: int) -> Robot:
    """Bodies of a scara, its document's motion."""
    random = np.random.default_rng([2, seed])
    vary = random.uniform(0.8, 1.2, 12)
    lengths = {'L1': 0.3, 'L2': 0.25}
    mass, inertia = np.array([8.0, 5.0, 1.5, 0.4]) * vary[:4], np.array([0.12, 0.06, 0.01, 0.01])
    inertia = inertia * vary[4:8]
    rotors = (np.array([0.35, 0.2, 3.0, 0.02]) * vary[8:])[:axes]
    parts = [
        body('revolute', [0, 0, 0.2], [0, 0, 1], mass[0], [0.12, 0, 0], inertia[[0, 0, 0]]),
        body('revolute', [0.3, 0, 0], [0, 0, 1], mass[1], [0.1, 0, 0], inertia[[1, 1, 1]]),
        body('prismatic', [0.25, 0, 0], [0, 0, 1], mass[2], [0, 0, 0], inertia[[2, 2, 2]]),
        body('revolute', [0, 0, 0], [0, 0, 1], mass[3], [0, 0, 0], inertia[[3, 3, 3]]),
    ]
    names = [f'joint{k}' for k in range(1, axes + 1)]
    description = {
        'kind': 'scara',
        'dynamic_model': 1,
        'joints': names,
        'geometry': lengths,
        'friction': list(FRICTION),
    }
    wide = np.array([160 * DEGREE, 160 * DEGREE, 0.075, 350 * DEGREE])[:axes]
    middle = np.array([0.0, 0.0, 0.075, 0.0])[:axes]
    rotors[2] = 0.0  # the document's third axis has none: it would not be M3's mass
    return Robot(
        name='scara' if axes == 4 else 'scara3',
        model=build_model(description),
        rigid=_rnea(urdf(parts[:axes]), rotors),
        limits=np.stack([middle - 1.05 * wide, middle + 1.05 * wide], axis=1),
        start=middle - wide,
        target=middle + wide,
        frequency=0.3 * np.array([1, 1.27, 1.43, 1.13])[:axes],
        coulomb=np.array([3.0, 1.5, 6.0, 0.15])[:axes],
        resolution=np.array([2e-6, 2e-6, 1e-6, 5e-6])[:axes],
    )


def delta(axes: int, seed: int) -> Robot:
    """A delta with the document's motion, in a middle of its range that all arms can reach."""
    vary = np.random.default_rng([3, seed]).uniform(0.8, 1.2, 11)
    lengths = {'R_b': 0.2, 'r_p': 0.05, 'L_AB': 0.3, 'L_BC': 0.7}
    if axes == 4:
        lengths['h_O'] = 0.1
    names = [f'joint{k}' for k in range(1, axes + 1)]
    description = {
        'kind': 'delta',
        'dynamic_model': 1,
        'joints': names,
        'geometry': lengths,
        'friction': list(FRICTION),
    }
    model = build_model(description)
    plant = build_model({key: description[key] for key in description if key != 'friction'})
    values = np.array([0.12, 2.5, 0.3, 0.01, 0.9, 0.25, 0.04, 0.03, 0.06, 1e-3, 0.01])
    values = values * vary
    values = values[: len(plant.parameters)]
    limits = plant.position_limits()
    limits[:3] = [-40 * DEGREE, 80 * DEGREE]
    start, target = np.full(axes, -30 * DEGREE), np.full(axes, 70 * DEGREE)
    if axes == 4:
        limits[3] = [-360 * DEGREE, 360 * DEGREE]
        start[3], target[3] = -350 * DEGREE, 350 * DEGREE
    return Robot(
        name='delta' if axes == 4 else 'delta3',
        model=model,
        rigid=lambda q, qd, qdd: plant.torque(q, qd, qdd, values),
        limits=limits,
        start=start,
        target=target,
        frequency=0.5 * np.array([1, 1.27, 1.43, 1.13])[:axes],
        coulomb=np.array([0.6, 0.6, 0.6, 0.05])[:axes],
        resolution=np.full(axes, 3e-6),
    )


def puma(seed: int) -> Robot:
    """Armstrong's Puma 560, in his frames."""
    vary = np.random.default_rng([4, seed]).uniform(0.8, 1.2, (4, 6))
    mass = np.array([10.0, 17.4, 4.8, 0.82, 0.34, 0.09]) * vary[0]
    centre = [[0, 0.05, 0], [0.068, 0.006, -0.016], [0, -0.07, 0.014], [0, 0, -0.019], [0, 0, 0]]
    centre = np.array([*centre, [0, 0, 0.032]]) * vary[1][:, None]
    tensor = [[0.35, 0.35, 0.35], [0.13, 0.524, 0.539], [0.066, 0.0125, 0.086]]
    tensor += [[1.8e-3, 1.8e-3, 1.3e-3], [3e-4, 3e-4, 4e-4], [1.5e-4, 1.5e-4, 4e-5]]
    tensor = np.array(tensor) * vary[2][:, None]
    rotors = np.array([1.14, 4.71, 0.83, 0.2, 0.179, 0.193]) * vary[3]
    half = np.pi / 2
    a2, a3, d2, d3, d4 = 0.4318, -0.0203, 0.2435, -0.0934, 0.4331
    frames = [(0, 0, 0), (-half, 0, d2), (0, a2, d3), (half, a3, d4), (-half, 0, 0), (half, 0, 0)]
    parts = [
        body(
            'revolute',
            [a, -d * np.sin(alpha), d * np.cos(alpha)],
            [0, 0, 1],
            mass[k],
            centre[k],
            tensor[k],
            rpy=(alpha, 0, 0),
        )
        for k, (alpha, a, d) in enumerate(frames)
    ]
    description = {
        'kind': 'puma',
        'dynamic_model': 1,
        'joints': [f'joint{k}' for k in range(1, 7)],
        'friction': list(FRICTION),
    }
    low, high = [-100, -170, 100, -60, -60, -100], [100, -40, 235, 60, 60, 100]
    start, target = np.array(low) * DEGREE, np.array(high) * DEGREE
    return Robot(
        name='puma',
        model=build_model(description),
        rigid=_rnea(urdf(parts), rotors),
        limits=np.stack([start - 0.2, target + 0.2], axis=1),
        start=start,
        target=target,
        frequency=0.3 * np.array([1.56, 1, 1.31, 1.47, 1.21, 1.07]),
        coulomb=np.array([6.0, 7.0, 4.0, 1.0, 0.8, 0.6]),
        resolution=np.full(6, 2 * np.pi / 2**19 / 20),
        wrong=(build_model({**description, 'dynamic_model': 2}),),
    )


def crank(seed: int) -> Robot:
    """A vertical crank arm."""
    vary = np.random.default_rng([5, seed]).uniform(0.8, 1.2, 2)
    inertia, weight = 0.4 * vary[0], 12.0 * vary[1]
    description = {
        'kind': 'axis',
        'type': 'rotary',
        'dynamic_model': 3,
        'joints': ['joint1'],
        'friction': list(FRICTION),
    }
    wrong = tuple(build_model({**description, 'dynamic_model': k}) for k in (1, 2))
    wide = np.array([350 * DEGREE])
    return Robot(
        name='axis',
        model=build_model(description),
        rigid=lambda q, qd, qdd: inertia * qdd - weight * np.sin(q),
        limits=np.stack([-1.03 * wide, 1.03 * wide], axis=1),
        start=-wide,
        target=wide,
        frequency=np.array([0.3]),
        coulomb=np.array([1.2]),
        resolution=np.array([3e-6]),
        wrong=wrong,
    )


def lift(seed: int) -> Robot:
    """A vertical linear axis."""
    vary = np.random.default_rng([6, seed]).uniform(0.8, 1.2, 2)
    mass = 12.0 * vary[0]
    description = {
        'kind': 'axis',
        'type': 'linear',
        'dynamic_model': 2,
        'joints': ['joint1'],
        'friction': list(FRICTION),
    }
    return Robot(
        name='lift',
        model=build_model(description),
        rigid=lambda q, qd, qdd: mass * qdd + mass * 9.81 * 0.7,
        limits=np.array([[-0.01, 0.61]]),
        start=np.array([0.0]),
        target=np.array([0.6]),
        frequency=np.array([0.8]),
        coulomb=np.array([12.0]),
        resolution=np.array([1e-6]),
        wrong=(build_model({**description, 'dynamic_model': 1}),),
    )


def _rnea(xml: str, rotors: Array) -> Rigid:
    plant = UrdfModel.from_xml(xml, rotor_inertia=False)
    values = np.nan_to_num(plant.prior())
    return lambda q, qd, qdd: plant.torque(q, qd, qdd, values) + qdd * rotors
