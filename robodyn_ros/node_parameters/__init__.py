# SPDX-License-Identifier: Apache-2.0
"""Names of the parameters of all nodes."""
