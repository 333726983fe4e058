# SPDX-License-Identifier: Apache-2.0
"""Node `watch`: live page for a browser, and markers for RViz. It only subscribes."""
