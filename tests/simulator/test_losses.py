# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet losses by port and cause, with switches without PFC and lossy links, and their report."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.errors import ScenarioError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.results import LOSS_COLUMNS
from ns3_env.eval.metrics import measure
from ns3_env.eval.report import write
from ns3_env.scenario import Controller, Scenario, Switch
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList, Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results
from tests.samples import report_folder

SENDERS = 16
UPLINK = {"node": SENDERS + 1, "port": SENDERS, "peer": SENDERS + 2}
SHALLOW = Switch(pfc=False, buffer_bytes=200_000)


@pytest.fixture(scope="module")
def simulator() -> Any:
    with Simulator() as started:
        yield started


def incast(controller: str, switch: Switch = SHALLOW, **values: Any) -> Scenario:
    return Scenario(
        topology=Dumbbell(senders=SENDERS),
        traffic=Incast(size_bytes=100_000),
        switch=switch,
        controllers=[Controller(name=controller)],
        time_limit_ns=200_000_000,
        **values,
    )


def place(lost: Results) -> dict[str, Any]:
    return {name: lost[name] for name in UPLINK}


@pytest.mark.parametrize(
    "controller",
    ["dcqcn", "hpcc", "timely", "dctcp", "swift", "mpcc", "fixed-window", "qcn", "bcn", "smcc"],
)
def test_flows_finish_on_a_shallow_buffer_without_pfc(simulator: Simulator, controller: str) -> None:
    results = simulator.play(incast(controller))
    totals, flows = results["totals"], results["flows"]
    assert totals["unfinished"] == totals["pfc_frames"] == 0
    assert flows["acked_bytes"] == flows["size_bytes"]
    (lost,) = results["losses"]  # at the bottleneck alone
    assert place(lost) == UPLINK
    assert lost["cause"] == "buffer_full"
    assert lost["packets"] == totals["dropped_packets"] > 0
    (queue,) = (port for port in results["queues"] if place(port) == UPLINK)
    assert 150_000 < queue["max_bytes"] <= SHALLOW.buffer_bytes


@pytest.mark.parametrize("reserve_bytes", [0, 4096])
@pytest.mark.parametrize("buffer_bytes", [100_000, 200_000])
def test_what_does_not_fit_is_lost_packet_for_packet(
    simulator: Simulator, buffer_bytes: int, reserve_bytes: int
) -> None:
    """Bursts meet before a link on which nothing moves: one packet is on it, the others fill the buffer."""
    packets, on_the_wire = 50, 1048
    scenario = Scenario(
        topology=Dumbbell(senders=SENDERS, rate_bps=100e9, bottleneck_bps=100e6),
        traffic=FlowList(flows=[Flow(src=i, dst=SENDERS, size_bytes=packets * 1000) for i in range(SENDERS)]),
        switch=Switch(pfc=False, buffer_bytes=buffer_bytes, reserve_bytes=reserve_bytes),
        controllers=[Controller(name="fixed-window", attributes={"Window": 10**6})],
        time_limit_ns=50_000,  # a packet takes 84 µs on the bottleneck
    )
    results = simulator.play(scenario)
    fit = 1 + (buffer_bytes - reserve_bytes) // on_the_wire  # nothing comes in from the bottleneck's far end
    lost = SENDERS * packets - fit
    assert results["losses"] == [
        {**UPLINK, "cause": "buffer_full", "packets": lost, "payload_bytes": 1000 * lost}
    ]


def test_each_cause_is_counted_at_its_port(simulator: Simulator) -> None:
    """Links lose at hosts' ports, too: what a full buffer costs is told apart from it."""
    results = simulator.play(incast("dctcp", loss_probability=0.01, seed=3))
    by_cause = {"link": 0, "buffer_full": 0}
    for lost in results["losses"]:
        by_cause[lost["cause"]] += lost["packets"]
        assert lost["cause"] == "link" or place(lost) == UPLINK
    hosts = {lost["node"] for lost in results["losses"] if lost["node"] <= SENDERS}
    assert len(hosts) > SENDERS / 2
    assert sum(by_cause.values()) == results["totals"]["dropped_packets"]
    assert (
        sum(lost["payload_bytes"] for lost in results["losses"]) == results["totals"]["dropped_payload_bytes"]
    )
    metrics = measure(results, ("buffer_losses", "link_losses", "dropped_packets"))
    assert list(metrics.values()) == [*(by_cause[x] for x in ("buffer_full", "link")), sum(by_cause.values())]


