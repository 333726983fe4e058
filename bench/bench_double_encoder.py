# SPDX-License-Identifier: Apache-2.0
"""RMSE of predicted torque per joint on another motion, like Table 4 of the document.

Weighted least squares with linear friction on the simulated arm with harmonic drives
(`harmonic_arm.py`), and the same with a residual torque from the encoders on both sides of the
gears: radial basis functions (RBF) and Gaussian mixture regression (GMR), over [deflection,
deflection rate] as the document has them and with the motor's velocity as a third input. Two
controls use one encoder only: an RBF of the velocity alone, and the automatic friction law. The
last row adds the torque of gear deflection to the automatic law: its gain over the best control
is the value of the second encoder. Every seed has other motions, ripple phases and noise: 60 s for
the identification within the limits of Table 1 of the document, and 20 s for the validation,
another Fourier series in the same band within 80 % of the limits. `--gears lossy` triples
hysteresis and load-dependent friction, which velocity does not show.

RMSE refers to the torque after the low pass of the identification, as in the document; `raw` to
the measured torque, with motor ripple and noise. Run without other load: `python
bench/bench_double_encoder.py [--seeds N] [--gears catalogue|lossy] [--json]`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / 'bench')]

from harmonic_arm import ARCMIN, STEP, Gears, HarmonicArms, Measured  # noqa: E402

from robodyn_ros.identification.gears.in_turn import Explained, in_turn  # noqa: E402
from robodyn_ros.identification.gears.motor_side import motor_side  # noqa: E402
from robodyn_ros.identification.options import GearTorque, IdentifyOptions  # noqa: E402
from robodyn_ros.identification.pipeline import identify  # noqa: E402
from robodyn_ros.identification.signals.processing import process  # noqa: E402
from robodyn_ros.models.catalog import robot_model  # noqa: E402
from robodyn_ros.models.gear_torque import GearTorqueLaw  # noqa: E402
from robodyn_ros.models.interface import DynamicModel  # noqa: E402
from robodyn_ros.recording.recording import Recording  # noqa: E402

Array = NDArray[np.float64]
OPTIONS = IdentifyOptions(consistent='no', keep_signals=True, gear_torque='none')
MIDDLE = np.array([0.0, -1.57, 0.0, -0.5, 0.3, 0.0])
LIMITS = [np.radians(row) for row in (
    [120, 90, 60, 120, 120, 120], [100, 60, 60, 80, 80, 80], [120] * 6,
)]  # fmt: skip
"""Position (about MIDDLE), velocity and acceleration: the document's Table 1."""
BAND = 0.05, 0.25
"""Lowest and highest frequency of the motions, in [Hz]."""
VARIANTS: dict[str, tuple[GearTorque, int]] = {
    'RBF, d and rate': ('rbf', 2),
    'GMR, d and rate': ('gmr', 2),
    'RBF, and velocity': ('rbf', 3),
    'GMR, and velocity': ('gmr', 3),
}
VELOCITY, LAW, BOTH = 'RBF, velocity alone', 'automatic friction law', 'law and deflection'
ONE_ENCODER = (VELOCITY, LAW)
"""Variants that need no encoder on the motor."""
GEARS = {'catalogue': Gears(), 'lossy': Gears(load=0.135, hysteresis=3.0 * ARCMIN)}
"""Gears of the arm, see `harmonic_arm`."""


def motion(seed: list[int], duration: float, share: float) -> tuple[Array, Array]:
    """Return a Fourier series with complete periods, scaled to the limits.

    :return: position and velocity at every step of the plant, shape (N, 6), in [rad], [rad/s]
    """
    random, when = np.random.default_rng(seed), np.arange(0.0, duration, STEP)
    orders = np.arange(round(BAND[0] * duration), round(BAND[1] * duration) + 1)
    omega = 2.0 * np.pi * orders / duration
    size = random.normal(size=(len(omega), 6))
    turn = omega[:, None] * when[:, None, None] + random.uniform(0, 2 * np.pi, size.shape)
    waves = [size / omega[:, None] * np.sin(turn), size * np.cos(turn)]
    waves.append(-size * omega[:, None] * np.sin(turn))
    sums = [wave.sum(axis=1) for wave in waves]
    peaks = [limit / np.abs(each).max(axis=0) for limit, each in zip(LIMITS, sums, strict=True)]
    scale = share * np.min(peaks, axis=0)
    return MIDDLE + scale * sums[0], scale * sums[1]


def recordings(
    seeds: list[int], number: int, duration: float, share: float, gears: Gears
) -> list[Measured]:
    """Return one motion of each arm."""
    paths = [motion([31, seed, number], duration, share) for seed in seeds]
    position, velocity = (np.stack([path[index] for path in paths], axis=1) for index in (0, 1))
    return HarmonicArms(seeds, gears).run(position, velocity)


def recording(measured: Measured, model: DynamicModel) -> Recording:
    """Return the recording of a bag of the signals."""
    return Recording(
        time=measured.time,
        joints=model.joint_names,
        position=measured.link,
        torque=measured.torque,
        motor_position=measured.motor,
        gear_ratio=np.full(6, 100.0),
        source='harmonic arm',
    )


