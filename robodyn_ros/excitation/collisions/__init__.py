# SPDX-License-Identifier: Apache-2.0
"""Collision checks of designed motions."""
