# SPDX-License-Identifier: Apache-2.0
"""Sub-commands of `robodyn` that analyse recordings and results."""
