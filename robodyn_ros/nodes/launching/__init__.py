# SPDX-License-Identifier: Apache-2.0
"""Descriptions for launch files."""
