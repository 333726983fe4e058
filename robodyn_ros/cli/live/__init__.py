# SPDX-License-Identifier: Apache-2.0
"""Commands that connect to a running robot."""
