# SPDX-License-Identifier: Apache-2.0
"""Service `~/learn`: thresholds from healthy work, while the monitor works."""
