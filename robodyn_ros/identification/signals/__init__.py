# SPDX-License-Identifier: Apache-2.0
"""Signals of a recording: resampled, filtered, differentiated, masked."""
