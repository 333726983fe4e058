# SPDX-License-Identifier: Apache-2.0
"""Time and memory of an identification: 50 000 samples x 6 axes, and an hour at 1 kHz.

All options have their defaults: selected friction law, corrected time offsets, selected estimate.
Prints, for signals as given and for positions to be filtered and differentiated, and for every
estimator, wall and CPU time of every step, and the peak memory. `--files` writes recordings of
growing length, up to an hour at 1 kHz, to files and measures the process `robodyn identify FILE`.
Run without other load: `python bench/bench_identify.py [--samples N] [--files [npz csv bag mat]]
[--json]`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'test/support'))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'test/support/monitor'))

from writers import write_csv, write_rosbag

from robodyn_ros.identification.options import METHODS, IdentifyOptions, Method
from robodyn_ros.identification.pipeline import identify
from robodyn_ros.models.catalog import robot_model
from robodyn_ros.models.interface import Array, DynamicModel, sample_blocks
from robodyn_ros.recording.bags.bag_metadata import EFFORT_KEY, SI_EFFORT
from robodyn_ros.recording.recording import Recording

ROOT = Path(__file__).resolve().parent.parent
RATE = 500.0
HOUR = 3_600_000
LENGTHS = (360_000, 900_000, 1_800_000, HOUR)
FORMATS = ('npz', 'csv', 'bag', 'mat')
FIT = ('process', 'condense', 'estimate')


def motion(time: Array, joints: int) -> tuple[Array, Array, Array]:
    """Return five sines per joint, different in every joint."""
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
    """Return the peak resident memory of this program (ru_maxrss includes its parent)."""
    status = Path('/proc/self/status').read_text()
    found = re.search(r'VmHWM:\s*(\d+) kB', status)
    assert found is not None
    return int(found[1]) / 1024.0


def measure(samples: int, derivatives: bool, estimator: Method) -> dict[str, float]:
    """Identify once and return seconds per step and memory in MB."""
    truth = robot_model(ROOT / 'urdf' / 'ur10.urdf')
    recording = simulated(truth, samples, derivatives)
    model = robot_model(ROOT / 'urdf' / 'ur10.urdf', friction='auto')
    before, start = peak_megabytes(), time.process_time()
    importlib.import_module('scipy.signal')  # once in a process: it is not of the identification
    imported = time.process_time() - start
    start, clock = time.process_time(), time.perf_counter()
    result = identify(recording, model, options=IdentifyOptions(estimator=estimator))
    facts = {f'{name} [s]': seconds for name, seconds in result.timings.items()}
    facts['imports before [s]'] = imported
    facts['wall [s]'] = time.perf_counter() - clock
    facts['processor time [s]'] = time.process_time() - start
    facts['fit [s]'] = sum(result.timings[name] for name in FIT)
    facts['peak before [MB]'] = before
    facts['peak [MB]'] = peak_megabytes()
    facts['success'] = float(result.success)
    return facts


def write(samples: int, form: str, folder: Path) -> Path:
    """Write positions and torques of a number of samples to a file."""
    recording = simulated(robot_model(ROOT / 'urdf' / 'ur10.urdf'), samples, False)
    path = folder / f'{samples}.{form}'
    arrays = {'time': recording.time, 'q': recording.position, 'tau': recording.torque}
    if form == 'csv':
        write_csv(recording, path)
    elif form == 'bag':
        write_rosbag(recording, path, metadata={EFFORT_KEY: json.dumps(SI_EFFORT)})
    elif form == 'mat':
        from scipy.io import savemat

        savemat(path, arrays, do_compression=True, oned_as='column')
    else:
        np.savez(path, joint_names=np.array(recording.joints), **arrays)
    return path


def measure_file(path: Path) -> dict[str, float]:
    """Identify from a file with the command line: time and peak memory of the process."""
    urdf = str(ROOT / 'urdf' / 'ur10.urdf')
    command = [sys.executable, '-m', 'robodyn_ros.cli.main', 'identify', str(path)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command += ['--urdf', urdf, '--friction', 'auto', '--json']
    output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        'wall [s]': time.perf_counter() - start,
        'processor time [s]': seconds,
        'identification [s]': json.loads(output)['timings']['total'],
        'peak [MB]': after.ru_maxrss / 1024.0,
    }


def of_files(formats: list[str]) -> dict[str, dict[str, float]]:
    """Measure each format and length; writing and measuring are separate processes."""
    table = {}
    with tempfile.TemporaryDirectory(dir='.') as folder:
        for form in formats:
            for samples in LENGTHS:
                facts = []
                for what in ('--write', '--file'):
                    path = Path(folder) / f'{samples}.{form}'
                    names = [str(samples), form, folder] if what == '--write' else [str(path)]
                    command = [sys.executable, __file__, what, *names]
                    done = subprocess.run(command, check=True, capture_output=True, text=True)
                    facts.append(done.stdout)
                table[f'{samples} {form}'] = json.loads(facts[-1])
    return table


def main() -> int:
    """Measure each case in a separate process, because peaks of memory accumulate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--samples', type=int, default=50_000)
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--files', nargs='*', choices=FORMATS, help='from files, up to an hour')
    parser.add_argument('--estimator', choices=METHODS, nargs='+', default=list(METHODS))
    parser.add_argument('--one', nargs=3, metavar=('SAMPLES', 'DERIVATIVES', 'ESTIMATOR'))
    parser.add_argument('--write', nargs=3, metavar=('SAMPLES', 'FORMAT', 'FOLDER'))
    parser.add_argument('--file', type=Path)
    arguments = parser.parse_args()
    if arguments.write:
        samples, form, folder = arguments.write
        write(int(samples), form, Path(folder))
        return 0
    if arguments.file:
        print(json.dumps(measure_file(arguments.file)))
        return 0
    if arguments.one:
        samples, derivatives, estimator = arguments.one
        print(json.dumps(measure(int(samples), derivatives == 'given', estimator)))
        return 0
    if arguments.files is not None:
        show(of_files(arguments.files or list(FORMATS)), arguments.json)
        return 0
    table: dict[str, dict[str, float]] = {}
    count = arguments.samples
    cases = [(count, arguments.estimator), (10 * count, arguments.estimator[:1])]
    for derivatives in ('given', 'computed'):
        for samples, estimators in cases:
            for estimator in estimators:
                command = [sys.executable, __file__, '--one', str(samples), derivatives, estimator]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                table[f'{samples} {derivatives} {estimator}'] = json.loads(output)
    show(table, arguments.json)
    return 0


def show(table: dict[str, dict[str, float]], as_json: bool) -> None:
    """Print the figures."""
    if as_json:
        print(json.dumps(table, indent=2))
        return
    for case, facts in table.items():
        print(case)
        for name, value in facts.items():
            print(f'  {name:<30} {value:10.3f}')


if __name__ == '__main__':
    sys.exit(main())
