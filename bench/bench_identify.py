"""Time and memory of an identification: 50 000 samples x 6 axes, and ten times as many.

Prints, for signals as given and for positions to be filtered and differentiated, the seconds of
every step and the peak memory, and how much of the peak is the recording itself. Run it alone:
`python bench/bench_identify.py [--samples N] [--json]`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from robodyn_ros.identification.options import IdentifyOptions
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array, DynamicModel
from robodyn_ros.recording.recording import Recording

ROOT = Path(__file__).resolve().parent.parent
RATE = 500.0
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
    """Record the model with its prior, friction and 1 % of torque noise."""
    random = np.random.default_rng(2)
    time = np.arange(samples) / RATE
    q, qd, qdd = motion(time, len(model.joints))
    torque = model.torque(q, qd, qdd, np.nan_to_num(model.prior(), nan=1.0))
    torque += 0.01 * torque.std(axis=0) * random.normal(size=torque.shape)
    given = {'velocity': qd, 'acceleration': qdd} if derivatives else {}
    return Recording(
        time=time, joints=model.joint_names, position=q, torque=torque, source='bench', **given
    )


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def measure(samples: int, derivatives: bool) -> dict[str, float]:
    """Identify once and return seconds per step and memory in MB."""
    model = robot_model(ROOT / 'urdf' / 'ur10.urdf')
    recording = simulated(model, samples, derivatives)
    before = peak_megabytes()
    result = identify(recording, model, options=IdentifyOptions())
    facts = {f'{name} [s]': seconds for name, seconds in result.timings.items()}
    facts['fit [s]'] = sum(result.timings[name] for name in FIT)
    facts['peak before [MB]'] = before
    facts['peak [MB]'] = peak_megabytes()
    facts['signals of the recording [MB]'] = samples * (6 * (4 if derivatives else 2) + 1) * 8e-6
    facts['success'] = float(result.success)
    return facts


def main() -> int:
    """Measure each case in a process of its own, so that peaks do not mix."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=50_000)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--one', nargs=2, metavar=('SAMPLES', 'DERIVATIVES'))
    arguments = parser.parse_args()
    if arguments.one:
        samples, derivatives = arguments.one
        print(json.dumps(measure(int(samples), derivatives == 'given')))
        return 0
    table: dict[str, dict[str, float]] = {}
    for derivatives in ('given', 'computed'):
        for samples in (arguments.samples, 10 * arguments.samples):
            command = [sys.executable, __file__, '--one', str(samples), derivatives]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            table[f'{samples} {derivatives}'] = json.loads(output)
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
