# SPDX-License-Identifier: Apache-2.0
"""Conventions of a recording as rival hypotheses, compared by held-out torque errors."""
