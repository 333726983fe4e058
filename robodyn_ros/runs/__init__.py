# SPDX-License-Identifier: Apache-2.0
"""Runs of programs: their start, their end, and the folders that they write to."""
