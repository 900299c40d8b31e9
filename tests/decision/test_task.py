# SPDX-License-Identifier: GPL-2.0-or-later
"""A task: one decision problem, the same in every front end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env import FlowEnv, FlowParallelEnv, FlowStream, Rollouts, Task
from ns3_env.decision.actions import AbsoluteWindow
from ns3_env.decision.observations import FDCC_FIELDS, FIELDS, field_indices, wire_bytes
from ns3_env.envs.rllib_env import FlowMultiAgentEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario

SCENARIO = Scenario.from_mapping(
    {
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": {"kind": "incast", "size_bytes": 50_000},
        "clock": {"name": "synchronous", "interval_ns": 10_000},
        "controllers": ["agent"],
    },
    "test",
)


@pytest.fixture
def task() -> Task:
    return Task(["rtt", "goodput"], "goodput_delay", AbsoluteWindow())


def test_it_is_fdccs_problem_by_default() -> None:
    task = Task()
    assert task.fields == FDCC_FIELDS
    assert task.telemetry_bytes == wire_bytes(FDCC_FIELDS)
    assert task.observation_space.shape == (len(FDCC_FIELDS),)


def test_it_observes_its_fields_within_its_space(task: Task) -> None:
    records = np.full((3, len(FIELDS)), 1e30)
    observations = task.observe(records)
    assert (observations.dtype, observations.shape) == (np.float32, (3, 2))
    assert (observations == task.observation_space.high).all()
    records[:, field_indices(["rtt", "goodput"])] = 0.5
    assert (
        task.observe(records) == np.clip(0.5, task.observation_space.low, task.observation_space.high)
    ).all()


@pytest.mark.parametrize("arguments", [{"fields": ["rt"]}, {"reward": "stage"}])
def test_an_unknown_name_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(KeyError, match="unknown"):
        Task(**arguments)


def test_a_field_that_the_transport_has_not_is_refused_by_name() -> None:
    tcp = Scenario.from_mapping({"transport": "tcp"}, "x.yaml")
    with pytest.raises(ScenarioError, match=r"x\.yaml: fields: 'qlen': telemetry of switches"):
        Task(["rtt", "qlen"]).check(tcp)
    with pytest.raises(ScenarioError, match="fields: 'qlen'"):
        Task(["rtt"], "goodput_delay").check(tcp, also=["qlen"])
    Task(["rtt"], "goodput_delay").check(tcp)


@pytest.mark.parametrize(
    "make",
    [
        lambda task: FlowEnv(SCENARIO, task=task),
        lambda task: FlowParallelEnv(SCENARIO, task=task),
        lambda task: FlowMultiAgentEnv({"scenario": SCENARIO, "task": task}),
        lambda task: FlowVecEnv(SCENARIO, slots=2, task=task),
        lambda task: FlowStream(SCENARIO, slots=2, task=task),
        lambda task: Rollouts(SCENARIO, task=task),
    ],
    ids=["gymnasium", "pettingzoo", "rllib", "sb3", "stream", "rollouts"],
)
def test_every_front_end_takes_it(make: Any, task: Task) -> None:
    environment = make(task)
    try:
        assert environment.task is task
        assert (environment.fields, environment.reward, environment.action) == (
            task.fields,
            task.reward,
            task.action,
        )
    finally:
        environment.close()


def test_a_task_gives_the_rows_of_its_parts(task: Task) -> None:
    def first(**arguments: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        with FlowStream(SCENARIO, slots=2, **arguments) as stream:
            stream.start()
            rows = [stream.recv()]
            for _ in range(3):
                stream.send(np.full((int(rows[-1].due.sum()), 1), 20_000.0), rows[-1].slots[rows[-1].due])
                rows.append(stream.recv())
        return np.concatenate([x.observations for x in rows]), np.concatenate([x.rewards for x in rows])

    whole = first(task=task)
    parts = first(fields=["rtt", "goodput"], reward="goodput_delay", action=AbsoluteWindow())
    for whole_rows, its in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(whole_rows, its)
