# SPDX-License-Identifier: Apache-2.0
"""Result of an identification."""
