"""The command `robodyn`."""

import os

# Before numpy is imported: matrices are small here, and where other processes share the cores
# OpenBLAS's threads wait for each other (12 s instead of 0.7 s were seen for one identification).
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
