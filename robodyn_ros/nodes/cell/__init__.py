# SPDX-License-Identifier: Apache-2.0
"""Node `cell`: the simulated robot cell."""
