# SPDX-License-Identifier: Apache-2.0
"""Model torque evaluated in a control cycle."""
