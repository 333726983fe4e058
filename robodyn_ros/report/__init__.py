# SPDX-License-Identifier: Apache-2.0
"""Report of an identification as one page for a browser."""
