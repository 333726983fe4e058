# SPDX-License-Identifier: Apache-2.0
"""Causes of a bad or doubtful identification."""
