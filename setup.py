# SPDX-License-Identifier: Apache-2.0
"""Installs the ROS-free core and the `robodyn` command with pip; ROS 2 users run colcon build."""

from pathlib import Path

from setuptools import find_packages, setup

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
    install_requires=[line for line in lines if line and not line.startswith('#')],
    entry_points={'console_scripts': ['robodyn = robodyn_ros.runs.entry:robodyn']},
)
