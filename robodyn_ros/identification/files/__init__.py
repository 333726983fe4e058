# SPDX-License-Identifier: Apache-2.0
"""Files of a result: parameter file, report, URDF, PRG, signals."""
