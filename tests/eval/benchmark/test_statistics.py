# SPDX-License-Identifier: GPL-2.0-or-later
"""Confidence intervals of means, and paired comparisons over the same seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ns3_env.eval.benchmark.statistics import (
    bootstrap_interval,
    least_pairs,
    of_log_ratios,
    paired,
)


def test_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    # With 12 normal values bootstrap intervals cover a little less than 95 %.
    random = np.random.default_rng(2)
    intervals = [bootstrap_interval(random.normal(0, 1, 12)) for _ in range(300)]
    covered = np.mean([low <= 0 <= high for low, high in intervals])
    assert 0.87 < covered < 0.97


@pytest.mark.parametrize(
    ("values", "interval"),
    [
        ([0.7] * 5, (0.7, 0.7)),
        ([0.0] * 5, (0.0, 0.0)),
        ([1.0, math.nan, 3.0], bootstrap_interval(np.array([1.0, 3.0]))),
        ([5.0, math.nan], (math.nan, math.nan)),
        ([], (math.nan, math.nan)),
    ],
)
def test_equal_values_have_no_spread_one_tells_nothing_what_is_not_defined_is_left_out(
    values: list[float], interval: tuple[float, float]
) -> None:
    np.testing.assert_equal(bootstrap_interval(np.array(values)), interval)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_that_is_no_share_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_interval(np.ones(3), confidence)


def test_three_percent_show_over_twenty_seeds_whose_own_spread_is_ten_times_as_large() -> None:
    # Unpaired intervals cannot detect this: seeds differ by 30 %, the controllers on each of them by 3 %.
    random = np.random.default_rng(3)
    of_seed = np.exp(random.normal(1.0, 0.3, 20))
    base, candidate = of_seed, of_seed * 0.97 * np.exp(random.normal(0, 0.01, 20))
    (low, high), (other_low, other_high) = bootstrap_interval(candidate), bootstrap_interval(base)
    assert max(low, other_low) < min(high, other_high)
    difference = paired(candidate, base, comparisons=5)
    assert difference.is_ratio
    assert difference.sign == -1
    assert difference.low < 0.97 < difference.high
    assert difference.estimate == pytest.approx(np.exp(np.log(candidate / base).mean()))


def test_ratios_turn_round_with_who_is_asked() -> None:
    random = np.random.default_rng(4)
    a, b = random.uniform(1, 2, 12), random.uniform(1.5, 2.5, 12)
    one, other = paired(a, b), paired(b, a)
    assert one.estimate == pytest.approx(1 / other.estimate)
    assert (one.sign, other.sign) == (-1, 1)


def test_where_there_are_zeros_differences_are_compared() -> None:
    frames, others = np.array([0.0, 3, 5, 4, 2, 3, 4, 5]), np.array([9.0, 13, 14, 16, 12, 11, 15, 12])
    difference = paired(frames, others)
    assert not difference.is_ratio
    assert difference.estimate == np.mean(frames - others)
    assert difference.sign == -1
    assert paired(np.zeros(8), np.zeros(8)).sign == 0


def test_more_comparisons_make_a_wider_interval() -> None:
    random = np.random.default_rng(5)
    a, b = random.uniform(1, 2, 12), random.uniform(1, 2, 12)
    one, ten = paired(a, b), paired(a, b, comparisons=10)
    assert ten.low < one.low < one.high < ten.high


def test_equals_are_told_apart_no_oftener_than_the_error_allows() -> None:
    random = np.random.default_rng(6)
    wrong = [of_log_ratios(random.normal(0, 0.1, 20), comparisons=5).sign != 0 for _ in range(300)]
    assert np.mean(wrong) < 0.05  # the nominal level is 1 %; the bootstrap of 20 has a little more


def test_too_few_seeds_decide_nothing() -> None:
    # n differences between equals have one sign with probability 2^(1 - n): 1/32 for 6, below 5 %.
    assert least_pairs(1) == 6
    assert 2.0 ** (1 - least_pairs(5)) <= 0.05 / 5 < 2.0 ** (2 - least_pairs(5))


def test_seeds_that_one_of_both_does_not_define_are_no_pair() -> None:
    a, b = np.array([1.0, math.nan, 3.0, 4.0]), np.array([2.0, 2.0, math.nan, 5.0])
    assert paired(a, b).pairs == 2
    with pytest.raises(ValueError, match="no pairs"):
        paired(a, b[:2])
