# SPDX-License-Identifier: Apache-2.0
"""Closed-form models of the softMC document."""
