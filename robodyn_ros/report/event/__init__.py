# SPDX-License-Identifier: Apache-2.0
"""Content of the page of a collision."""
