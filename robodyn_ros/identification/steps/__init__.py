# SPDX-License-Identifier: Apache-2.0
"""Steps of an identification, from processed signals to the result."""
