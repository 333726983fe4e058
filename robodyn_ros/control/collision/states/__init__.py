# SPDX-License-Identifier: Apache-2.0
"""States of the robot that are no contact: rest of the reference, drives off, another payload."""
