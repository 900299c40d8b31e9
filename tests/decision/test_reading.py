# SPDX-License-Identifier: GPL-2.0-or-later
"""Observations of a task in C++ against NumPy's arithmetic, and inputs of a policy's network."""

import copy
import pickle
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ns3_env import _native
from ns3_env.decision.actions import ACTIONS, make_action_map
from ns3_env.decision.observations import FDCC_FIELDS, FIELDS, INDEX, column
from ns3_env.decision.rewards import REWARDS, make_reward, settles
from ns3_env.decision.rtt_target import RttTarget
from ns3_env.decision.task import Task
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.history import in_a_row
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.simulator import DecisionBatch

FIELD_SETS = {"fdcc": FDCC_FIELDS, "one": ("rtt",), "all": tuple(INDEX), "reversed": tuple(INDEX)[::-1]}
#: Without -0.0: at a bound of 0 NumPy's clip keeps its sign or not, by the shape of the array.
ODD = [0.0, 1e-300, -1.0, 1.0, 1e9, -1e9, 1e300, np.inf, -np.inf, np.nan, np.pi]


def telemetry(rows: int, seed: int = 1, odd: bool = False) -> NDArray[np.float64]:
    """Random values of every field, within its range, or values that no field should have."""
    random = np.random.default_rng(seed)
    if odd:
        return random.choice(ODD, (rows, len(FIELDS)))
    low, high = (np.array([getattr(field, end) for field in FIELDS]) for end in ("low", "high"))
    return low + random.random((rows, len(FIELDS))) ** 8 * (high - low)


def flags(rows: int) -> list[NDArray[np.bool_]]:
    """First, terminated and truncated, in every combination."""
    return [(np.arange(rows) >> bit & 1).astype(np.bool_) for bit in range(3)]


def bits(array: Any) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize("rows", [0, 1, 8, 64])
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("names", FIELD_SETS.values(), ids=FIELD_SETS)
def test_observations_are_float32_within_the_space(names: tuple[str, ...], odd: bool, rows: int) -> None:
    task, records = Task(names), telemetry(rows, odd=odd)
    observations = task.observe(records)
    with np.errstate(over="ignore"):
        expected = records[:, [INDEX[name] for name in names]].astype(np.float32)
    np.clip(expected, task.observation_space.low, task.observation_space.high, out=expected)
    assert (observations.dtype, observations.shape) == (np.float32, (rows, len(names)))
    assert bits(observations) == bits(expected)


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("name", sorted(REWARDS))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_row_by_itself_is_read_as_one_of_all(name: str, odd: bool) -> None:
    task, records, (first, terminated, truncated) = Task(reward=name), telemetry(8, odd=odd), flags(8)
    rows = DecisionBatch(0.0, *(np.arange(8),) * 2, first, terminated, truncated, records)
    outcomes = task.outcomes(records, first, terminated, truncated)
    names, infos = _native.named(records), outcomes.infos()
    for i, observation in enumerate(task.observe(records)):
        one, reward, final, telemetry_by_name, info = task.read_row(rows, i)
        assert bits(one) == bits(observation)
        assert bits(reward) == bits(outcomes.rewards[i])
        assert final is bool(outcomes.final[i])
        assert telemetry_by_name == names[i]
        assert repr(info) == repr(infos[i])


