# SPDX-License-Identifier: Apache-2.0
"""Joint limits and workspace rules, and checks of motions against them."""
