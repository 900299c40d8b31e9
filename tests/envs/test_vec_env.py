# SPDX-License-Identifier: GPL-2.0-or-later
"""Slots, episodes and separation of simulators, one by one and taken together."""

import os
from typing import Any

import numpy as np
import pytest

from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.scenario import Synchronous
from ns3_env.simulator import LockStep
from tests.processes import dummy_sim

DUMMY = dummy_sim()


def make(dummy: dict[str, Any] | None = None, **settings: Any) -> FlowVecEnv:
    dummy_settings = {"slots": 3, "steps": 4, **(dummy or {})}
    return FlowVecEnv({"dummy": dummy_settings}, slots=3, executable=DUMMY, **settings)


def test_first_rows_carry_no_reward_and_last_rows_need_no_action() -> None:
    with make() as env:
        env.start()
        first = env.recv()
        assert first.first.all()
        assert (first.rewards == 0).all()
        for _ in range(4):
            env.send(np.zeros((3, 1)), [0, 1, 2])
            batch = env.recv()
            assert (batch.rewards != 0).all()
        assert batch.terminated.all()
        assert not batch.due.any()
        following = env.recv()
        assert following.first.all()
        assert following.results[0][1]["episode"] == 0


def test_simulators_whose_rows_are_answered_go_on() -> None:
    with make(num_simulators=2) as env:
        env.start()
        first = env.recv()
        assert set(first.simulators) == {0}
        env.send(np.zeros((3, 1)), first.slots)
        assert set(env.recv().simulators) == {1}
        assert set(env.recv().simulators) == {0}
        with pytest.raises(RuntimeError, match="no simulator is at work"):
            env.recv()


def test_send_refuses_slots_that_are_not_due() -> None:
    with make(num_simulators=2) as env:
        env.start()
        env.recv()
        with pytest.raises(ValueError, match=r"not due: \[4\]"):
            env.send(np.zeros((1, 1)), [4])
        env.send(np.zeros((2, 1)), [0, 1])
        with pytest.raises(ValueError, match=r"not due: \[1\]"):
            env.send(np.zeros((1, 1)), [1])
        with pytest.raises(ValueError, match="twice"):
            env.send(np.zeros((2, 1)), [2, 2])
        env.send(np.zeros((1, 1)), [2])


def test_step_tells_episodes_ends_as_stable_baselines_expects() -> None:
    with make({"truncate": True}) as env:
        observations = env.reset()
        assert isinstance(observations, np.ndarray)
        assert observations.shape == (3, 8)
        total = np.zeros(3)
        for step in range(4):
            assert env.due.all()
            after, rewards, dones, infos = env.step(np.zeros((3, 1)))
            observations = np.asarray(after)
            total += rewards
            assert dones.all() == (step == 3)
        for i, info in enumerate(infos):
            assert info["TimeLimit.truncated"] is False  # the rest was already charged
            assert info["episode"]["l"] == 4
            assert info["episode"]["r"] == pytest.approx(total[i], rel=1e-5)
            assert not np.array_equal(info["terminal_observation"], observations[i])
        assert env.due.all()
        assert env.results[0][1]["episode"] == 0


def test_slots_that_are_not_due_stand_still() -> None:
    with make({"sparse": True}, num_simulators=2) as env:
        env.mask.acknowledge()
        before = env.reset()
        for _ in range(30):
            after, rewards, dones, infos = env.step(np.zeros((6, 1)))
            observations = np.asarray(after)
            for slot in range(6):
                assert infos[slot]["due"] == env.due[slot]
                if not infos[slot]["due"] and not dones[slot]:
                    assert rewards[slot] == 0
                    assert np.array_equal(observations[slot], before[slot])
            assert env.due.any()
            before = observations


def test_close_may_be_called_twice_and_leaves_no_process() -> None:
    env = make(num_simulators=2)
    env.reset()
    pids = env.pids
    env.close()
    env.close()
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)
    with pytest.raises(RuntimeError, match="closed"):
        env.reset()


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


_COLUMNS = [
    "slots",
    "flows",
    "simulators",
    "observations",
    "rewards",
    "records",
    "first",
    "terminated",
    "due",
]


def _rows(slots: int) -> list[Any]:
    """Results of random actions over some episodes, row by row."""
    draw = np.random.default_rng(1)
    rows: list[Any] = []
    with FlowStream(_SCENARIO, slots=slots, num_simulators=3, seed=5) as stream:
        stream.start()
        for _ in range(200):
            batch = stream.recv(wait_all=True)
            columns = (getattr(batch, name).tobytes() for name in _COLUMNS)
            rows.append((*columns, batch.goes_on, [(i, end["episode"]) for i, end in batch.results]))
            due = batch.slots[batch.due]
            stream.send(draw.uniform(-1, 1, (len(due), 1)), due)
    return rows


_PLAYED: dict[int, list[Any]] = {}


@pytest.mark.parametrize("slots", [4, 8])
def test_rows_are_the_same_taken_together_and_one_by_one(together: list[int], slots: int) -> None:
    rows = _rows(slots)
    assert rows == _PLAYED.setdefault(slots, rows)
    assert any(end for *_, end in rows), "episodes ended, too"
    if any(together):
        assert sum(together) > 60


def test_a_branch_of_what_came_together_goes_on_as_its_original(together: list[int]) -> None:
    with FlowStream(_SCENARIO, slots=4, num_simulators=2, seed=5) as stream:
        stream.start()
        with pytest.raises(RuntimeError, match="recv"):
            stream.branch()
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
