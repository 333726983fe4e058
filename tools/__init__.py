# SPDX-License-Identifier: Apache-2.0
"""Build and test tools; they use only the standard library."""
