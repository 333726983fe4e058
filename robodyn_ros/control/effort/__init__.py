# SPDX-License-Identifier: Apache-2.0
"""Effort fields of drivers: declared units, gear ratios and signs of each joint."""
