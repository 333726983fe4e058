# SPDX-License-Identifier: Apache-2.0
"""Recordings of joint states: reading, checking, writing."""