def rmse(
    model: DynamicModel, values: Array, found: GearTorqueLaw | None, other: Recording
) -> tuple[Array, Array]:
    """Return the RMSE per joint on another recording, of low-passed and of measured torque."""
    signals = process(other, model.joint_names, OPTIONS)
    predicted = model.torque(*signals.motion, values)
    if found is not None:
        rows = np.searchsorted(other.time, signals.time - 1e-9)
        seen = motor_side(other, found.cutoff)
        predicted = predicted + found.torque(*(each[rows] for each in seen))
    errors = (signals.torque - predicted, signals.measured - predicted)
    return tuple(np.sqrt(np.mean(error**2, axis=0)) for error in errors)  # type: ignore[return-value]


def measure(training: Measured, validation: Measured) -> dict[str, Array]:
    """Return RMSE (2, 6) of every variant, low-passed and raw, for a seed, and cycle times."""
    model = robot_model(ROOT / 'urdf' / 'ur10.urdf')
    first, other = recording(training, model), recording(validation, model)
    plain, explained = _identified(first, model)
    table = {'WLS': np.stack(rmse(model, plain, None, other))}
    for name, (kind, count) in VARIANTS.items():
        found, values = _with_deflection(model, plain, explained, kind, count)
        table[name] = np.stack(rmse(model, values, found, other))
        if found is not None:
            table[f'{name} [us]'] = np.array(1e6 * evaluation_time(found))
    # The motor where the link is: no deflection, only velocity.
    stiff = [replace(each, motor_position=each.position) for each in (first, other)]
    blind = replace(explained, recording=stiff[0])
    found, values = _with_deflection(model, plain, blind, 'rbf', 3)
    table[VELOCITY] = np.stack(rmse(model, values, found, stiff[1]))
    lawful = identify(first, robot_model(ROOT / 'urdf' / 'ur10.urdf', friction='auto'),
                      options=OPTIONS)  # fmt: skip
    assert lawful.signals is not None
    table[LAW] = np.stack(rmse(lawful.model, lawful.values, None, other))
    explained = Explained(first, lawful.signals.processed, lawful.signals.predicted)
    found, values = _with_deflection(lawful.model, lawful.values, explained, 'auto', None)
    table[BOTH] = np.stack(rmse(lawful.model, values, found, other))
    return table


def _identified(first: Recording, model: DynamicModel) -> tuple[Array, Explained]:
    result = identify(first, model, options=OPTIONS)
    assert result.signals is not None
    return result.values, Explained(first, result.signals.processed, result.signals.predicted)


def _with_deflection(
    model: DynamicModel, values: Array, explained: Explained, kind: GearTorque, count: int | None
) -> tuple[GearTorqueLaw | None, Array]:
    """Return the torque of gear deflection and the parameters with it."""
    options = replace(OPTIONS, gear_torque=kind)
    if count is not None:
        options = replace(options, gear_inputs=(count,))
    found, _, changed = in_turn(model, values, [explained], options)
    return found, changed


def evaluation_time(found: GearTorqueLaw, cycles: int = 2000) -> float:
    """Return the median time of one evaluation for six axes, in [s]."""
    sample, times = [np.full((1, 6), 1e-4) for _ in range(3)], []
    for _ in range(cycles):
        begin = time.perf_counter()
        found.torque(sample[0], sample[1], sample[2])
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def report(table: dict[str, Array]) -> None:
    """Print means over the seeds, and what the second encoder adds to the best control."""
    print(f'{"RMSE [Nm], low-passed":<24}' + ''.join(f'{f"joint {n}":>9}' for n in range(1, 7)))
    for which, word in enumerate(('', 'raw ')):
        plain = table['WLS'][which]
        for name in ('WLS', *VARIANTS, *ONE_ENCODER, BOTH):
            row = table[name][which]
            print(f'{word + name:<24}' + ''.join(f'{value:>9.3f}' for value in row), end='')
            print(f'   mean less than WLS {np.mean(1.0 - row / plain):.1%}')
        control = np.min([table[name][which] for name in ONE_ENCODER], axis=0)
        added = 1.0 - table[BOTH][which] / control
        shares = ' '.join(f'{value:.1%}' for value in added)
        print(f'{word}second encoder over the best control: {shares}, mean {added.mean():.1%}')
    for name in VARIANTS:
        if f'{name} [us]' in table:
            print(f'{name}: {table[f"{name} [us]"]:.0f} us for one evaluation of six axes')


def main() -> int:
    """Simulate all seeds at once, then identify one by one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--json', action='store_true', help='RMSE of every seed')
    parser.add_argument('--gears', choices=[*GEARS], default='catalogue')
    arguments = parser.parse_args()
    seeds, gears = list(range(arguments.seeds)), GEARS[arguments.gears]
    pairs = zip(
        recordings(seeds, 0, 60.0, 0.95, gears),
        recordings(seeds, 1, 20.0, 0.8, gears),
        strict=True,
    )
    tables = [measure(training, validation) for training, validation in pairs]
    if arguments.json:
        print(json.dumps([{k: v.tolist() for k, v in table.items()} for table in tables]))
        return 0
    mean = {
        name: np.mean([table[name] for table in tables if name in table], axis=0)
        for name in {name: None for table in tables for name in table}
    }
    report(mean)
    return 0


if __name__ == '__main__':
    sys.exit(main())
