"""Time and memory of an identification: 50 000 samples x 6 axes, and an hour at 1 kHz.

Friction is chosen automatically, time offsets are looked for, and the consistent estimate is
chosen or not: all defaults. Prints, for signals as given and for positions to be filtered and
differentiated, and for every estimator, the seconds of every step and the peak memory, and how
much of it is on top of the recording.
Run it alone: `python bench/bench_identify.py [--samples N] [--hour] [--json]`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from robodyn_ros.identification.options import METHODS, IdentifyOptions, Method
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array, DynamicModel, sample_blocks
from robodyn_ros.recording.recording import Recording

ROOT = Path(__file__).resolve().parent.parent
RATE = 500.0
HOUR = 3_600_000
FIT = ('process', 'base_parameters', 'condense', 'estimate')


def motion(time: Array, joints: int) -> tuple[Array, Array, Array]:
    """Five sines per joint, different in every joint."""
    random = np.random.default_rng(1)
    q, qd, qdd = (np.zeros((len(time), joints)) for _ in range(3))
    for joint in range(joints):
        for harmonic in range(1, 6):
            w = 2.0 * np.pi * 0.1 * harmonic
            size, phase = random.normal() * 0.5 / harmonic, random.uniform(0.0, 2.0 * np.pi)
            q[:, joint] += size * np.sin(w * time + phase)
            qd[:, joint] += size * w * np.cos(w * time + phase)
            qdd[:, joint] -= size * w**2 * np.sin(w * time + phase)
    return q, qd, qdd


def simulated(model: DynamicModel, samples: int, derivatives: bool) -> Recording:
    """Record the model with its prior, friction and 1 % of torque noise, in little memory."""
    random, joints = np.random.default_rng(2), len(model.joints)
    rate = RATE if samples <= 1_000_000 else 1000.0
    stamps, values = np.arange(samples) / rate, np.nan_to_num(model.prior(), nan=1.0)
    q, torque = np.empty((2, samples, joints))
    qd, qdd = np.empty((2, samples if derivatives else 0, joints))
    for part in sample_blocks(samples, 50_000):
        states = motion(stamps[part], joints)
        clean = model.torque(*states, values)
        noise = 0.01 * clean.std(axis=0) * random.normal(size=clean.shape)
        q[part], torque[part] = states[0], clean + noise
        if derivatives:
            qd[part], qdd[part] = states[1:]
    given = {'velocity': qd, 'acceleration': qdd} if derivatives else {}
    for signal in (stamps, q, torque, *given.values()):
        signal.setflags(write=False)  # not copied by the recording
    return Recording(
        time=stamps, joints=model.joint_names, position=q, torque=torque, source='bench', **given
    )


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def resident_megabytes() -> float:
    """Resident memory of this process now."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measure(samples: int, derivatives: bool, estimator: Method) -> dict[str, float]:
    """Identify once and return seconds per step and memory in MB."""
    truth = robot_model(ROOT / 'urdf' / 'ur10.urdf')
    recording = simulated(truth, samples, derivatives)
    model = robot_model(ROOT / 'urdf' / 'ur10.urdf', friction='auto')
    before, resident = peak_megabytes(), resident_megabytes()
    start = time.process_time()
    result = identify(recording, model, options=IdentifyOptions(estimator=estimator))
    used = time.process_time() - start
    facts = {f'{name} [s]': seconds for name, seconds in result.timings.items()}
    facts['processor time [s]'] = used
    facts['fit [s]'] = sum(result.timings[name] for name in FIT)
    facts['peak before [MB]'] = before
    facts['peak [MB]'] = peak_megabytes()
    facts['on top of the recording [MB]'] = peak_megabytes() - resident
    facts['signals of the recording [MB]'] = samples * (6 * (4 if derivatives else 2) + 1) * 8e-6
    facts['success'] = float(result.success)
    return facts


def main() -> int:
    """Measure each case in a process of its own, so that peaks do not mix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=50_000)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--hour', action='store_true', help='an hour at 1 kHz too')
    parser.add_argument('--estimator', choices=METHODS, nargs='+', default=list(METHODS))
    parser.add_argument('--one', nargs=3, metavar=('SAMPLES', 'DERIVATIVES', 'ESTIMATOR'))
    arguments = parser.parse_args()
    if arguments.one:
        samples, derivatives, estimator = arguments.one
        print(json.dumps(measure(int(samples), derivatives == 'given', estimator)))
        return 0
    table: dict[str, dict[str, float]] = {}
    count, wls = arguments.samples, arguments.estimator[:1]
    cases = [(count, arguments.estimator), (10 * count, wls)]
    cases += [(HOUR, wls)] if arguments.hour else []
    for derivatives in ('given', 'computed'):
        for samples, estimators in cases:
            for estimator in estimators:
                if samples == HOUR and derivatives == 'given':
                    continue
                command = [sys.executable, __file__, '--one', str(samples), derivatives, estimator]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                table[f'{samples} {derivatives} {estimator}'] = json.loads(output)
    if arguments.json:
        print(json.dumps(table, indent=2))
        return 0
    for case, facts in table.items():
        print(case)
        for name, value in facts.items():
            print(f'  {name:<30} {value:10.3f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
