# SPDX-License-Identifier: Apache-2.0
"""One file per ROS node: parameters, topics, services; no mathematics."""

import os

# Read before any node imports numpy: matrices here are small, and threads of the linear algebra
# would only take the cores from the other nodes.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
