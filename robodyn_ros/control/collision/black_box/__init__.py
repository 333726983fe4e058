# SPDX-License-Identifier: Apache-2.0
"""Recording of collisions, with which the detector can be run again bit by bit."""
