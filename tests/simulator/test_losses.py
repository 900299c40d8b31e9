# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet losses by port and cause, recovery from them, their reports, and pauses in a circle."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.decision.task import Task
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.eval.episodes.results import LOSS_COLUMNS
from ns3_env.eval.metrics import line, measure
from ns3_env.eval.report import write
from ns3_env.policies.released import named_controller
from ns3_env.programs.executable import references
from ns3_env.scenario import Controller, Record, Scenario, Switch
from ns3_env.scenario.reliability import GoBackN, Nic, Recovery, SelectiveRepeat
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList, Incast
from ns3_env.simulator import Simulator, list_controllers
from ns3_env.simulator.results import Results, charged_slowdowns
from tests.samples import report_folder
from tests.samples.rings import ring
from tests.samples.scenarios import conserved, incast, results_of

SENDERS = 16
UPLINK = {"node": SENDERS + 1, "port": SENDERS, "peer": SENDERS + 2}
SHALLOW = Switch(pfc=False, buffer_bytes=200_000)


def sixteen(controller: str = "dcqcn", switch: Switch = SHALLOW, **values: Any) -> Scenario:
    scenario = incast(SENDERS, controller=controller, time_limit_ns=200_000_000)
    return scenario.model_copy(update={"switch": switch, **values})


def place(lost: Results) -> dict[str, Any]:
    return {name: lost[name] for name in UPLINK}


#: All that send packets and obey buffers.
CONTROLLERS = sorted({*list_controllers()} - {"agent", "policy", *references()})


@pytest.mark.parametrize(
    "keys",
    [{}, {"recovery": SelectiveRepeat(), "nic": Nic(cnp_delay_ns=5000, ack_every=3)}],
    ids=["back", "sr"],
)
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_flows_finish_on_a_shallow_buffer_without_pfc(
    simulator: Simulator, controller: str, keys: dict[str, Any]
) -> None:
    results = simulator.play(sixteen(controller, **keys))
    totals, flows = results["totals"], results["flows"]
    assert totals["unfinished"] == totals["pfc_frames"] == 0
    assert flows["acked_bytes"] == flows["size_bytes"]
    (lost,) = results["losses"]  # only at the bottleneck
    assert place(lost) == UPLINK
    assert lost["cause"] == "buffer_full"
    assert lost["packets"] == totals["dropped_packets"] > 0
    counts = measure(results, ("buffer_losses", "link_losses"))
    assert counts == {"buffer_losses": lost["packets"], "link_losses": 0}
    (queue,) = (port for port in results["queues"] if place(port) == UPLINK)
    assert 150_000 < queue["max_bytes"] <= SHALLOW.buffer_bytes
    if keys:
        delivered = totals["delivered_payload_bytes"]
        assert sum(flows["size_bytes"]) + results["reordering"]["duplicate_bytes"] == delivered
        assert totals["transmitted_payload_bytes"] == delivered + totals["dropped_payload_bytes"]
        again = totals["transmitted_payload_bytes"] - sum(flows["size_bytes"])
        assert sum(flows["retransmitted_bytes"]) == again


def test_the_report_says_where_packets_were_lost(tmp_path: Path) -> None:
    path = report_folder.write(tmp_path / "run", report_folder.suite(scenarios=1, seeds=[1, 2]))
    lost = ["4,2,5,buffer_full,700,700000", *(f"{host},0,4,link,{host + 1},1000" for host in range(3))]
    (path / "cells" / "equal" / "hpcc" / "seed-1" / "losses.csv").write_text(
        "\n".join([",".join(LOSS_COLUMNS), *lost, "3,0,4,link,1,1", ""])
    )
    write(path)
    text = (path / "report.md").read_text()
    table = [line for line in text.splitlines() if "buffer full" in line or "lost on the link" in line]
    assert table == [  # means over two seeds
        "| hpcc | 4:2, to 5 | buffer full | 350.0 | 350.0 |",
        "| hpcc | 2:0, to 4 | lost on the link | 1.5 | 0.5 |",
        "| hpcc | 1:0, to 4 | lost on the link | 1.0 | 0.5 |",
        "| hpcc | 0:0, to 4 | lost on the link | 0.5 | 0.5 |",
        "| hpcc | 3:0, to 4 | lost on the link | 0.5 | 0.0 |",
    ]
    page = (path / "report.html").read_text()
    assert "Where packets were lost" in page
    assert page.count("4:2, to 5") == 1


