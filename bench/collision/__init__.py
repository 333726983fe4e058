# SPDX-License-Identifier: Apache-2.0
"""Simulated cells, contacts and methods of `bench_collision.py`."""
