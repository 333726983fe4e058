# SPDX-License-Identifier: Apache-2.0
"""Factors from the signals of drives to torque, from a known load."""
