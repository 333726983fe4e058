# SPDX-License-Identifier: Apache-2.0
"""Selection of the friction law."""
