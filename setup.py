# SPDX-License-Identifier: Apache-2.0
"""Installs the ROS-free core and the `robodyn` command with pip; ROS 2 users run colcon build."""

from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
lines = Path(__file__).with_name('requirements').joinpath('core.in').read_text().splitlines()

setup(
    name='robodyn_ros',
    version='0.1.0',
    description='Robot dynamics: excitation, identification, feed-forward, collision monitoring',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(include=['robodyn_ros', 'robodyn_ros.*']),
    package_data={
        'robodyn_ros': [
            'py.typed',
            'cell/profiles.yaml',
            'faults.yaml',
            'findings.yaml',
            'node_parameters/names.yaml',
            'report/page/*',
            'report/page/vendored/*',
            'watch/page/*',
        ]
    },
    data_files=[
        (f'share/robodyn_ros/{folder.relative_to(ROOT)}', [str(each) for each in files])
        for top in ('config', 'urdf')
        for folder in (ROOT / top, *filter(Path.is_dir, sorted((ROOT / top).rglob('*'))))
        if (files := [each.relative_to(ROOT) for each in folder.iterdir() if each.is_file()])
    ],
    install_requires=[line for line in lines if line and not line.startswith('#')],
    entry_points={'console_scripts': ['robodyn = robodyn_ros.runs.entry:robodyn']},
)
