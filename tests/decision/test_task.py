# SPDX-License-Identifier: GPL-2.0-or-later
"""A task: one decision problem, the same in every front end."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env import FlowEnv, FlowParallelEnv, FlowStream, Rollouts, Task
from ns3_env.decision.actions import AbsoluteWindow
from ns3_env.decision.observations import FIELDS, field_indices
from ns3_env.decision.rewards import GoodputDelay
from ns3_env.envs.rllib_env import FlowMultiAgentEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.policies.released import released
from ns3_env.scenario import AGENT, POLICY
from tests.samples.files import dumped
from tests.samples.scenarios import incast

SCENARIO = incast(2, 50_000, clock={"name": "synchronous", "interval_ns": 10_000})


@pytest.fixture
def task() -> Task:
    return Task(["rtt", "goodput"], "goodput_delay", AbsoluteWindow())


FRONT_ENDS: dict[str, Any] = {
    "gymnasium": FlowEnv,
    "pettingzoo": FlowParallelEnv,
    "rllib": lambda scenario, **parts: FlowMultiAgentEnv({"scenario": scenario, **parts}),
    "sb3": lambda scenario, **parts: FlowVecEnv(scenario, slots=2, **parts),
    "stream": lambda scenario, **parts: FlowStream(scenario, slots=2, **parts),
    "rollouts": Rollouts,
}


@pytest.mark.parametrize("form", ["object", "keys", "path", "text"])
@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_every_front_end_takes_every_form_of_its_parts(front_end: str, form: str, tmp_path: Path) -> None:
    keys = SCENARIO.model_dump(mode="json", exclude_unset=True)
    file = dumped(tmp_path / "mine.yaml", keys)
    forms = {"object": SCENARIO, "keys": keys, "path": file, "text": str(file)}
    parts = {"fields": ["rtt", "pacing_rate"], "reward": {"name": "goodput_delay", "delay_weight": 2.0}}
    environment = FRONT_ENDS[front_end](forms[form], **parts)
    try:
        assert environment.reward == GoodputDelay(delay_weight=2.0)
        first = environment.sampler(0) if hasattr(environment, "sampler") else environment.scenario
        assert first.topology == SCENARIO.topology
    finally:
        environment.close()


def test_a_scenario_that_comes_with_the_package_has_a_name() -> None:
    with FlowEnv("dumbbell_100g_4to1") as env:
        assert env.scenario.flow_count == 4
    with pytest.raises(ScenarioError, match="the nearest known one is 'dumbbell_100g_4to1'"):
        FlowEnv("dumbbell_100g_4to")


def test_others_are_named_as_entries_are(tmp_path: Path) -> None:
    file = tmp_path / "mine.safetensors"
    file.write_bytes(released("fdcc").read_bytes())
    for others, name in (("fdcc", POLICY), (file, POLICY), ("constant-window", "fixed-window")):
        with FlowEnv(flows=2, others=others) as env:
            assert [controller.name for controller in env.scenario.controllers] == [AGENT, name]


def test_a_reward_in_python_reads_fields_by_name() -> None:
    records = np.arange(2.0 * len(FIELDS)).reshape(2, -1)
    flags = np.zeros((3, 2), np.bool_)
    task = Task(reward=lambda x: x["goodput"] - 2 * x["qlen"])
    goodput, qlen = (records[:, index] for index in field_indices(["goodput", "qlen"]))
    assert task.outcomes(records, *flags).rewards.tolist() == (goodput - 2 * qlen).tolist()
    with pytest.raises(KeyError, match="unknown field 'goodptu'; the nearest known one is 'goodput'"):
        Task(reward=lambda x: x["goodptu"]).outcomes(records, *flags)
    with pytest.raises(TypeError, match=r"<lambda> gave shape \(\) for 2 records: expected \(2,\)"):
        Task(reward=lambda x: x["goodput"].sum()).outcomes(records, *flags)
