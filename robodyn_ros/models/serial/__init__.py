# SPDX-License-Identifier: Apache-2.0
"""Serial robots from a URDF."""
