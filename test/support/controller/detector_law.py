# SPDX-License-Identifier: Apache-2.0
"""Collision detectors of the controller plugin (its program `detector_check`) and of the node."""

from __future__ import annotations

import subprocess

import numpy as np
from controller_build import program
from controller_models import MODELS
from writers import result_file

from robodyn_ros.control.collision.change_at_rest import ReferenceRest
from robodyn_ros.control.collision.detector import TorqueErrorDetector
from robodyn_ros.control.collision.settings import CollisionSettings
from robodyn_ros.control.collision.threshold_map import Bands, ThresholdMap
from robodyn_ros.control.collision.thresholds_file import (
    DETECTOR,
    LearnedThresholds,
    write_thresholds,
)
from robodyn_ros.control.torque.model_torque import ModelTorque
from robodyn_ros.errors import Fault
from robodyn_ros.faults import FAULTS, number_of
from robodyn_ros.identification.files.result_file import load_identified_model
from robodyn_ros.models.payload import payload_of
from robodyn_ros.nodes.collision_monitor.node import worst_level

PERIOD, COUNT, WINDOW = 0.002, 6000, 0.05
EXCLUDED = np.array([True, False, True, False, False, True])
TIMES = {'period': PERIOD, 'torque_error_filter': 0.4, 'filter_cutoff': 60.0,
         'low_velocity_hold': 0.03, 'debounce': 3, 'settle_time': 0.06, 'stale_timeout': 0.05,
         'frozen_timeout': 0.2}  # fmt: skip


class Samples:
    """Samples of a smooth motion with pushes, and what else comes in; all of it may be changed."""

    def __init__(self, model, values, seed=0):
        random = np.random.default_rng(seed)
        width = len(model.joints)
        low, high = np.clip(model.position_limits(), -1.0, 1.0).T
        speed, phase = random.uniform(0.5, 4.0, width), random.uniform(0.0, 6.0, width)
        self.stamp = 1.7e9 + PERIOD * np.arange(COUNT) + random.uniform(0.0, 3e-4, COUNT)
        angle, half = speed * self.stamp[:, None] % (2.0 * np.pi) + phase, 0.5 * (high - low)
        self.q = low + half * (1.0 + np.sin(angle))
        self.qd, qdd = half * speed * np.cos(angle), -half * speed**2 * np.sin(angle)
        law = ModelTorque(model, values, velocity_window=WINDOW)
        law.exclude_gravity(EXCLUDED[:width])
        self.torque = law.torque(self.q, self.qd, qdd)
        self.size = 0.2 + 0.1 * np.abs(self.torque).max(axis=0)
        self.torque += 0.02 * self.size * random.normal(size=(COUNT, width))
        for begin in random.integers(100, COUNT, 40):
            joint, long = random.integers(width), random.integers(3, 60)
            share = random.uniform(-2.5, 2.5)
            self.torque[begin : begin + long, joint] += share * self.size[joint]
        self.sensitivity, self.reset = np.ones(COUNT), random.random(COUNT) < 0.003
        self.mass = np.full(COUNT, np.nan)
        self.reference = self.q.copy()
        for begin in range(200, COUNT, 900):
            self.reference[begin : begin + 400] = self.q[begin]

    def settings(self, model, **changed):
        width = len(model.joints)
        return CollisionSettings(
            model.joint_names, max_torque_error=self.size, contact_threshold=0.6 * self.size,
            low_velocity=np.linspace(0.1, 0.3, width),
            low_velocity_torque=np.linspace(0.0, 0.2, width),
            **{**TIMES, **changed},
        )  # fmt: skip


def trouble(samples):
    """Change samples to all that may be wrong with them, one after the other."""
    samples.q[400, 1] = samples.qd[450, 0] = np.nan
    samples.torque[500, 2], samples.torque[550, 0] = np.inf, 1e200
    for kind in (samples.q, samples.qd, samples.torque):
        kind[900:1060] = kind[900]
    samples.stamp[1500:] += 0.006
    samples.stamp[1700:] += 0.049
    samples.stamp[1900:] += 0.3
    samples.stamp[2300] = samples.stamp[2299]
    samples.stamp[2500:] -= 5.0
    samples.stamp[2700:] += 1e6
    samples.stamp[3000:3100] -= 0.9 * PERIOD * np.arange(100)  # ten times as fast
    samples.stamp[3100:] -= 0.9 * PERIOD * 100
    samples.stamp[3400] += 0.02  # and back with the next one
    samples.stamp[3600] = np.nan
    samples.sensitivity[3800:4200], samples.sensitivity[4200:] = 2.0, 0.5
    samples.mass[4300], samples.mass[4350], samples.mass[4800] = 5.0, 2.0, 0.0


