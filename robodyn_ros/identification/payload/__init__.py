# SPDX-License-Identifier: Apache-2.0
"""Payload on top of an identified arm."""
