# SPDX-License-Identifier: GPL-2.0-or-later
"""Bootstrap intervals of means over seeds, of paired differences, and of the same flows' slowdowns."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.folder import Cell
from ns3_env.eval.benchmark.frames import Flows, read_flows
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS

FloatArray = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
#: Share of intervals that hold what they are about, comparisons of one verdict together.
CONFIDENCE = 0.95
_RESAMPLES = 9999
_BUCKETS = {name: (above, up_to) for name, _, above, up_to in SIZE_BUCKETS}
_METRIC = re.compile(r"fct_slowdown_(\w+)_avg")


def bootstrap_interval(
    values: FloatArray, confidence: float = CONFIDENCE, seed: int = 0
) -> tuple[float, float]:
    """Returns the bias-corrected and accelerated bootstrap interval of the mean (Efron and Tibshirani 1993,
    ch. 14), as ``scipy.stats.bootstrap`` has it, in a fifth of the time: a report has thousands.

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
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    if len(defined) < 2:
        return math.nan, math.nan
    if np.ptp(defined) <= 1e-12 * np.abs(defined).max():
        return float(defined.min()), float(defined.max())
    means = defined[_resamples(len(defined), seed)].mean(axis=1)
    tail = (1 - confidence) / 2
    shares = _corrected(defined, means, tail)
    if np.isnan(shares).any():  # of few values, where BCa is not defined
        shares = tail, 1 - tail
    low, high = np.quantile(means, shares)
    return float(low), float(high)


@functools.lru_cache(maxsize=8)
def _resamples(n: int, seed: int) -> Indices:
    """Returns which of n values are in each resample, the same for all with as many: (``_RESAMPLES``, n)."""
    return np.random.default_rng(seed).integers(0, n, (_RESAMPLES, n))


def _corrected(values: FloatArray, means: FloatArray, tail: float) -> tuple[float, float]:
    """Returns the shares of the resamples' ``means`` that bound the interval: ``tail`` on either side, less
    bias and skew (14.9, 14.10, 14.15). NaN where they are not defined."""
    from scipy import special  # takes a while

    mean, n = values.mean(), len(values)
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / (2 * len(means))
    without_one = np.tile(values, (n, 1))[~np.eye(n, dtype=np.bool_)].reshape(n, n - 1).mean(axis=1)
    pulls = (n - 1) * (without_one.mean() - without_one)
    with np.errstate(all="ignore"):
        bias = special.ndtri(below)
        skew = 1 / 6 * ((pulls**3).sum() / n**3) / ((pulls**2).sum() / n**2) ** 1.5
        end = special.ndtri(tail)
        low, high = (special.ndtr(bias + x / (1 - skew * x)) for x in (bias + end, bias - end))
    return float(low), float(high)


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
        """−1: the first has significantly less; 1: more; 0: not decided by its interval."""
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
    defined = ~(np.isnan(values) | np.isnan(others))
    firsts, seconds = values[defined], others[defined]
    if len(firsts) and (firsts > 0).all() and (seconds > 0).all():
        return of_log_ratios(np.log(firsts / seconds), comparisons, confidence)
    differences = firsts - seconds
    low, high = bootstrap_interval(differences, 1 - (1 - confidence) / comparisons)
    estimate = float(differences.mean()) if len(differences) else math.nan
    return Difference(estimate, low, high, False, len(differences))


def of_log_ratios(logs: FloatArray, comparisons: int = 1, confidence: float = CONFIDENCE) -> Difference:
    """The geometric mean of ratios whose logarithms are ``logs`` (n,), one for each seed."""
    low, high = bootstrap_interval(logs, 1 - (1 - confidence) / comparisons)
    estimate = math.exp(float(logs.mean())) if len(logs) else math.nan
    return Difference(estimate, math.exp(low), math.exp(high), True, len(logs))


class FlowPairs:
    """Flows of cells, read when they are first needed. Every controller plays the same flows for a seed."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int], Flows] = {}

    @staticmethod
    def are_of(metric: str) -> bool:
        """Tells whether the metric is the mean slowdown of a size, which is compared flow by flow."""
        match = _METRIC.fullmatch(metric)
        return match is not None and match[1] in _BUCKETS

    def log_ratios(self, metric: str, cells: Sequence[Cell], others: Sequence[Cell]) -> FloatArray:
        """For each seed, the mean over flows of the size of ln(slowdown in the cell / in the other): (n,).

        Flows that one of both did not finish are left out. Flows of one seed met each other, so they are one
        observation, not many; seeds without such a flow are left out.

        Args:
            metric: one that ``are_of``.
            cells: one for each seed.
            others: the other controller's, of the same seeds.

        Raises:
            ScenarioError: a cell's flows cannot be read.
        """
        match = _METRIC.fullmatch(metric)
        assert match is not None
        above, up_to = _BUCKETS[match[1]]
        means = []
        for cell, other in zip(cells, others, strict=True):
            mine, base = self._flows(cell), self._flows(other)
            if len(mine.sizes) != len(base.sizes):
                raise ScenarioError(
                    f"{cell.folder / 'flows.csv'} and {other.folder / 'flows.csv'} hold other flows; delete "
                    "the cells' folders and run them again"
                )
            both = (mine.sizes > above) & (mine.sizes <= up_to)
            both &= ~np.isnan(mine.slowdowns) & ~np.isnan(base.slowdowns)
            if both.any():
                means.append(float(np.log(mine.slowdowns[both] / base.slowdowns[both]).mean()))
        return np.array(means)

    def _flows(self, cell: Cell) -> Flows:
        key = cell.controller, cell.seed
        if key not in self._read:
            self._read[key] = read_flows(cell)
        return self._read[key]
