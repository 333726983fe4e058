# SPDX-License-Identifier: Apache-2.0
"""Recordings in tables: CSV, MATLAB, NPZ."""
