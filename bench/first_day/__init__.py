# SPDX-License-Identifier: Apache-2.0
"""First day on a real cell, with fake drivers of four kinds."""
