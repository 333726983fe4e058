# SPDX-License-Identifier: Apache-2.0
"""The robot of a report in three dimensions."""
