# SPDX-License-Identifier: Apache-2.0
"""Settings of every test run; read before any test module imports numpy."""

from __future__ import annotations

import os

# On matrices of this size OpenBLAS's threads gain nothing, and where other processes share the
# cores they wait for each other: a factorisation of 0.2 s was seen to take 4 s.
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
