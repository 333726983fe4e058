# SPDX-License-Identifier: Apache-2.0
"""Joints and signals of the messages of a topic."""