@pytest.mark.parametrize("rows", [0, 1, 8, 64])
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("name", [*sorted(REWARDS), "shaped"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_outcomes_are_those_of_the_rewards_own_arithmetic(name: str, odd: bool, rows: int) -> None:
    reward = make_reward("slowdown", shaping=0.5, gamma=0.9) if name == "shaped" else make_reward(name)
    records, (first, terminated, truncated) = telemetry(rows, odd=odd), flags(rows)
    outcomes = Task(reward=reward).outcomes(records, first, terminated, truncated)
    over = terminated | truncated
    paid = reward(records)
    paid[first] = 0.0
    elapsed = column(records, "interval_ns") / column(records, "base_rtt_ns")
    elapsed[first] = 0.0
    assert bits(outcomes.rewards) == bits(paid)
    assert bits(outcomes.elapsed) == bits(elapsed)
    assert bits(outcomes.final) == bits(over if settles(reward) else terminated)
    assert bits(outcomes.cut) == bits(truncated & ~terminated)
    assert bits(outcomes.slowdowns) == bits(np.where(over, column(records, "slowdown"), np.nan))


def test_a_reward_of_ones_own_is_asked_for_every_row() -> None:
    def twice(records: NDArray[np.float64]) -> NDArray[np.float64]:
        return 2.0 * column(records, "rtt")

    records, (first, terminated, truncated) = telemetry(8), flags(8)
    outcomes = Task(reward=twice).outcomes(records, first, terminated, truncated)
    assert (outcomes.rewards == np.where(first, 0.0, twice(records))).all()


@pytest.mark.parametrize("name", sorted(ACTIONS))
def test_an_action_map_answers_rows_together_as_each_alone_and_travels(name: str) -> None:
    action_map, records = make_action_map(name), telemetry(8)
    actions = np.linspace(0.0, 1.0, 8)[:, None]
    together = action_map(actions, records)
    alone = [action_map(actions[i : i + 1], records[i : i + 1])[0] for i in range(8)]
    assert bits(together) == bits(alone)
    for again in (pickle.loads(pickle.dumps(action_map)), copy.deepcopy(action_map)):
        assert again == action_map
        assert set(vars(again)) == {
            field.name for field in fields(action_map)
        }  # only the settings, as in policies' files
        assert bits(again(actions, records)) == bits(together)


def test_a_task_that_was_pickled_reads_the_same() -> None:
    task, records = Task(("rtt", "qlen"), "staged"), telemetry(8)
    for again in (pickle.loads(pickle.dumps(task)), copy.deepcopy(task)):
        assert bits(again.observe(records)) == bits(task.observe(records))
        assert again.reward == task.reward


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (lambda: Task().observe(np.zeros((2, 3))), "records must be"),
        (lambda: _native.Reading(["rt"], True, None), "the nearest known one is 'rtt'"),
        (lambda: Task().outcomes(telemetry(2), *flags(1)), "flags must be"),
    ],
)
def test_what_does_not_fit_is_refused(damaged: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        damaged()


#: r as it is, before an action's ends: a gain that is small enough.
TARGET = {"derived": "rtt_target", "margin": 1.5, "target": 0.064, "gain": 1e-3}


def reader(path: Path, weights: list[float], **changes: Any) -> NetworkPolicy:
    """A policy whose action is the weighted sum of its network's inputs."""
    spec = PolicySpec.model_validate(
        {
            "observation": [{"field": "last_action"}, TARGET],
            "history": 1,
            "network": {"kind": "mlp", "hidden_activation": "relu", "output_activation": "none"},
            "action": {"name": "multiplicative_rate"},
            "clock": {"name": "per_flow_rtt"},
            "telemetry_bytes": 0,
            **changes,
        }
    )
    write_policy(path, PolicyFile(spec, {"layers.0.weight": np.array([weights], np.float32)}))
    return NetworkPolicy.load(path)


def test_r_of_a_flow_at_its_target_is_zero_and_below_the_margin_the_target_alone() -> None:
    published = RttTarget(base_ns=8192.0)
    assert published.fields == ("rtt_ns", "pacing_rate")
    # An excess of 0.128 RTTs at a quarter of the link.
    assert published(np.array([8192 * 1.628]), np.array([0.25]))[0] == pytest.approx(0, abs=1e-12)
    assert published(np.array([8192.0]), np.array([1.0]))[0] == -0.8
    assert RttTarget().fields == ("rtt", "pacing_rate")


@given(st.lists(st.tuples(st.floats(0, 100, width=32), st.floats(0, 1, width=32)), min_size=1, max_size=8))
def test_the_simulator_reads_the_same_r_to_the_last_bit_of_a_float(
    tmp_path_factory: pytest.TempPathFactory, samples: list[tuple[float, float]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "reader.safetensors"
    policy = reader(path, [0.0, 1.0])
    assert policy.fields == ("last_action", "rtt", "pacing_rate")
    rows = np.array([(0.0, rtt, rate) for rtt, rate in samples], np.float32)
    formula = RttTarget(margin=1.5, target=0.064, gain=1e-3)
    expected = formula(rows[:, 1].astype(np.float64), rows[:, 2].astype(np.float64)).astype(np.float32)
    answers = policy.act(rows[:, None], np.ones(len(rows), np.int64))[:, 0]
    assert np.array_equal(answers, np.clip(expected, -1, 1))


def test_fields_are_cut_to_their_ranges_before_anything_is_derived(tmp_path: Path) -> None:
    policy = reader(tmp_path / "p", [0.0, 1.0])
    one = np.ones(1, np.int64)
    far, end = policy.act(np.array([[[0, 9e9, 7]]], np.float32), one), np.array([[[0, 1e4, 1]]], np.float32)
    assert far == policy.act(end, one)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_history_in_a_row_ends_with_the_current_input(length: int) -> None:
    window = np.zeros((1, 3, 2), np.float32)
    window[0, :length] = 1 + np.arange(2 * length).reshape(length, 2)
    row = in_a_row(window, np.array([length]))
    assert row.tolist() == [[0.0] * (6 - 2 * length) + [float(k) for k in range(1, 2 * length + 1)]]


def test_a_flow_plays_its_history_step_by_step(tmp_path: Path) -> None:
    policy = reader(tmp_path / "p", [1.0, 0.0, 0.0, 0.0], history=2)  # the action before the last one
    actions, state = policy.predict(np.array([[0.5, 1, 1], [0.25, 1, 1]]))
    assert actions[:, 0].tolist() == [0, 0]
    actions, state = policy.predict(np.array([[0.75, 1, 1], [0.125, 1, 1]]), state)
    assert actions[:, 0].tolist() == [0.5, 0.25]
    actions, _ = policy.predict(np.array([[0, 1, 1], [0, 1, 1]]), state, np.array([False, True]))
    assert actions[:, 0].tolist() == [0.75, 0]
