# SPDX-License-Identifier: Apache-2.0
"""The robot as nodes see it: joint states, effort, controllers, payload."""
