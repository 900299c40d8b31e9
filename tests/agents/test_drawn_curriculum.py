# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks and traffic drawn from families: the same from the same seed, playable, some held back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.curriculum.families import FAMILIES
from ns3_env.agents.search.config import SearchConfig, ValidationConfig
from ns3_env.agents.search.objectives import Episodes
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError
from ns3_env.simulator import Simulator

SMALL = {"flows": 20, "packets": 1000}


def curriculum(seed: int = 1, **draw: Any) -> Curriculum:
    data = {"scenario": {"time_limit_ns": "100ms"}, "draw": {**SMALL, **draw}}
    config = validate(data, CurriculumConfig, "drawn.yaml")
    return Curriculum(config, EnvConfig(fields=["rtt"]), seed, "drawn.yaml")


def test_the_same_seed_draws_the_same_scenarios() -> None:
    first, again, other = (curriculum(seed, families=["workload", "incast"]) for seed in (1, 1, 2))
    assert [first(i) for i in range(6)] == [again(i) for i in range(6)]
    assert first(0) != other(0)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_played_wherever_it_is_drawn(family: str) -> None:
    sampler = curriculum(families=[family])
    with Simulator() as simulator:
        for episode in range(25):
            results = simulator.play(sampler(episode).with_seed(episode).under("dctcp", {}))
            assert results["totals"]["unfinished"] == 0, f"{family} {episode}"


def test_each_family_has_its_turn_and_validation_has_others() -> None:
    sampler = curriculum(families=["incast", "workload"], held_back=["unequal"])
    search = SearchConfig(trials=1000, episodes=4, validation=ValidationConfig(every=1, episodes=3))
    episodes = Episodes(sampler, search, seed=3)
    kinds = [episode.scenario.traffic.kind for episode in episodes.of_generation(5)]
    assert kinds == ["incast", "poisson", "incast", "poisson"]
    assert [episode.scenario.traffic.kind for episode in episodes.of_validation()] == ["list"] * 3
    assert episodes.of_generation(1) != episodes.of_generation(2)


def test_drawn_numbers_keep_to_their_ranges() -> None:
    sampler = curriculum(families=["workload"], rates_bps=["40Gbps", "50Gbps"], loads=[0.2, 0.3])
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
        curriculum(**draw)
    assert message in str(refused.value)
    assert "there is no stage" not in str(refused.value)
