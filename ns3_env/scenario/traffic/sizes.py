# SPDX-License-Identifier: GPL-2.0-or-later
"""Distributions of flow sizes, by name or by points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: Flow-size distributions: (bytes, percent of flows no larger), linear between points
#: (docs/sources/traffic.md).
SIZE_CDFS: dict[str, list[tuple[float, float]]] = {
    "websearch": [
        (0, 0),
        (10_000, 15),
        (20_000, 20),
        (30_000, 30),
        (50_000, 40),
        (80_000, 53),
        (200_000, 60),
        (1_000_000, 70),
        (2_000_000, 80),
        (5_000_000, 90),
        (10_000_000, 97),
        (30_000_000, 100),
    ],
    "fb_hadoop": [
        (0, 0),
        (100, 1),
        (200, 2),
        (300, 5),
        (350, 15),
        (400, 20),
        (500, 30),
        (600, 40),
        (700, 50),
        (1_000, 60),
        (2_000, 67),
        (7_000, 70),
        (30_000, 72),
        (50_000, 82),
        (80_000, 87),
        (120_000, 90),
        (300_000, 95),
        (1_000_000, 97.5),
        (2_000_000, 99),
        (10_000_000, 100),
    ],
}


def distribution_fault(points: Sequence[tuple[float, float]]) -> str | None:
    """Why points (bytes, percent) are no distribution; None where they are one."""
    ascending = all(x <= y and p <= q for (x, p), (y, q) in itertools.pairwise(points))
    if len(points) < 2 or not ascending or points[0][1] != 0 or points[-1][1] != 100 or points[0][0] < 0:
        return "points (bytes, percent) must ascend, from 0 to 100 percent"
    return "sizes must be positive" if points[-1][0] <= 0 else None


def mean_size_bytes(cdf: Sequence[tuple[float, float]]) -> float:
    """Mean of a size distribution given by points, linear between them."""
    return sum((q - p) / 100 * (x + y) / 2 for (x, p), (y, q) in itertools.pairwise(cdf))


def sample_sizes(
    cdf: Sequence[tuple[float, float]], count: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """``count`` flow sizes (bytes, at least 1) drawn from a distribution."""
    sizes, percents = np.array(cdf, dtype=np.float64).T
    drawn = np.interp(random.random(count) * 100, percents, sizes)
    whole: NDArray[np.int64] = np.maximum(np.rint(drawn), 1).astype(np.int64)
    return whole
