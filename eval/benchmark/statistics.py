# SPDX-License-Identifier: GPL-2.0-or-later
"""Bootstrap intervals of means over seeds, of paired differences, and of the same flows' slowdowns."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.folder import Cell, Flows, read_flows
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS

FloatArray = npt.NDArray[np.float64]
#: Share of intervals that contain the true value, jointly over the comparisons of one verdict.
CONFIDENCE = 0.95
#: Resamples of every bootstrap.
RESAMPLES = 9999
_BUCKETS = {name: (above, up_to) for name, _, above, up_to in SIZE_BUCKETS}
_METRIC = re.compile(r"fct_slowdown_(\w+)_avg")


def bootstrap_interval(values: FloatArray, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Returns the bias-corrected and accelerated bootstrap interval of the mean (Efron and Tibshirani 1993,
    ch. 14); the resamples' percentiles if there are too few values for it.

    Args:
        values: (n,) one number for each seed; NaN for a seed that does not define it. The same values have
            the same interval.
        confidence: share of such intervals that contain the true mean, in (0, 1).

    Returns:
        (low, high); (NaN, NaN) with fewer than two values that are no NaN: nothing is known of the spread.
        With few values it is narrow: see ``least_pairs``.

    Raises:
        ValueError: the confidence is not between 0 and 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}, must be in (0, 1)")
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    if len(defined) < 2:
        return math.nan, math.nan
    if np.ptp(defined) <= 1e-12 * np.abs(defined).max():
        return float(defined.min()), float(defined.max())
    from scipy import stats  # its import needs half a second

    def interval(method: str) -> tuple[float, float]:
        random = np.random.default_rng(0)
        ends = stats.bootstrap(
            (defined,), np.mean, n_resamples=RESAMPLES, confidence_level=confidence, method=method,
            random_state=random,
        ).confidence_interval  # fmt: skip
        return float(ends.low), float(ends.high)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        corrected = interval("BCa")
        return interval("percentile") if np.isnan(corrected).any() else corrected


def percentiles(resampled: FloatArray) -> FloatArray:
    """The ends of the interval of a number, or of several: of resamples (B, ...), (2, ...)."""
    ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    result: FloatArray = np.quantile(resampled, ends, axis=0)
    return result


def least_pairs(comparisons: int = 1) -> int:
    """The minimum number of seeds at which this many comparisons can decide anything.

    If two are equally good, all n differences have the same sign with probability 2^(1 − n) (the exact
    sign test); below this n that is likelier than the error allowed, (1 − ``CONFIDENCE``) / comparisons, and
    a bootstrap interval that lies on one side of zero means nothing.
    """
    return math.ceil(1 + math.log2(comparisons / (1 - CONFIDENCE)))


@dataclass(frozen=True)
class Difference:
    """One controller compared with another on the same seeds.

    Attributes:
        estimate: geometric mean of the ratios, or mean of the differences.
        low, high: interval of the estimate, Bonferroni's for the comparisons; NaN with fewer than two seeds.
        is_ratio: true for a ratio, false for a difference.
        pairs: number of seeds compared.
        comparisons: number of comparisons that are read together.
    """

    estimate: float
    low: float
    high: float
    is_ratio: bool
    pairs: int
    comparisons: int = 1

    @property
    def needed(self) -> int:
        """Seeds without which nothing is decided."""
        return least_pairs(self.comparisons)

    @property
    def sign(self) -> int:
        """−1: the first has significantly less; 1: more; 0: not decided by its interval."""
        none = 1.0 if self.is_ratio else 0.0
        return -1 if self.high < none else 1 if self.low > none else 0

    def better(self, direction: Literal["lower", "higher"]) -> int:
        """1: the first is significantly better; −1: worse; 0: open, as it is with fewer seeds than needed."""
        if self.pairs < self.needed:
            return 0
        return -self.sign if direction == "lower" else self.sign

    def text(self, form: str, interval: bool = True) -> str:
        """Formats it as "× 0.940 (0.921–0.963)", or as "−3 (−5 to −1)" if there are zeros.

        ``form``: of a difference. ``interval``: False leaves it out.
        """
        numbers = (self.estimate, self.low, self.high)
        if self.is_ratio:
            form, sign, joint = ".3f" if self.estimate < 10 else ".1f", "× ", "–"
        else:
            form, sign, joint = "+" + form.lstrip("+"), "", " to "
        estimate, low, high = (format(x, form).replace("-", "−") for x in numbers)
        ends = f" ({low}{joint}{high})" if interval and not math.isnan(self.low) else ""
        return f"{sign}{estimate}{ends}"


def paired(values: FloatArray, others: FloatArray, comparisons: int = 1) -> Difference:
    """``values`` compared with ``others`` (n,), seed by seed: ratios if all are above 0, else differences.

    Raises:
        ValueError: their lengths differ.
    """
    if values.shape != others.shape:
        raise ValueError(f"{len(values)} and {len(others)} values are no pairs")
    defined = ~(np.isnan(values) | np.isnan(others))
    firsts, seconds = values[defined], others[defined]
    if len(firsts) and (firsts > 0).all() and (seconds > 0).all():
        return of_log_ratios(np.log(firsts / seconds), comparisons)
    differences = firsts - seconds
    low, high = bootstrap_interval(differences, 1 - (1 - CONFIDENCE) / comparisons)
    estimate = float(differences.mean()) if len(differences) else math.nan
    return Difference(estimate, low, high, False, len(differences), comparisons)


def of_log_ratios(logs: FloatArray, comparisons: int = 1) -> Difference:
    """The geometric mean of ratios whose logarithms are ``logs`` (n,), one for each seed."""
    low, high = bootstrap_interval(logs, 1 - (1 - CONFIDENCE) / comparisons)
    estimate = math.exp(float(logs.mean())) if len(logs) else math.nan
    return Difference(estimate, math.exp(low), math.exp(high), True, len(logs), comparisons)


class FlowPairs:
    """Flows of cells, read when first needed. Every controller has the same flows for a seed."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int], Flows] = {}

    @staticmethod
    def are_of(metric: str) -> bool:
        """Returns whether the metric is the mean slowdown of a size, which is compared flow by flow."""
        match = _METRIC.fullmatch(metric)
        return match is not None and match[1] in _BUCKETS

    def log_ratios(self, metric: str, cells: Sequence[Cell], others: Sequence[Cell]) -> FloatArray:
        """For each seed, the mean over flows of the size of ln(slowdown in the cell / in the other): (n,).

        Flows that are unfinished under either are left out. Flows of one seed interact, so they are one
        observation, not many; seeds without such a flow are left out.

        Args:
            metric: one that ``are_of``.
            cells: one for each seed.
            others: cells of the other controller, of the same seeds.

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
