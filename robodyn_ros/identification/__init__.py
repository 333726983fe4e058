# SPDX-License-Identifier: Apache-2.0
"""From recording to parameters."""
