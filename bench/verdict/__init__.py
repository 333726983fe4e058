# SPDX-License-Identifier: Apache-2.0
"""Recordings of real machines, and flaws that are planted in them."""
