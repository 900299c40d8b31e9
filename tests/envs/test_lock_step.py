# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulators stepped together give the same results as one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.envs.gym_vector_env import FlowVectorEnv
from ns3_env.scenario import Synchronous
from ns3_env.simulator import LockStep

_SCENARIO = incast_scenario(4, 60_000).model_copy(update={"clock": Synchronous(interval_ns=5_000)})


@pytest.fixture(params=[True, False], ids=["together", "one_by_one"])
def together(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of messages received together; empty if simulators are stepped one by one."""
    took: list[int] = []
    receive = LockStep.receive

    def counted(self: LockStep, *args: Any, **keywords: Any) -> Any:
        messages = receive(self, *args, **keywords) if request.param else None
        took.append(0 if messages is None else sum(count > 0 for count in messages.counts))
        return messages

    monkeypatch.setattr(LockStep, "receive", counted)
    return took


def _rows(slots: int) -> list[Any]:
    """Results of random actions over some episodes, row by row."""
    draw = np.random.default_rng(1)
    rows: list[Any] = []
    with FlowStream(_SCENARIO, slots=slots, num_simulators=3, seed=5) as stream:
        stream.start()
        for _ in range(200):
            batch = stream.recv(wait_all=True)
            rows.append(
                (
                    batch.slots.tolist(),
                    batch.flows.tolist(),
                    batch.simulators.tolist(),
                    batch.observations.tobytes(),
                    batch.rewards.tobytes(),
                    batch.records.tobytes(),
                    batch.first.tolist(),
                    batch.terminated.tolist(),
                    batch.due.tolist(),
                    batch.goes_on,
                    [(i, end["episode"]) for i, end in batch.results],
                )
            )
            due = batch.slots[batch.due]
            stream.send(draw.uniform(-1, 1, (len(due), 1)), due)
    return rows


_PLAYED: dict[Any, list[Any]] = {}


@pytest.mark.parametrize("slots", [4, 8])
def test_rows_are_the_same_taken_together_and_one_by_one(together: list[int], slots: int) -> None:
    rows = _rows(slots)
    assert rows == _PLAYED.setdefault(slots, rows)
    assert any(end for *_, end in rows), "episodes ended, too"
    if any(together):
        assert sum(together) > 60


def test_an_action_that_is_none_is_refused_and_its_simulator_alone_waits_on(together: list[int]) -> None:
    with FlowStream(_SCENARIO, slots=4, num_simulators=2, seed=5) as stream:
        stream.start()
        for _ in range(4):
            batch = stream.recv(wait_all=True)
            if len(batch.slots) == 8:
                break
            stream.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])
        actions = np.zeros((8, 1))
        actions[6] = np.nan
        with pytest.raises(ValueError, match=r"the action of slots \[6\] is NaN"):
            stream.send(actions, batch.slots)
        stream.send(np.zeros((4, 1)), batch.slots[4:])
        assert len(stream.recv(wait_all=True).slots) > 0


def test_a_branch_of_what_came_together_goes_on_as_its_original(together: list[int]) -> None:
    with FlowStream(_SCENARIO, slots=4, num_simulators=2, seed=5) as stream:
        stream.start()
        for _ in range(6):
            batch = stream.recv(wait_all=True)
            due = batch.slots[batch.due]
            with stream.branch() as other:
                for each in (stream, other):
                    each.send(np.full((len(due), 1), 0.5), due)
                first, second = stream.recv(wait_all=True), other.recv(wait_all=True)
                assert first.records.tobytes() == second.records.tobytes()
            due = first.slots[first.due]
            stream.send(np.zeros((len(due), 1)), due)


def test_a_vector_of_environments_steps_the_same_together_and_one_by_one(together: list[int]) -> None:
    draw = np.random.default_rng(2)
    trace: list[Any] = []
    envs = FlowVectorEnv(4, scenario=incast_scenario(3, 60_000))
    try:
        trace.append(envs.reset(seed=3)[0].tobytes())
        for _ in range(60):
            observations, rewards, terminated, _, infos = envs.step(draw.uniform(-1, 1, (4, 1)))
            lists = {key: np.asarray(infos[key]).tolist() for key in ("time_ns", "elapsed", "record")}
            trace.append((observations.tobytes(), rewards.tolist(), terminated.tolist(), lists))
            trace.append(dict(infos["telemetry"])["qlen"].tolist())
    finally:
        envs.close()
    assert trace == _PLAYED.setdefault("vector", trace)
    if any(together):
        assert sum(together) > 60
