# SPDX-License-Identifier: Apache-2.0
"""Words of a verdict."""

from typing import Literal

Word = Literal['usable', 'with care', 'not usable']
