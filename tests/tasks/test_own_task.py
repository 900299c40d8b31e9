# SPDX-License-Identifier: GPL-2.0-or-later
"""A task of a module outside of the package: its id, its front ends, its scores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import gymnasium as gym
import pytest

from ns3_env import tasks
from ns3_env.errors import ConfigError
from ns3_env.ids import VERSIONS
from tests.paths import ROOT


@pytest.fixture(scope="module")
def module() -> Iterator[dict[str, Any]]:
    """The page's example, as a user's module; the task is removed afterwards."""
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    start = re.escape("import gymnasium as gym\n\nfrom ns3_env import tasks\n")
    (code,) = re.findall(rf"```python\n({start}.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {"__name__": "mine"}
    exec(compile(code, "mine.py", "exec"), names)
    yield names
    del tasks.TASKS["TwoSizes"], VERSIONS["TwoSizes"], gym.registry["ns3_env/TwoSizes-v0"]


def test_gymnasium_has_its_id(module: dict[str, Any]) -> None:
    with module["env"] as env:
        observation, _ = env.reset(seed=1)
        assert env.observation_space.contains(observation)
        assert env.unwrapped.scenario.topology.kind == "dumbbell"


def test_it_is_scored_between_what_is_deployed_and_the_oracle(module: dict[str, Any]) -> None:
    assert len(module["scores"]) == 10
    assert tasks.score("dcqcn", "TwoSizes")["score"].abs().max() == pytest.approx(0, abs=1e-9)
    assert tasks.score("oracle", "ns3_env/TwoSizes-v0")["score"].mean() == pytest.approx(100)
    assert 0 < module["scores"].mean() < 100


def test_every_front_end_makes_it(module: dict[str, Any]) -> None:
    for front_end in ("gymnasium", "sb3", "pettingzoo", "stream", "rollouts"):
        with closing(tasks.make("TwoSizes", front_end)) as env:
            assert env.task.fields == tasks.task("TwoSizes").fields


def test_what_cannot_be_scored_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"dctcp cannot run ns3_env/Mixed-v4: its fields, or the marks"):
        tasks.score("dctcp", "Mixed")
    with pytest.raises(ConfigError, match="the nearest known one is 'Bursts'"):
        tasks.score("hpcc", "Burst")
