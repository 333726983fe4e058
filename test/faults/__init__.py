# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile files against everything that reads files."""
