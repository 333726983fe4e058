# SPDX-License-Identifier: Apache-2.0
"""Foundation of every node: parameters, guarded callbacks, waits, presence."""
