# SPDX-License-Identifier: Apache-2.0
"""Physically consistent parameters, and the completion of base parameters."""
