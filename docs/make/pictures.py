# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the pictures that pages show, those of few colours in as few bytes as they need."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

IMAGES = Path(__file__).parents[1] / "images"


def save(figure: Figure, name: str, dpi: int = 110, **palette: Any) -> None:
    """Writes docs/images/NAME.png; ``palette``: keywords of ``Image.quantize``, none for all colours."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi)
    image = Image.open(content)
    if palette:
        image = image.convert("RGB").quantize(**palette)
    image.save(IMAGES / f"{name}.png", optimize=True)
