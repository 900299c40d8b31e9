# SPDX-License-Identifier: GPL-2.0-or-later
"""Recovery, corruption and network cards, as users see them in results and metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.decision.task import Task
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.eval.metrics import line, measure
from ns3_env.policies.released import named_controller
from ns3_env.scenario import Controller, Record, Scenario, Switch
from ns3_env.scenario.reliability import Corruption, GoBackN, Nic, Recovery, SelectiveRepeat
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList, Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import charged_slowdowns

SHALLOW = Switch(pfc=False, buffer_bytes=200_000)


def incast(controller: str = "dcqcn", **values: Any) -> Scenario:
    fields: dict[str, Any] = {
        "topology": Dumbbell(senders=16),
        "traffic": Incast(size_bytes=100_000),
        "switch": SHALLOW,
        "controllers": [Controller(name=controller)],
        "time_limit_ns": 200_000_000,
        "recovery": SelectiveRepeat(),
    }
    return Scenario(**{**fields, **values})


@pytest.mark.parametrize("kind", ["go_back_n", "selective_repeat"])
@pytest.mark.parametrize(
    "losses",
    [
        {"corruption": [{"link": "all", "packet_rate": 0.03}]},
        {"switch": {"pfc": False, "buffer_bytes": "150kB"}},
        {"loss_probability": 0.05, "load_balancing": {"kind": "spray"}, "nic": {"ack_every": 4}},
    ],
    ids=str,
)
def test_payload_adds_up(simulator: Simulator, kind: str, losses: dict[str, Any]) -> None:
    """The sums of docs/lossy.md, "Results"."""
    content = {
        "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4},
        "traffic": {"kind": "incast", "size_bytes": 200_000},
        "controllers": [{"name": "dcqcn"}],
        "retransmission_timeout_ns": 50_000,
        "time_limit_ns": 1_000_000_000,
        "recovery": kind,
        "record": {"reordering": True},
        **losses,
    }
    repeated = 0
    for seed in range(8):
        results = simulator.play(Scenario.from_mapping({**content, "seed": seed}, "x"))
        flows, totals = results["flows"], results["totals"]
        assert totals["unfinished"] == 0
        sizes, again = sum(flows["size_bytes"]), sum(flows["retransmitted_bytes"])
        delivered, duplicates = totals["delivered_payload_bytes"], sum(flows["duplicate_bytes"])
        thrown_away = 1000 * sum(flows["out_of_order_packets"]) if kind == "go_back_n" else 0
        remaining = sizes + again - delivered - totals["dropped_payload_bytes"]
        after_the_end = delivered - sizes - duplicates - thrown_away
        assert totals["transmitted_payload_bytes"] == sizes + again
        assert 0 <= remaining <= 1000 * totals["packets_left"]
        assert 0 <= after_the_end <= again - duplicates
        if "switch" in losses:  # no ACK is lost: nothing is sent again that has come
            assert after_the_end == 0
        repeated += again
    assert repeated > 0


def test_an_ack_for_many_packets_loses_no_telemetry_of_which_few_carry_any(simulator: Simulator) -> None:
    """A packet that a decision waits for has an ACK of its own."""
    slowest = [
        charged_slowdowns(
            simulator.play(
                incast(
                    traffic=Incast(size_bytes=1_000_000, spread_ns=50_000),
                    switch=Switch(),
                    nic=Nic(ack_every=every),
                    controllers=[named_controller("ppo")],
                )
            )
        ).max()
        for every in (1, 16)
    ]
    assert slowest[1] == pytest.approx(slowest[0], rel=0.02)


def test_it_sends_less_again_than_go_back_n_and_its_metrics_say_so(simulator: Simulator) -> None:
    some = {"switch": Switch(), "loss_probability": 0.002}
    selective = simulator.play(incast(**some))
    back = simulator.play(incast(recovery=GoBackN(), **some))
    assert 3 * measure(selective)["retransmitted_bytes"] < measure(back)["retransmitted_bytes"]
    row = line(selective)
    assert row["out_of_order_packets"] == sum(selective["flows"]["out_of_order_packets"]) > 0
    assert row["duplicate_bytes"] == sum(selective["flows"]["duplicate_bytes"])
    assert "out_of_order_packets" not in line(back)
    counted = simulator.play(incast(recovery=GoBackN(), record=Record(reordering=True), **some))
    assert line(counted)["out_of_order_packets"] > row["out_of_order_packets"]
    assert counted["flows"]["end_ns"] == back["flows"]["end_ns"]


def test_a_seed_draws_corruption_of_the_link_that_is_named(simulator: Simulator) -> None:
    corruption = [Corruption(link=(17, 18), towards=18, bit_error_rate=1e-6)]
    scenario = incast(corruption=corruption, switch=Switch())
    first = simulator.play(scenario)
    assert first != simulator.play(scenario.with_seed(2))
    assert {(lost["node"], lost["peer"]) for lost in first["losses"]} == {(17, 18)}
    assert first["totals"]["dropped_packets"] > 0


@pytest.mark.parametrize("recovery", [GoBackN(), SelectiveRepeat()])
def test_an_agent_sees_which_share_of_what_it_sent_was_sent_again(recovery: Recovery) -> None:
    def seen(loss: float) -> list[float]:
        scenario = incast("agent", switch=Switch(), recovery=recovery, loss_probability=loss)
        env = FlowEnv(scenario, task=Task(fields=["repeated_fraction"]))
        values = [float(env.reset(seed=1)[0].max())]
        done = False
        while not done:
            observation, _, terminated, truncated, _ = env.step(np.zeros(1, np.float32))
            values.append(float(observation.max()))
            done = terminated or truncated
        env.close()
        return values

    assert set(seen(0.0)) == {0.0}
    lossy = seen(0.01)
    assert 0 < max(lossy) <= 1
    assert lossy[0] == 0


@pytest.mark.parametrize(
    ("patience", "timeouts"),
    [
        *((0.9, 0), (1.1, 1), (2.9, 1), (3.1, 2), (62.9, 5), (63.1, 6)),
        # 1 + 2 + ... + 64 timeouts' time, and from there on 64 again and again.
        *((126.9, 6), (127.1, 7), (190.9, 7), (191.1, 8), (254.9, 8), (255.1, 9)),
    ],
)
def test_the_retransmission_timeout_doubles_six_times_at_most(
    simulator: Simulator, patience: float, timeouts: int
) -> None:
    """All packets of a flow are lost, until so many times the timeout after its start."""
    timeout_ns = 100_000
    scenario = Scenario(
        topology=Dumbbell(senders=1),
        traffic=FlowList(flows=[Flow(src=0, dst=1, size_bytes=10_000)]),
        controllers=[Controller(name="dctcp")],
        loss_probability=1.0,
        retransmission_timeout_ns=timeout_ns,
        time_limit_ns=int(patience * timeout_ns),
    )
    assert simulator.play(scenario)["flows"]["timeouts"] == [timeouts]
