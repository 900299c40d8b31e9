# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of a policy's network: histories in their order, and values derived from fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ns3_env.decision.rtt_target import RttTarget
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.history import in_a_row
from ns3_env.policies.native_policy import NetworkPolicy

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


@given(
    rtt=st.floats(0, 1e4),
    rate=st.floats(0, 1),
    margin=st.floats(0, 1e4),
    target=st.floats(0, 1e4),
    gain=st.floats(1e-6, 1e6),
    base=st.none() | st.floats(1, 1e12),
)
def test_r_is_the_papers_formula_to_the_last_bit(
    rtt: float, rate: float, margin: float, target: float, gain: float, base: float | None
) -> None:
    reward = RttTarget(base, margin, target, gain)(np.array([rtt]), np.array([rate]))[0]
    counted = rtt if base is None else rtt / base
    assert reward == gain * (max(counted - margin, 0.0) * np.sqrt(rate) - target)


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


def test_an_mlp_reads_the_current_observation_last_and_zeros_before_a_flows_first(tmp_path: Path) -> None:
    """Zeros are inputs, not telemetry: the transform of an RTT of 0 would be undefined."""
    first, second, third = ([0.5, 2.5, 1.0], [-0.25, 1.0, 1.0], [0.125, 3.5, 0.25])
    formula = RttTarget(margin=1.5, target=0.064, gain=1e-3)

    def r(row: list[float]) -> float:
        return float(formula(np.array([row[1]]), np.array([row[2]]))[0])

    expected = {
        1: [0, 0, 0, 0, first[0], r(first)],
        2: [0, 0, first[0], r(first), second[0], r(second)],
        3: [first[0], r(first), second[0], r(second), third[0], r(third)],
    }
    observations = np.array([[first, second, third]], np.float32)
    for place in range(6):
        weights = np.eye(6)[place].tolist()
        policy = reader(tmp_path / f"{place}", weights, history=3)
        for length, row in expected.items():
            padded = np.where(np.arange(3)[:, None] < length, observations, 0).astype(np.float32)
            assert policy.act(padded, np.array([length]))[0, 0] == pytest.approx(row[place], abs=1e-9)


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