def test_an_ack_for_many_packets_loses_no_telemetry_of_which_few_carry_any(simulator: Simulator) -> None:
    """A packet that a decision waits for has its own ACK."""
    slowest = [
        charged_slowdowns(
            simulator.play(
                sixteen(
                    recovery=SelectiveRepeat(),
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
    selective = simulator.play(sixteen("dcqcn", recovery=SelectiveRepeat(), **some))
    back = simulator.play(sixteen("dcqcn", **some))
    assert 3 * measure(selective)["retransmitted_bytes"] < measure(back)["retransmitted_bytes"]
    row = line(selective)
    assert row["out_of_order_packets"] == sum(selective["flows"]["out_of_order_packets"]) > 0
    assert row["duplicate_bytes"] == sum(selective["flows"]["duplicate_bytes"])
    assert "out_of_order_packets" not in line(back)
    counted = simulator.play(sixteen("dcqcn", record=Record(reordering=True), **some))
    assert line(counted)["out_of_order_packets"] > row["out_of_order_packets"]
    assert counted["flows"]["end_ns"] == back["flows"]["end_ns"]


@pytest.mark.parametrize("recovery", [GoBackN(), SelectiveRepeat()])
def test_an_agent_sees_which_share_of_what_it_sent_was_sent_again(recovery: Recovery) -> None:
    def seen(loss: float) -> list[float]:
        scenario = sixteen("agent", switch=Switch(), recovery=recovery, loss_probability=loss)
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
    """All packets of a flow are lost, until a multiple of the timeout after its start."""
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


CLASSES = {
    "classes": [{"name": "a", "pfc": False}, {"name": "b"}],
    "groups": {"all": {"traffic_class": "b"}},
    "switch": {"buffer_bytes": "1MB"},
}


@pytest.mark.parametrize(
    ("switches", "changes"),
    [(5, {}), (6, {}), (5, {"timing": "published"}), (5, {"controllers": [{"name": "fixed-window"}]})],
)
def test_pauses_in_a_circle_are_named_in_their_order(switches: int, changes: dict[str, Any]) -> None:
    results = results_of(ring(switches, **changes))
    assert results["totals"]["unfinished"] > 0
    circle = results["pause_circle"]
    hops = [(port["node"], port["peer"]) for port in circle["ports"]]
    assert sorted(hops) == [(i, (i + 1) % switches) for i in range(switches)]
    assert [node for node, _ in hops[1:]] == [peer for _, peer in hops[:-1]]  # each waits for the next
    assert circle["others"] == 2 * switches  # hosts


def test_a_class_stands_still_by_itself() -> None:
    mapping = ring(5, **CLASSES)
    for flow in mapping["traffic"]["flows"]:
        flow["group"] = "all"
    assert len(results_of(mapping)["pause_circle"]["ports"]) == 5


@pytest.mark.parametrize("action", ["drop", "forward"])
def test_a_watchdog_resolves_a_deadlock_and_loses_no_byte_unseen(action: str) -> None:
    watchdog = {"detection_ns": "100us", "restoration_ns": "100us", "action": action}
    results = results_of(ring(5, switch={"buffer_bytes": "400kB", "pfc_watchdog": watchdog}))
    conserved(results)
    assert results["totals"]["unfinished"] == 0
    assert "pause_circle" not in results
    stormy = [row for row in results["queues"] if row["pause_storms"] > 0]
    assert {(row["node"], row["peer"]) for row in stormy} == {(i, (i + 1) % 5) for i in range(5)}
    assert all(row["pause_storm_ns"] >= row["pause_storms"] * 100_000 for row in stormy)
    assert {row["cause"] for row in results["losses"]} == {
        "pause_storm" if action == "drop" else "buffer_full"
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"time_limit_ns": "3us"},  # before the first pause
        {"switch": {"buffer_bytes": "400kB", "pfc": False}},
        {"traffic": {"kind": "incast", "receiver": 5, "flows": 9, "size_bytes": "1MB"}},  # a tree
    ],
)
def test_pauses_that_will_end_are_none(changes: dict[str, Any]) -> None:
    assert "pause_circle" not in results_of(ring(5, **changes))
