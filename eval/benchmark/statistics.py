# SPDX-License-Identifier: GPL-2.0-or-later
"""How far can a mean over seeds be trusted? Bootstrap intervals, and a winner only where they part."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def bootstrap_interval(
    values: FloatArray, confidence: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean (Efron and Tibshirani 1993, chapter 13).

    Args:
        values: (n,) one number for each seed; NaN where a seed does not define it.
        confidence: share of resampled means that lie inside, in (0, 1).
        resamples: samples of n drawn with replacement.
        seed: of the draw: the same values have the same interval.

    Returns:
        (low, high); (NaN, NaN) with fewer than two values that are no NaN: nothing is known of the spread.
        With few values it is narrow: of two it spans just these two.
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}, must be in (0, 1)")
    if len(known) < 2:
        return math.nan, math.nan
    drawn = np.random.default_rng(seed).integers(len(known), size=(resamples, len(known)))
    means = known[drawn].mean(axis=1)
    tail = 50 * (1 - confidence)
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)


def winner(scores: Mapping[str, FloatArray], lower_is_better: bool) -> str | None:
    """Who has the best mean, named only where its interval overlaps no other's.

    Args:
        scores: values (n,), one for each seed, by name.
        lower_is_better: whether little is good.

    Returns:
        A name; None with fewer than two names, where intervals overlap or touch, where somebody has no
        value at all or a NaN (a seed that is missing may be the one that it lost), or where a name has one
        seed only.
    """
    if len(scores) < 2 or any(len(x) == 0 or np.isnan(x).any() for x in scores.values()):
        return None
    sign = 1.0 if lower_is_better else -1.0
    best = min(scores, key=lambda name: sign * float(np.mean(scores[name])))
    low, high = bootstrap_interval(scores[best])
    for name, values in scores.items():
        other_low, other_high = bootstrap_interval(values)
        if name != best and not (high < other_low or other_high < low):
            return None
    return best
