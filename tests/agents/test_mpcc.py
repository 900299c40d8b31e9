# SPDX-License-Identifier: GPL-2.0-or-later
"""MPCC as a policy: state per flow, any batch, the controller's own windows at its instants, errors."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ns3_env import _native
from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.eval.speed.measure import incast, play_placed
from ns3_env.policies.policy import SlotStates
from ns3_env.scenario import Record
from ns3_env.scenario.topology import Dumbbell, LeafSpine, Topology
from ns3_env.simulator import Simulator, default_attributes

Rows = npt.NDArray[np.float64]


def rows_of(flows: int, steps: int = 1, seed: int = 0) -> Rows:
    """(steps, flows, D) observations of a 4-to-1 dumbbell at 100 Gb/s with any windows and queues."""
    random = np.random.default_rng(seed)
    fixed = {"base_rtt_ns": 6240.0, "host_rate_bps": 100e9, "bdp_bytes": 78000.0, "packet_bytes": 1080.0}
    fixed |= {"state_rate_bps": 100e9, "state_input_delay_ns": 1086.0, "state_feedback_delay_ns": 5154.0}
    size = (steps, flows)
    values = {
        **{name: np.full(size, value) for name, value in fixed.items()},
        "window_bytes": random.uniform(500, 78000, size),
        "state_queue_bytes": random.uniform(0, 100000, size) * (random.random(size) < 0.8),
        "state_flows": random.integers(1, 9, size).astype(float),
    }
    return np.stack([values[name] for name in MpccPolicy.fields], axis=-1)


def test_flows_that_decide_apart_keep_their_own_state() -> None:
    observations = rows_of(4, steps=30, seed=1)
    policy = MpccPolicy()
    slots = SlotStates(policy)
    alone = [None] * 4
    for i, step in enumerate(observations):
        due = np.flatnonzero((np.arange(4) + i) % 3 != 0)
        windows = slots.predict(step[due], due)
        for row, flow in enumerate(due):
            expected, alone[flow] = policy.predict(step[flow : flow + 1], alone[flow])  # type: ignore[call-overload]
            np.testing.assert_array_equal(windows[row], expected[0])


def test_episode_start_forgets_past_inputs() -> None:
    observations = rows_of(1, steps=20, seed=2)
    policy = MpccPolicy()
    first = []
    state = None
    for step in observations:
        windows, state = policy.predict(step, state)
        first.append(windows)
    for i, step in enumerate(observations):
        windows, state = policy.predict(step, state, np.array([i == 0]))
        np.testing.assert_array_equal(windows, first[i])


@pytest.mark.parametrize(
    ("field", "value"), [("bdp_bytes", 0.0), ("state_queue_bytes", -1.0), ("base_rtt_ns", np.nan)]
)
def test_impossible_rows_are_named(field: str, value: float) -> None:
    rows = rows_of(2)[0]
    rows[1, MpccPolicy.fields.index(field)] = value
    with pytest.raises(ValueError, match=f"row 1 has {field}"):
        MpccPolicy().predict(rows)


def test_parameters_are_the_attributes_of_the_simulators_mpcc() -> None:
    attributes = default_attributes("mpcc")
    for name, value in _native.mpcc_parameters().items():
        text = attributes["".join(word.capitalize() for word in name.split("_"))]
        assert text.lower() == str(value).lower() if isinstance(value, str | bool) else float(text) == value


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"horizon": 0}, ValueError, "horizon"),
        ({"weight_queue": 0.0}, ValueError, "weights"),
        ({"acks_per_decision": -1}, ValueError, "ACKs"),
        ({"solver": "cplex"}, ValueError, "solver"),
        (
            {"weight_windw": 1.0},
            TypeError,
            "no parameter 'weight_windw'; it has horizon, weight_queue, weight",
        ),
        ({"horizon": "long"}, TypeError, "horizon cannot be 'long'"),
        ({"horizon": 2.5}, TypeError, "horizon cannot be 2.5"),
    ],
)
def test_parameters_that_cannot_be_are_named(
    parameters: dict[str, float | str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        MpccPolicy(**parameters)


#: Eight flows meet at an uplink of twice the rate of their receiver's link.
TWO_RATES = LeafSpine(leaves=2, spines=1, hosts_per_leaf=8, uplink_bps=200e9)


@pytest.mark.parametrize(
    ("topology", "rule"),
    [
        *((Dumbbell(senders=senders), "LongestQueue") for senders in (2, 4, 12, 32)),
        (TWO_RATES, "LongestQueue"),
        (TWO_RATES, "LongestDrain"),
    ],
)
def test_both_placements_choose_the_same_windows_at_the_same_instants(topology: Topology, rule: str) -> None:
    def play(placement: str) -> dict[str, Any]:
        base = incast(placement, size_bytes=200_000, record=Record(windows=True))
        scenario = base.under(base.controllers[0].name, {"Bottleneck": rule})
        return play_placed(simulator, scenario.model_copy(update={"topology": topology}))[0]

    with Simulator() as simulator:
        inside, outside = play("simulator"), play("python")
    assert outside["flows"] == inside["flows"]
    by_instant = {(time, flow): window for time, flow, window, _ in inside["windows"]}
    shared = [
        (window, by_instant[time, flow])
        for time, flow, window, _ in outside["windows"]
        if (time, flow) in by_instant
    ]
    assert len(shared) > 0.9 * len(by_instant)
    from_python, from_simulator = np.array(shared).T
    np.testing.assert_allclose(from_python, from_simulator, rtol=1e-12)
