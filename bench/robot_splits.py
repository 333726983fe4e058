# SPDX-License-Identifier: Apache-2.0
"""All splits of the real machines in ROBODYN_DATA: which recording is fitted, which validates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import permutations

from bench.verdict.corpus import DATA, Pair, Split, splits
from robodyn_ros.models.interface import DynamicModel
from robodyn_ros.recording.readers import read_recording
from robodyn_ros.recording.signals import split_motion

RECORDINGS = {
    'lwr4': ('measurements_1', 'measurements_2'),
    'airbot': ('chirp', 'trapezoid'),
    'airbot_2': ('motion_5', 'motion_8'),
    'shanghai': ('motion_1', 'motion_2', 'motion_3'),
    'kr300': ('A', 'B', 'C'),
}
"""Recordings of a machine; each is fitted and validated on each other one."""

FOLDERS = {
    'lwr4': 'kuka_lwr4', 'airbot': 'robots/airbot_play', 'airbot_2': 'robots/airbot_play_2',
    'shanghai': 'robots/shanghai_6r', 'kr300': 'robots/kr300', 'xl330': 'robots/xl330',
}  # fmt: skip


def all_splits() -> list[Split]:
    """Return every split, as published."""
    by_name = {each.name: each for each in splits()}
    result = [
        _between(by_name[name], fit, test)
        for name, files in RECORDINGS.items()
        for fit, test in permutations(files, 2)
    ]
    ur10, emps = by_name['ur10'], by_name['emps']
    result += [
        replace(ur10, name='ur10 first 70 %'),
        replace(ur10, name='ur10 last 70 %', read=_last_of_ur10),
        replace(emps, name='emps excitation > pulses'),
        replace(emps, name='emps pulses > excitation', read=lambda model: emps.read(model)[::-1]),
        replace(by_name['tx40'], name='tx40 60 %'),
        replace(by_name['wam'], name='wam 70 %'),
        _between(by_name['xl330'], 'sine_400', 'steps_400'),
        _between(by_name['xl330'], 'steps_800', 'updown_400'),
        replace(by_name['hej90'], name='hej90 tms_42 > tms_54'),
    ]
    return result


def _between(split: Split, fit: str, test: str) -> Split:
    read = partial(_read, FOLDERS[split.name], fit, test)
    return replace(split, name=f'{split.name} {fit} > {test}', read=read)


def _read(folder: str, fit: str, test: str, model: DynamicModel) -> Pair:
    one, other = (
        read_recording(DATA / folder / f'{name}.npz', joints=model.joint_names)
        for name in (fit, test)
    )
    return one, other


def _last_of_ur10(model: DynamicModel) -> Pair:
    first, last = split_motion(read_recording(DATA / 'ur10', joints=model.joint_names), 0.3)
    return last, first