def learned(residual='filtered', *, edges=(2, 1, 2), seed=0, **detector):
    """Return a function that makes random thresholds for samples, with numbers of edges."""

    def learn(model, path, samples):
        random = np.random.default_rng(seed)
        width = len(model.joints)
        speed = np.nanquantile(np.abs(samples.qd), 0.99, axis=0)
        jumps = np.abs(np.diff(samples.qd, axis=0)) / PERIOD
        hard = np.nanquantile(jumps, 0.9, axis=0)
        still = 0.1 * speed
        ranges = ((still, speed), (0.0 * hard, hard), (np.zeros(width), np.full(width, 0.4)))
        bands = Bands(still, *(
            np.sort(random.uniform(low, high, (count, width)), axis=0).T
            for count, (low, high) in zip(edges, ranges, strict=True)
        ), rest=0.1)  # fmt: skip
        bands.reversal[:, :1] = 0.0  # at a start, the time since it is exactly on this edge
        collision = samples.size[:, None] * random.uniform(0.5, 2.5, (width, bands.cells))
        change = 0.3 * samples.size if seed % 2 == 0 else None
        given = ThresholdMap(bands, collision, 0.6, 0.8 * speed, 0.8 * hard, change)
        values = {'residual': residual, 'observer_bandwidth': 22.0, **TIMES, **detector}
        return LearnedThresholds(
            joints=tuple(model.joint_names),
            model_hash=load_identified_model(path).loaded_hash,
            detector={key: values[key] for key in DETECTOR},
            map=given, hours=1.0, rate=3.0,
        )  # fmt: skip

    return learn


def run(path, each, settings, samples=(), name='detector_check', thresholds=None, **options):
    """Run the program with settings by joint and the others."""
    numbers = [str(WINDOW), *(repr(getattr(settings, key)) for key in TIMES)]
    method = [settings.residual, repr(settings.observer_bandwidth)]
    return subprocess.run(
        [program(name), path, *numbers, *method, *filter(None, [thresholds])],
        capture_output=True, timeout=120,
        input=np.concatenate([*each, samples]).astype(float).tobytes(), **options,
    )  # fmt: skip


def by_plugin(path, samples, settings, **options):
    """Levels, errors and thresholds (N, n), latched, worst and fault (N, 3), printed text."""
    width = len(settings.joints)
    each = (settings.collision, settings.contact, settings.low_velocity, settings.extra,
            settings.enabled, EXCLUDED[:width])  # fmt: skip
    given = np.column_stack([
        samples.q, samples.qd, samples.torque, samples.reference, samples.stamp,
        samples.sensitivity, samples.reset, samples.mass,
    ])  # fmt: skip
    done = run(path, each, settings, given.ravel(), **options)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    out = np.frombuffer(done.stdout).reshape(len(given), 3 * width + 3)
    return *(out[:, k * width : (k + 1) * width] for k in range(3)), out[:, 3 * width :], said


def by_node(model, values, samples, settings, learned=None):
    """The same of the Python detector."""
    torque = ModelTorque(model, values, velocity_window=WINDOW)
    torque.exclude_gravity(EXCLUDED[: len(model.joints)])
    thresholds = None if learned is None else learned.thresholds()
    settings = settings if learned is None else learned.settings(settings)
    detector = TorqueErrorDetector(torque=torque, settings=settings, thresholds=thresholds)
    rows, reference = [], ReferenceRest(len(model.joints))
    for k, stamp in enumerate(samples.stamp.tolist()):
        detector.sensitivity = samples.sensitivity[k]
        if samples.reset[k]:
            detector.reset()
        if np.isfinite(samples.mass[k]):
            torque.set_values(values + payload_of(model, samples.mass[k]).added)
            detector.lose(Fault('payload_changed', 'the payload was changed'))
        reference.update(stamp, samples.reference[k])
        detector.rest(reference.rests(stamp))
        with np.errstate(all='ignore'):
            detector.update(stamp, samples.q[k], samples.qd[k], samples.torque[k])
        said = (detector.latched, worst_level(detector), number_of(detector.message))
        rows.append([*detector.level, *detector.torque_error, *detector.threshold, *said])
    out, width = np.array(rows, dtype=float), len(model.joints)
    return *(out[:, k * width : (k + 1) * width] for k in range(3)), out[:, 3 * width :]


def check(tmp_path, name, change=lambda samples: None, *, learn=None, seed=0, **changed):
    """Compare both detectors; return levels and thresholds (N, n) and names of the faults (N,).

    :param learn: makes `LearnedThresholds` of model, hash and samples; None: constant ones
    """
    model = MODELS[name]()
    values = np.random.default_rng(1).uniform(0.1, 2.0, len(model.parameters))
    samples = Samples(model, values, seed)
    change(samples)
    settings = samples.settings(model, **changed)
    path = result_file(tmp_path, model, values)
    learned, file = None, None
    if learn is not None:
        learned, file = learn(model, path, samples), tmp_path / 'thresholds.yaml'
        write_thresholds(learned, file)
    *found, said = by_plugin(path, samples, settings, thresholds=file)
    expected = by_node(model, values, samples, settings, learned)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)
    assert said.endswith('allocations 0\n'), said
    names = {entry.number: name for name, entry in FAULTS.items()}
    return found[0], found[2], np.array([names[int(number)] for number in found[3][:, 2]])
