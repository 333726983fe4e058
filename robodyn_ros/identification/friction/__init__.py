# SPDX-License-Identifier: Apache-2.0
"""Terms and shapes of the friction."""
