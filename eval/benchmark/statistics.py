# SPDX-License-Identifier: GPL-2.0-or-later
"""Bootstrap intervals of means over seeds, and of paired differences on the same seeds."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

#: Share of intervals that hold what they are about, comparisons of one verdict together.
CONFIDENCE = 0.95
_RESAMPLES = 9999


def bootstrap_interval(
    values: FloatArray, confidence: float = CONFIDENCE, seed: int = 0
) -> tuple[float, float]:
    """The bias-corrected and accelerated bootstrap interval of the mean (Efron and Tibshirani 1993, ch. 14).

    Args:
        values: (n,) one number for each seed; NaN where a seed does not define it.
        confidence: share of such intervals that hold the true mean, in (0, 1).
        seed: of the resampling: the same values have the same interval.

    Returns:
        (low, high); (NaN, NaN) with fewer than two values that are no NaN: nothing is known of the spread.
        With few values it is narrow: see ``least_pairs``.

    Raises:
        ValueError: the confidence is none.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}, must be in (0, 1)")
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        return math.nan, math.nan
    if np.ptp(known) <= 1e-12 * np.abs(known).max():
        return float(known.min()), float(known.max())
    from scipy import stats  # takes half a second

    def interval(method: str) -> tuple[float, float]:
        found = stats.bootstrap(
            (known,),
            np.mean,
            confidence_level=confidence,
            n_resamples=_RESAMPLES,
            method=method,
            rng=np.random.default_rng(seed),
        ).confidence_interval
        return float(found.low), float(found.high)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few values, where BCa is not defined
        low, high = interval("BCa")
        return (low, high) if math.isfinite(low) and math.isfinite(high) else interval("percentile")


def least_pairs(comparisons: int = 1, confidence: float = CONFIDENCE) -> int:
    """Seeds without which so many comparisons decide nothing, however clear the numbers look.

    Where two are equally good, all n differences have the same sign with probability 2^(1 − n) (the exact
    sign test); below this n that is likelier than the error allowed, (1 − confidence) / comparisons, and a
    bootstrap interval that lies on one side of zero means nothing.
    """
    return math.ceil(1 + math.log2(comparisons / (1 - confidence)))


@dataclass(frozen=True)
class Difference:
    """One beside another on the same seeds.

    Attributes:
        estimate: geometric mean of the ratios, or mean of the differences.
        low, high: its interval; NaN with fewer than two seeds.
        is_ratio: which of both.
        pairs: seeds compared.
    """

    estimate: float
    low: float
    high: float
    is_ratio: bool
    pairs: int

    @property
    def sign(self) -> int:
        """−1: the first has less, for sure; 1: more; 0: not decided by its interval."""
        none = 1.0 if self.is_ratio else 0.0
        return -1 if self.high < none else 1 if self.low > none else 0


def paired(
    values: FloatArray, others: FloatArray, comparisons: int = 1, confidence: float = CONFIDENCE
) -> Difference:
    """``values`` beside ``others`` (n,), seed by seed: ratios where all are above 0, else differences.

    The interval is Bonferroni's for so many comparisons that are read together.

    Raises:
        ValueError: there are not as many of both.
    """
    if values.shape != others.shape:
        raise ValueError(f"{len(values)} and {len(others)} values are no pairs")
    known = ~(np.isnan(values) | np.isnan(others))
    ours, theirs = values[known], others[known]
    if len(ours) and (ours > 0).all() and (theirs > 0).all():
        return of_log_ratios(np.log(ours / theirs), comparisons, confidence)
    differences = ours - theirs
    low, high = bootstrap_interval(differences, 1 - (1 - confidence) / comparisons)
    estimate = float(differences.mean()) if len(differences) else math.nan
    return Difference(estimate, low, high, False, len(differences))


def of_log_ratios(logs: FloatArray, comparisons: int = 1, confidence: float = CONFIDENCE) -> Difference:
    """The geometric mean of ratios whose logarithms are ``logs`` (n,), one for each seed."""
    low, high = bootstrap_interval(logs, 1 - (1 - confidence) / comparisons)
    estimate = math.exp(float(logs.mean())) if len(logs) else math.nan
    return Difference(estimate, math.exp(low), math.exp(high), True, len(logs))
