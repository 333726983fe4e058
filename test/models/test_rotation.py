# SPDX-License-Identifier: Apache-2.0
"""Rotations are loaded late."""

import subprocess
import sys

from scipy.spatial.transform import Rotation

from robodyn_ros.models.rotation import rotations


def test_rotations_are_those_of_scipy_and_motions_without_any_do_not_load_them():
    assert rotations() is Rotation
    code = 'import sys, robodyn_ros.excitation.catalog; print("scipy.spatial" in sys.modules)'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'False'
