# SPDX-License-Identifier: GPL-2.0-or-later
"""Stages of a curriculum: their order and ends, shares of earlier ones, reproducible episodes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import yaml

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError

CURRICULUM = """
scenario:
  time_limit_ns: 200000
  traffic: {kind: incast, size_bytes: 50000, spread_ns: 2000}
stages:
  - {name: two, scenario: {topology: {kind: dumbbell, senders: 2}}, advance: {after_episodes: 3}}
  - {name: four, scenario: {topology: {kind: dumbbell, senders: 4}}}
"""


def test_stages_follow_each_other_and_earlier_ones_stay() -> None:
    env = EnvConfig(fields=["rtt"])
    config = validate(yaml.safe_load(CURRICULUM), CurriculumConfig, "curriculum")
    curriculum = Curriculum(config, env, seed=1, source="curriculum")
    assert curriculum.most_flows == 4
    drawn = [curriculum(episode).agent_flow_count for episode in range(103)]
    assert drawn[:3] == [2, 2, 2]
    assert 30 < drawn[3:].count(2) < 70
    # The same draw whatever came before: an episode is the same for one simulator or many.
    again = Curriculum(config, env, seed=1, source="curriculum")
    assert [again(episode).agent_flow_count for episode in range(103)] == drawn
    shuffled = Curriculum(config, env, seed=1, source="curriculum")
    order = [(episode * 7) % 103 for episode in range(103)]
    by_episode = {episode: shuffled(episode).agent_flow_count for episode in order}
    assert [by_episode[episode] for episode in range(103)] == drawn
    resumed = Curriculum(config, env, seed=1, source="curriculum")
    resumed.restore({"stage": 1, "entered": [0, 3], "next_index": 50, "returns": []})
    assert [resumed(episode).agent_flow_count for episode in range(50, 70)] == drawn[50:70]


def test_a_stage_is_left_early_once_the_return_is_good_enough() -> None:
    data = yaml.safe_load(CURRICULUM)
    data["stages"][0]["advance"] = {"after_episodes": 100, "return_above": 1.0, "window": 2}
    curriculum = Curriculum(validate(data, CurriculumConfig, "c"), EnvConfig(fields=["rtt"]), 1, "c")
    for episode, value in enumerate([0.0, 5.0, -9.0, 1.5, 1.6]):
        curriculum(episode)
        assert curriculum.stage_name == ("two" if episode < 2 else "four")
        curriculum.record(value)


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
    drawn = Counter(flows(staged(after, earlier_share=0.3), range(2010))[10:])
    assert drawn[4] / 2000 == pytest.approx(0.7, abs=0.03)
    assert drawn[2] == pytest.approx(drawn[3], rel=0.25)
    assert set(flows(staged(after, earlier_share=0.0), range(40))[10:]) == {4}
    assert set(flows(staged(after, earlier_share=1.0), range(40))[10:]) == {2, 3}


def test_each_stage_lasts_its_number_of_episodes() -> None:
    curriculum = staged([{"after_episodes": 2}, {"after_episodes": 3}], earlier_share=0.0)
    assert flows(curriculum, range(7)) == [2, 2, 3, 3, 3, 4, 4]
    assert curriculum.entered == [0, 2, 5]


def test_an_episode_is_the_same_in_whatever_order_episodes_are_asked() -> None:
    after = [{"after_episodes": 2}, {"after_episodes": 3}]
    curriculum = staged(after, earlier_share=0.0)
    assert curriculum(9).agent_flow_count == 4  # two stages on at once
    assert flows(curriculum, range(7)) == [2, 2, 3, 3, 3, 4, 4]
    assert curriculum.entered == [0, 2, 5]


def test_another_seed_draws_other_episodes() -> None:
    after = [{"after_episodes": 1}]
    one, two = (flows(staged(after, seed), range(50)) for seed in (1, 2))
    assert one != two


def test_a_stage_is_left_early_only_after_a_whole_window_that_is_better() -> None:
    early = {"after_episodes": 100, "return_above": 1.0, "window": 2}
    curriculum = staged([early, early], earlier_share=0.0)
    names = []
    # One good return is no window; (5 - 3) / 2 is not above 1; then (-3 + 6) / 2 is.
    for episode, value in enumerate([5.0, -3.0, 6.0, 9.0, 9.0, 9.0]):
        curriculum(episode)
        names.append(curriculum.stage_name)
        curriculum.record(value)
    # What was got in one stage says nothing of the next: it needs a window of its own.
    assert names == ["0", "0", "0", "1", "1", "2"]


def test_a_state_goes_on_where_it_was_taken() -> None:
    early = {"after_episodes": 100, "return_above": 1.0, "window": 2}
    curriculum = staged([early])
    for episode in (0, 1, 5, 2):
        curriculum(episode)
    curriculum.record(5.0)
    state = curriculum.state()
    assert (state["stage"], state["entered"], state["next_index"], state["returns"]) == (0, [0], 6, [5.0])
    again = staged([early])
    again.restore(state)
    assert again.next_index == 6
    again(6)
    assert again.next_index == 7
    again.record(5.0)
    again(7)
    assert again.stage_name == "1"
    with pytest.raises(ConfigError, match="none of the curriculum's"):
        staged([]).restore({**state, "stage": 1, "entered": [0, 3]})


def test_a_stage_that_was_left_early_stays_left() -> None:
    """By the count of episodes alone it would not be: a run that goes on must not fall back."""
    early = {"after_episodes": 100, "return_above": 1.0, "window": 1}
    curriculum = staged([early], earlier_share=0.0)
    curriculum(0)
    curriculum.record(5.0)
    assert flows(curriculum, range(1, 3)) == [3, 3]
    again = staged([early], earlier_share=0.0)
    again.restore(curriculum.state())
    assert flows(again, range(3, 6)) == [3, 3, 3]
