# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends of stages and returns to earlier ones, by the scores of validations."""

from __future__ import annotations

from typing import Any

import pytest

from ns3_env.agents.curriculum.plateau import Plateau, PlateauState, ValidationConfig


def plateau(**config: Any) -> Plateau:
    return Plateau(ValidationConfig(**{"patience": 2, "improvement": 0.1, "decline": 0.5, **config}))


def left(judge: Plateau, scores: list[list[float]]) -> list[bool]:
    """Whether the present stage is left, after each validation."""
    return [judge.judge(each)[1] for each in scores]


def returned(judge: Plateau, scores: list[list[float]]) -> list[int | None]:
    found = []
    for each in scores:
        judge.judge(each)
        found.append(judge.returned_to)
    return found


def test_a_stage_is_left_after_so_many_validations_without_improvement() -> None:
    # 1.05 and 1.1 are no more than a tenth above 1.0, the first score.
    assert left(plateau(), [[1.0], [1.05], [1.1]]) == [False, False, True]
    assert left(plateau(patience=3), [[1.0], [1.05], [1.1], [0.9]]) == [False, False, False, True]


def test_a_stage_that_improves_is_stayed_in() -> None:
    assert not any(left(plateau(), [[1.0], [1.0], [1.2], [1.0], [1.4], [1.4]]))
    # Rewards below zero: -0.8 is a fifth better than -1.
    assert not any(left(plateau(), [[-1.0], [-1.0], [-0.8], [-0.8], [-0.7]]))
    assert left(plateau(), [[-1.0], [-0.95], [-0.92]]) == [False, False, True]


def test_small_steps_add_up_to_an_improvement() -> None:
    """The mark is the score that last counted, not the last one."""
    assert left(plateau(), [[1.0], [1.08], [1.16], [1.2], [1.3]]) == [False] * 5


def test_the_next_stage_begins_with_a_mark_of_its_own() -> None:
    judge = plateau()
    assert left(judge, [[1.0], [1.0], [1.0]])[-1]
    assert left(judge, [[1.0, -3.0], [1.0, -3.0], [1.0, -3.0]]) == [False, False, True]
    assert judge.state.best == [1.0, -3.0]


def test_an_earlier_stage_that_got_much_worse_is_returned_to_until_it_has_recovered() -> None:
    judge = plateau()
    # Half of 2.0 is 1.0: only what is below is a decline.
    scores = [[2.0], [2.0, 1.0], [1.0, 1.0], [0.9, 1.0], [0.99, 1.0], [1.0, 1.0]]
    assert returned(judge, scores) == [None, None, None, 0, 0, None]


def test_while_an_earlier_stage_is_trained_the_present_one_is_not_left() -> None:
    judge = plateau(patience=3)
    scores = [[2.0], [2.0, 1.0], [2.0, 1.0], [0.5, 1.0], [0.5, 1.0], [2.0, 1.0], [2.0, 1.0]]
    # Of the present stage only those validations count in which it was trained.
    assert left(judge, scores) == [False, False, False, False, False, False, True]


def test_an_earlier_stage_that_does_not_recover_is_given_up() -> None:
    judge = plateau(patience=2)
    scores = [[2.0], [2.0, 1.0], [0.5, 1.0], [0.5, 1.2], [0.6, 1.4], [0.6, 1.6], [0.2, 1.8]]
    assert returned(judge, scores) == [None, None, 0, 0, None, None, 0]
    assert judge.state.best == [0.6, 1.8]  # what was left of it is the mark


def test_of_several_the_earliest_is_returned_to() -> None:
    scores = [[2.0, 2.0, 2.0], [2.0, 0.5, 2.0], [0.5, 0.5, 2.0], [2.0, 0.5, 2.0]]
    assert returned(plateau(patience=9), scores) == [None, 1, 0, 1]


def test_the_best_is_the_best_mean_since_the_present_stage_was_entered() -> None:
    judge = plateau(patience=9)
    scores = [[1.0], [3.0], [2.0], [3.5], [1.0, 0.0], [1.0, 0.5], [0.5, 0.5], [1.0, 0.6]]
    assert [judge.judge(each)[0] for each in scores] == [True, True, False, True, True, True, False, True]


def test_a_validation_is_due_every_so_many_episodes() -> None:
    judge, due = plateau(every_episodes=3), []
    for _ in range(7):
        judge.learned_from_episode()
        due.append(judge.due)
        if judge.due:
            judge.judge([1.0])
    assert due == [False, False, True, False, False, True, False]


@pytest.mark.parametrize("broken_off", range(1, 7))
def test_a_state_goes_on_where_it_was_taken(broken_off: int) -> None:
    scores = [[2.0], [2.0, 1.0], [0.5, 1.0], [0.5, 1.2], [0.6, 1.4], [0.6, 1.6], [0.2, 1.8]]
    whole, before = plateau(), plateau()
    expected = [(whole.judge(each), whole.returned_to) for each in scores]
    found = [(before.judge(each), before.returned_to) for each in scores[:broken_off]]
    before.learned_from_episode()
    after = plateau()
    after.state = PlateauState.model_validate_json(before.state.model_dump_json())
    assert after.state.since == 1
    found += [(after.judge(each), after.returned_to) for each in scores[broken_off:]]
    assert found == expected


def test_a_stage_is_not_left_in_the_moment_in_which_an_earlier_one_is_lost() -> None:
    assert not any(left(plateau(), [[2.0], [2.0, 1.0], [2.0, 1.0], [0.5, 1.0]]))
