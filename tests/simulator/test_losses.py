# SPDX-License-Identifier: GPL-2.0-or-later
"""Packet losses by port and cause, with switches without PFC and lossy links, and their report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.results import LOSS_COLUMNS
from ns3_env.eval.metrics import measure
from ns3_env.eval.report import write
from ns3_env.programs.executable import references
from ns3_env.scenario import Controller, Scenario, Switch
from ns3_env.scenario.reliability import Nic, SelectiveRepeat
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator, list_controllers
from ns3_env.simulator.results import Results
from tests.samples import report_folder
from tests.samples.files import dumped, rows

SENDERS = 16
UPLINK = {"node": SENDERS + 1, "port": SENDERS, "peer": SENDERS + 2}
SHALLOW = Switch(pfc=False, buffer_bytes=200_000)


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
    results = simulator.play(incast(controller, **keys))
    totals, flows = results["totals"], results["flows"]
    assert totals["unfinished"] == totals["pfc_frames"] == 0
    assert flows["acked_bytes"] == flows["size_bytes"]
    (lost,) = results["losses"]  # at the bottleneck alone
    assert place(lost) == UPLINK
    assert lost["cause"] == "buffer_full"
    assert lost["packets"] == totals["dropped_packets"] > 0
    (queue,) = (port for port in results["queues"] if place(port) == UPLINK)
    assert 150_000 < queue["max_bytes"] <= SHALLOW.buffer_bytes
    if keys:
        delivered = totals["delivered_payload_bytes"]
        assert sum(flows["size_bytes"]) + results["reordering"]["duplicate_bytes"] == delivered
        assert totals["transmitted_payload_bytes"] == delivered + totals["dropped_payload_bytes"]
        again = totals["transmitted_payload_bytes"] - sum(flows["size_bytes"])
        assert sum(flows["retransmitted_bytes"]) == again


def test_each_cause_is_counted_at_its_port(simulator: Simulator) -> None:
    """Links lose at hosts' ports, too: what a full buffer costs is told apart from it."""
    none = simulator.play(incast("dctcp", Switch()))
    assert none["losses"] == []
    assert measure(none, ("buffer_losses", "link_losses")) == {"buffer_losses": 0, "link_losses": 0}
    results = simulator.play(incast("dctcp", loss_probability=0.01, seed=3))
    by_cause = {"link": 0, "buffer_full": 0}
    for lost in results["losses"]:
        by_cause[lost["cause"]] += lost["packets"]
        assert lost["cause"] == "link" or place(lost) == UPLINK
    hosts = {lost["node"] for lost in results["losses"] if lost["node"] <= SENDERS}
    assert len(hosts) > SENDERS / 2
    assert sum(by_cause.values()) == results["totals"]["dropped_packets"]
    payload = sum(lost["payload_bytes"] for lost in results["losses"])
    assert payload == results["totals"]["dropped_payload_bytes"]
    metrics = measure(results, ("buffer_losses", "link_losses", "dropped_packets"))
    assert list(metrics.values()) == [*(by_cause[x] for x in ("buffer_full", "link")), sum(by_cause.values())]


def test_the_published_preset_with_exact_timing_keeps_no_headroom_without_pfc(simulator: Simulator) -> None:
    assert simulator.play(incast("hpcc", preset="published", timing="exact"))["totals"]["unfinished"] == 0


def test_eval_run_writes_them_and_shows_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = {
        "topology": {"kind": "dumbbell", "senders": SENDERS},
        "traffic": {"kind": "incast", "size_bytes": 100_000},
        "switch": {"pfc": False, "buffer_bytes": 200_000},
    }
    file = dumped(tmp_path / "lossy.yaml", scenario)
    command = ["run", str(file), "--controllers", "hpcc", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    (row,) = rows(tmp_path / "out" / "hpcc" / "losses.csv")
    assert list(row) == list(LOSS_COLUMNS)
    output = capsys.readouterr().out
    assert "packets" in output
    assert f"{int(row['packets']):,}" in output
    dumped(file, {**scenario, "switch": {}})
    assert main(command) == 0
    assert not (tmp_path / "out" / "hpcc" / "losses.csv").exists()
    assert "packets" not in capsys.readouterr().out


def test_the_report_says_where_packets_were_lost(tmp_path: Path) -> None:
    path = report_folder.write(tmp_path / "run", report_folder.suite())
    lost = ["4,2,5,buffer_full,700,700000", *(f"{host},0,4,link,{host + 1},1000" for host in range(3))]
    for seed in (1, 2):  # of seven
        cell = path / "cells" / "equal" / "hpcc" / f"seed-{seed}"
        (cell / "losses.csv").write_text("\n".join([",".join(LOSS_COLUMNS), *lost, "3,0,4,link,1,1", ""]))
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
