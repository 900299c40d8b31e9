# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the pictures of pages, in one look and in as few bytes as they need. Needs the extra report."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.eval.output.plots import settings

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
#: Colours of two groups, RDMA's and TCP's for one, or of a first and a second class.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def mean_cell(values: NDArray[np.float64], digits: int = 0) -> str:
    """ "28 [22, 38]": the mean, and its 95 % interval."""
    return "{:.{n}f} [{:.{n}f}, {:.{n}f}]".format(values.mean(), *bootstrap_interval(values), n=digits)


@contextmanager
def picture(name: str, width: float, height: float, dpi: int = 110, **palette: Any) -> Iterator[Figure]:
    """A figure of this size in inches to draw in, which then becomes docs/images/NAME.png."""
    with matplotlib.rc_context(settings()):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        save(figure, name, dpi, **palette)


def save(figure: Figure, name: str, dpi: int = 110, **palette: Any) -> None:
    """Writes docs/images/NAME.png; ``palette``: keywords of ``Image.quantize``, none for all colours."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi)
    image = Image.open(content)
    if palette:
        image = image.convert("RGB").quantize(**palette)
    image.save(IMAGES / f"{name}.png", optimize=True)