def test_without_losses_there_are_no_rows(simulator: Simulator) -> None:
    results = simulator.play(incast("dctcp", Switch()))
    assert results["losses"] == []
    assert measure(results, ("buffer_losses", "link_losses")) == {"buffer_losses": 0, "link_losses": 0}


@pytest.mark.parametrize(
    ("switch", "text"),
    [
        (
            {"pfc": False, "buffer_bytes": 25_000},
            "25000 B hold no packet of 1090 B beside the reserves of switch 6, 24576 B",
        ),
        ({"pfc": True, "buffer_bytes": 200_000}, "no more than the reserves and headrooms of switch 6"),
    ],
)
def test_a_buffer_that_holds_nothing_is_refused_by_name(switch: dict[str, Any], text: str) -> None:
    content = {"topology": {"kind": "dumbbell", "senders": 5}, "switch": switch}
    with pytest.raises(ScenarioError, match=r"x\.yaml: switch\.buffer_bytes: ") as refused:
        Scenario.from_mapping(content, "x.yaml")
    assert text in str(refused.value)


def test_the_published_simulator_keeps_its_headroom_without_pfc(simulator: Simulator) -> None:
    with pytest.raises(ValueError, match="timing 'published' keeps headroom without PFC, 'exact' does not"):
        incast("hpcc", preset="published")
    assert simulator.play(incast("hpcc", preset="published", timing="exact"))["totals"]["unfinished"] == 0


def test_eval_run_writes_them_and_shows_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = {
        "topology": {"kind": "dumbbell", "senders": SENDERS},
        "traffic": {"kind": "incast", "size_bytes": 100_000},
        "switch": {"pfc": False, "buffer_bytes": 200_000},
    }
    file = tmp_path / "lossy.yaml"
    command = ["run", str(file), "--controllers", "hpcc", "--out", str(tmp_path / "out")]
    file.write_text(yaml.safe_dump(scenario))
    assert main(command) == 0
    with (tmp_path / "out" / "hpcc" / "losses.csv").open(newline="") as text:
        (row,) = csv.DictReader(text)
    assert list(row) == list(LOSS_COLUMNS)
    shown = capsys.readouterr().out
    assert "packets" in shown
    assert f"{int(row['packets']):,}" in shown
    file.write_text(yaml.safe_dump({**scenario, "switch": {}}))
    assert main(command) == 0
    assert not (tmp_path / "out" / "hpcc" / "losses.csv").exists()
    assert "packets" not in capsys.readouterr().out


def test_the_report_says_where_packets_were_lost(tmp_path: Path) -> None:
    path = report_folder.write(tmp_path / "run", report_folder.suite())
    rows = ["4,2,5,buffer_full,700,700000", *(f"{host},0,4,link,{host + 1},1000" for host in range(3))]
    for seed in (1, 2):  # of seven
        cell = path / "cells" / "equal" / "hpcc" / f"seed-{seed}"
        (cell / "losses.csv").write_text("\n".join([",".join(LOSS_COLUMNS), *rows, "3,0,4,link,1,1", ""]))
    write(path)
    text = (path / "report.md").read_text()
    table = [line for line in text.splitlines() if "buffer full" in line or "lost on the link" in line]
    assert table == [
        "| hpcc | 4:2, to 5 | buffer full | 200.0 | 200.0 |",
        "| hpcc | 2:0, to 4 | lost on the link | 0.9 | 0.3 |",
        "| hpcc | 1:0, to 4 | lost on the link | 0.6 | 0.3 |",
        "| hpcc | 0:0, to 4 | lost on the link | 0.3 | 0.3 |",
        "| hpcc | 3:0, to 4 | lost on the link | 0.3 | 0.0 |",
    ]
    page = (path / "report.html").read_text()
    assert page.count("Where packets were lost") == 1  # of two scenarios
    assert page.count("4:2, to 5") == 1
