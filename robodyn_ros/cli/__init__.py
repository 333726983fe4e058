# SPDX-License-Identifier: Apache-2.0
"""The command `robodyn`."""

import os

# Set before numpy is imported. Matrices are small here. Where processes share the cores, threads
# of OpenBLAS wait for each other and make an identification more than ten times slower.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
