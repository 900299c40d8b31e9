# SPDX-License-Identifier: GPL-2.0-or-later
"""Curricula: their episodes, when a stage is left, and scenarios drawn from families."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import yaml

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.curriculum.families import FAMILIES
from ns3_env.agents.curriculum.plateau import Plateau, PlateauState, ValidationConfig
from ns3_env.agents.search.config import SearchConfig
from ns3_env.agents.search.objectives import Episodes
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError
from ns3_env.simulator import Simulator
from tests.samples.runs import CURRICULUM


def staged(advances: list[dict[str, Any]], seed: int = 1, **config: Any) -> Curriculum:
    """A curriculum whose stages have 2, 3, ... flows; the last one stays."""
    data = {**yaml.safe_load(CURRICULUM), **config}
    data["stages"] = [
        {"name": f"{i}", "scenario": {"topology": {"kind": "dumbbell", "senders": i + 2}}, "advance": advance}
        for i, advance in enumerate([*advances, None])
    ]
    return Curriculum(validate(data, CurriculumConfig, "c"), EnvConfig(fields=["rtt"]), seed, "c")


def flows(curriculum: Curriculum, episodes: range) -> list[int]:
    return [curriculum(episode).agent_flow_count for episode in episodes]


def test_earlier_stages_have_their_share_and_share_it_alike() -> None:
    after = [{"after_episodes": 5}, {"after_episodes": 5}]
    frequencies = Counter(flows(staged(after, earlier_share=0.3), range(2010))[10:])
    assert frequencies[4] / 2000 == pytest.approx(0.7, abs=0.03)
    assert frequencies[2] == pytest.approx(frequencies[3], rel=0.25)
    assert set(flows(staged(after, earlier_share=0.0), range(40))[10:]) == {4}
    assert set(flows(staged(after, earlier_share=1.0), range(40))[10:]) == {2, 3}


def test_each_stage_lasts_its_number_of_episodes_in_whatever_order_they_are_asked() -> None:
    after = [{"after_episodes": 2}, {"after_episodes": 3}]
    in_order = staged(after, earlier_share=0.0)
    assert flows(in_order, range(7)) == [2, 2, 3, 3, 3, 4, 4]
    assert in_order.entered == [0, 2, 5]
    curriculum = staged(after, earlier_share=0.0)
    assert curriculum(9).agent_flow_count == 4  # advances two stages in one step
    assert flows(curriculum, range(7)) == [2, 2, 3, 3, 3, 4, 4]
    assert curriculum.entered == [0, 2, 5]


def test_a_state_goes_on_where_it_was_taken() -> None:
    curriculum = staged([{"after_episodes": 7}])
    for episode in (0, 1, 5, 2):
        curriculum(episode)
    state = curriculum.state()
    assert (state["stage"], state["entered"], state["next_index"]) == (0, [0], 6)
    again = staged([{"after_episodes": 7}])
    again.restore({**state, "returns": [5.0]})  # as 0.2 wrote it
    assert again.next_index == 6
    again(6)
    assert (again.next_index, again.stage_name) == (7, "0")
    again(7)
    assert again.stage_name == "1"
    with pytest.raises(ConfigError, match="none of the curriculum's"):
        staged([]).restore({**state, "stage": 1, "entered": [0, 3]})


def test_a_stage_that_was_left_early_stays_left() -> None:
    """The count of episodes would not be enough: a resumed run must not fall back."""
    stages, validation = [{"after_episodes": 100}], {"every_episodes": 1, "patience": 1}
    curriculum = staged(stages, earlier_share=0.0, validation=validation)
    curriculum(0)
    for _ in range(2):
        curriculum.judge([1.0])
    assert flows(curriculum, range(1, 3)) == [3, 3]
    again = staged(stages, earlier_share=0.0, validation=validation)
    again.restore(curriculum.state())
    assert flows(again, range(3, 6)) == [3, 3, 3]


@pytest.fixture(autouse=True)
def a_tenth_is_an_improvement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ns3_env.agents.curriculum.plateau.IMPROVEMENT", 0.1)


def plateau(**config: Any) -> Plateau:
    return Plateau(ValidationConfig(**{"patience": 2, **config}))


@pytest.mark.parametrize(
    ("patience", "scores", "verdicts"),
    [
        # 1.05 and 1.1 are no more than a tenth above 1.0, the first score.
        (2, "1 / 1.05 / 1.1", "--L"),
        (3, "1 / 1.05 / 1.1 / 0.9", "---L"),
        (2, "1 / 1 / 1.2 / 1 / 1.4 / 1.4", "------"),
        # Rewards below zero: -0.8 is a fifth better than -1.
        (2, "-1 / -1 / -0.8 / -0.8 / -0.7", "-----"),
        (2, "-1 / -0.95 / -0.92", "--L"),
        # Small steps add up: the mark is the score that last counted, not the last one.
        (2, "1 / 1.08 / 1.16 / 1.2 / 1.3", "-----"),
        # The next stage begins with a mark of its own.
        (2, "1 / 1 / 1 / 1 -3 / 1 -3 / 1 -3", "--L--L"),
        # An earlier stage below half of its mark is returned to until it has recovered; the earliest first.
        (2, "2 / 2 1 / 1 1 / 0.9 1 / 0.99 1 / 1 1", "---00L"),
        (9, "2 2 2 / 2 0.5 2 / 0.5 0.5 2 / 2 0.5 2", "-101"),
        # While it is trained the present stage is not left, nor in the moment in which it is lost.
        (3, "2 / 2 1 / 2 1 / 0.5 1 / 0.5 1 / 2 1 / 2 1", "---00-L"),
        (2, "2 / 2 1 / 2 1 / 0.5 1", "---0"),
        # One that does not recover is given up; the value at which it was left is its mark.
        (2, "2 / 2 1 / 0.5 1 / 0.5 1.2 / 0.6 1.4 / 0.6 1.6 / 0.2 1.8", "--00--0"),
    ],
)
def test_a_stage_is_left_without_improvement_and_returned_to_where_it_got_much_worse(
    patience: int, scores: str, verdicts: str
) -> None:
    """After each validation: the present stage is left (L), an earlier one is returned to, or neither."""
    judge, letters = plateau(patience=patience), ""
    for validation in scores.split(" / "):
        _, is_left = judge.judge([float(score) for score in validation.split()])
        assert not is_left or judge.returned_to is None
        letters += "L" if is_left else "-" if judge.returned_to is None else str(judge.returned_to)
    assert letters == verdicts


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
def test_a_plateaus_state_goes_on_where_it_was_taken(broken_off: int) -> None:
    scores = [[2.0], [2.0, 1.0], [0.5, 1.0], [0.5, 1.2], [0.6, 1.4], [0.6, 1.6], [0.2, 1.8]]
    whole, before = plateau(), plateau()
    expected = [(whole.judge(each), whole.returned_to) for each in scores]
    verdicts = [(before.judge(each), before.returned_to) for each in scores[:broken_off]]
    before.learned_from_episode()
    after = plateau()
    after.state = PlateauState.model_validate_json(before.state.model_dump_json())
    assert after.state.since == 1
    verdicts += [(after.judge(each), after.returned_to) for each in scores[broken_off:]]
    assert verdicts == expected


SMALL = {"flows": 20, "packets": 1000}


def drawn_from(seed: int = 1, **draw: Any) -> Curriculum:
    data = {"scenario": {"time_limit_ns": "100ms"}, "draw": {**SMALL, **draw}}
    config = validate(data, CurriculumConfig, "drawn.yaml")
    return Curriculum(config, EnvConfig(fields=["rtt"]), seed, "drawn.yaml")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_played_wherever_it_is_drawn(family: str) -> None:
    sampler = drawn_from(families=[family])
    with Simulator() as simulator:
        for episode in range(25):
            results = simulator.play(sampler(episode).with_seed(episode).under("dctcp", {}))
            assert results["totals"]["unfinished"] == 0, f"{family} {episode}"


def test_each_family_has_its_turn_and_validation_has_others() -> None:
    sampler = drawn_from(families=["incast", "workload"], held_back=["unequal"])
    validation = {"every": 1, "episodes": 3}
    search = SearchConfig.model_validate({"trials": 1000, "episodes": 4, "validation": validation})
    episodes = Episodes(sampler, search, seed=3)
    kinds = [episode.scenario.traffic.kind for episode in episodes.of_generation(5)]
    assert kinds == ["incast", "poisson", "incast", "poisson"]
    assert [episode.scenario.traffic.kind for episode in episodes.of_validation()] == ["list"] * 3
    assert episodes.of_generation(1) != episodes.of_generation(2)


def test_drawn_numbers_keep_to_their_ranges() -> None:
    sampler = drawn_from(families=["workload"], rates_bps=["40Gbps", "50Gbps"], loads=[0.2, 0.3])
    scenarios = [sampler(i) for i in range(30)]
    rates = np.array([scenario.topology.rate_bps for scenario in scenarios])
    loads = np.array([scenario.traffic.load for scenario in scenarios])
    assert rates.min() >= 40e9
    assert rates.max() <= 50e9
    assert len(set(rates)) == 30
    assert loads.max() <= 0.3


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            {"families": ["worklaod"]},
            "families: there is no family 'worklaod'; the nearest known one is 'workload'",
        ),
        ({"families": ["short"], "held_back": ["short"]}, "held_back: short is among the families"),
        ({"families": ["short"], "loads": [0.5, 1.5]}, "loads: at most 1, not 1.5"),
        ({"families": ["short"], "rates_bps": ["9Gbps", "5Gbps"]}, "a range is [least, largest], above 0"),
        ({"families": []}, "draw.families"),
    ],
)
def test_mistakes_are_told_with_what_would_be_right(draw: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        drawn_from(**draw)
    assert message in str(refused.value)
    assert "there is no stage" not in str(refused.value)
