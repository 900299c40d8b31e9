# SPDX-License-Identifier: GPL-2.0-or-later
"""Is a winner named only where the seeds leave no doubt?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from eval.benchmark.statistics import bootstrap_interval, winner


def test_interval_lies_around_the_mean_and_narrows_with_more_seeds() -> None:
    random = np.random.default_rng(1)
    few, many = random.normal(10, 1, 8), random.normal(10, 1, 200)
    low, high = bootstrap_interval(few)
    assert low < few.mean() < high
    many_low, many_high = bootstrap_interval(many)
    assert many_high - many_low < (high - low) / 2


def test_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    # With 12 normal values the percentile bootstrap covers a little less than 95 %.
    random = np.random.default_rng(2)
    intervals = [bootstrap_interval(random.normal(0, 1, 12), resamples=500) for _ in range(300)]
    covered = np.mean([low <= 0 <= high for low, high in intervals])
    assert 0.87 < covered < 0.97


def test_interval_of_two_values_spans_them() -> None:
    # Means of two drawn from {1, 3}: 1, 2, 3 with probabilities 1/4, 1/2, 1/4.
    assert bootstrap_interval(np.array([1.0, 3.0])) == (1.0, 3.0)
    assert bootstrap_interval(np.array([1.0, 3.0]), confidence=0.4) == (2.0, 2.0)


def test_same_values_same_interval() -> None:
    values = np.array([1.0, 2.0, 4.0, 8.0])
    assert bootstrap_interval(values) == bootstrap_interval(values)


def test_what_is_not_defined_is_left_out_and_one_value_tells_nothing() -> None:
    assert bootstrap_interval(np.array([1.0, math.nan, 3.0])) == (1.0, 3.0)
    assert all(math.isnan(x) for x in bootstrap_interval(np.array([5.0, math.nan])))
    assert all(math.isnan(x) for x in bootstrap_interval(np.zeros(0)))


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_that_is_no_share_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_interval(np.ones(3), confidence)


GOOD, MIDDLING, BAD = np.array([1.0, 1.1, 1.2]), np.array([1.15, 1.3, 1.4]), np.array([2.0, 2.1, 2.2])


def test_winner_is_named_where_intervals_part() -> None:
    assert winner({"a": GOOD, "b": BAD}, lower_is_better=True) == "a"
    assert winner({"a": GOOD, "b": BAD}, lower_is_better=False) == "b"


def test_no_winner_where_intervals_overlap_or_touch() -> None:
    assert winner({"a": GOOD, "b": MIDDLING, "c": BAD}, lower_is_better=True) is None
    assert winner({"a": np.ones(3), "b": np.ones(3)}, lower_is_better=True) is None


def test_no_winner_without_all_the_numbers() -> None:
    assert winner({"a": GOOD}, lower_is_better=True) is None
    assert winner({"a": GOOD, "b": np.array([2.0, math.nan, 2.0])}, lower_is_better=True) is None
    assert winner({"a": GOOD, "b": np.zeros(0)}, lower_is_better=True) is None
    assert winner({"a": np.array([1.0]), "b": np.array([9.0])}, lower_is_better=True) is None
