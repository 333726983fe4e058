# SPDX-License-Identifier: Apache-2.0
"""Optimisation of an excitation motion."""
