# SPDX-License-Identifier: Apache-2.0
"""Pictures without a display."""

from __future__ import annotations

import io
from typing import Any


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure; sizes in inches. Matplotlib is imported here because it is slow."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout='constrained')


def png(figure: Any) -> bytes:
    """Return a figure as a PNG file."""
    content = io.BytesIO()
    figure.savefig(content, dpi=110, format='png')
    return content.getvalue()
