# SPDX-License-Identifier: GPL-2.0-or-later
"""Flow completion times against the published simulator's: three scenarios, networks, runs.

tests/data/probes: each about one accident; topology, flows, scenario, published times (ns) by controller.
"""

from __future__ import annotations

import csv
import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.papers.published import published_scenarios
from ns3_env.eval.papers.published.published_files import write_networks
from ns3_env.eval.papers.published.published_scenarios import (
    CONTROLLERS,
    SCENARIOS,
    Comparison,
    bars_of,
    compare,
    report,
)
from ns3_env.eval.papers.published.random_networks import HPCC_RATES, draw_network
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.paths import DATA


def as_published(folder: Path, controller: str, late_ns: int = 0, without: int | None = None) -> None:
    """Writes our own completion times in the published format, the first flow's delayed."""
    with Simulator() as simulator:
        flows = simulator.play(Scenario.load(folder / "scenario.yaml").under(controller))["flows"]
    before: Counter[tuple[int, int]] = Counter()
    rows = []
    for i, (src, dst) in enumerate(zip(flows["src"], flows["dst"], strict=True)):
        port = 10_000 + before[src, dst]
        before[src, dst] += 1
        fct = int(flows["fct_ns"][i]) + (late_ns if i == 0 else 0)
        ends = f"{0x0B000001 + (src << 8):08x} {0x0B000001 + (dst << 8):08x}"
        rows.append(
            f"{ends} {port} 100 {flows['size_bytes'][i]} {flows['start_ns'][i]} {fct} "
            f"{int(flows['standalone_ns'][i])}"
        )
    remaining = [row for i, row in enumerate(rows) if i != without]
    (folder / f"{controller}.fct.txt").write_text("\n".join(reversed(remaining)) + "\n")  # as flows end


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_networks([draw_network(1, 0)], tmp_path / "networks")
    return tmp_path / "networks"


@pytest.mark.parametrize("number", range(15))
def test_a_random_network_is_within_what_both_simulators_agree_on(tmp_path: Path, number: int) -> None:
    definition = draw_network(7, number)
    write_networks([definition], tmp_path)
    scenario = Scenario.load(tmp_path / definition.name / "scenario.yaml")
    network = scenario.topology.build()
    assert {link.rate_bps for link in network.access.values()} == {definition.host_rate_gbps * 1e9}
    assert {link.rate_bps for link in network.links} <= {rate * 1e9 for rate in HPCC_RATES}
    assert len(scenario.flows()) == len(definition.flows) > 0
    starts = scenario.flows().start_ns
    assert starts == sorted(starts)
    with Simulator() as simulator:
        assert max(simulator.play(scenario.under("hpcc"))["flows"]["fct_ns"]) > 0  # at most five switches


def test_networks_without_results_say_what_to_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = ["compare", "published", str(tmp_path / "networks"), "--random", "2"]
    assert main(draw) == 0
    waiting = "2 of 2 networks wait for results of the published simulator: in its folder, `sh "
    assert f"{waiting}{tmp_path / 'networks'}" in capsys.readouterr().out
    assert main(draw) == 0  # they stay
    assert main([*draw, "--seed", "2"]) == 2
    assert "another one than is to be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("waf", "status", "message"),
    [
        ("echo 'python2: not found' >&2; exit 127", 2, "./waf does not work in {}: python2: not found\n"),
        ("case $* in *dctcp*) echo no trace; exit 3;; esac", 1, "no trace\nfailed runs: 1\n"),
        ("case $* in *dctcp*) exit;; esac", 1, "dctcp.fct.txt.part"),  # no results, though it ended well
        ("[ $1 = build ] || exit 3", 1, "failed runs: 4\n"),
        ("", 0, ""),
    ],
)
def test_the_script_names_runs_that_fail_and_why(
    folder: Path, tmp_path: Path, waf: str, status: int, message: str
) -> None:
    stub = tmp_path / "waf"
    results = "[ $1 = build ] || echo row > ${config%.config.txt}.fct.txt.part"
    stub.write_text(f"#!/bin/sh\nconfig=${{2#scratch/third }}\n{waf}\n{results}\n")
    stub.chmod(0o755)
    ran = subprocess.run(["sh", folder / "run.sh"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == status
    assert message.format(tmp_path) in ran.stderr
    failed = [
        name for name in CONTROLLERS if f"failed: {folder}/000-dumbbell/{name}.config.txt" in ran.stderr
    ]
    assert bool(failed) == (status == 1)
    if status != 2:
        results_of = {path.name.partition(".")[0] for path in folder.glob("*/*.fct.txt")}
        assert results_of == set(CONTROLLERS) - set(failed)


def test_equal_times_are_exact_and_others_are_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = folder / "000-dumbbell"
    as_published(network, "hpcc")
    figures = tmp_path / "figures.json"
    assert main(["compare", "published", str(folder), "--json", str(figures)]) == 0
    row = json.loads(figures.read_text())["000-dumbbell"]["hpcc"]
    assert row["exact"] == row["flows"] > 1
    assert row["hung"] == 0
    assert row["worst"] == 0
    as_published(network, "dctcp", late_ns=1)
    capsys.readouterr()
    assert main(["compare", "published", str(folder)]) == 1
    output = capsys.readouterr().out
    assert f"✗ {row['flows'] - 1} of {row['flows']}" in output
    assert "000-dumbbell under dctcp: flows that differ: 1, by at most" in output
    assert "the first is flow 0" in output


def test_a_flow_that_ended_here_alone_differs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    as_published(folder / "000-dumbbell", "hpcc", without=3)
    assert main(["compare", "published", str(folder)]) == 1
    output = capsys.readouterr().out
    assert "the first is flow 3" in output
    assert "by a timeout after the others: 1" in output


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("0b000001 0b000101 10000 100 1000 2000000000 6261", "no row of completion times"),
        ("0b00ff01 0b000101 10000 100 1000 2000000000 6261 6000", "the scenario has no such flow"),
    ],
)
def test_a_row_that_is_none_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], row: str, fault: str
) -> None:
    (folder / "000-dumbbell" / "dcqcn.fct.txt").write_text(row + "\n")
    assert main(["compare", "published", str(folder)]) == 2
    assert f"dcqcn.fct.txt:1: {fault}" in capsys.readouterr().err


def test_the_other_preset_shows_what_accidents_are_worth(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    as_published(folder / "000-dumbbell", "dctcp")
    assert main(["compare", "published", str(folder), "--preset", "published"]) == 0
    assert "+0.00 +0.00" in capsys.readouterr().out
    assert main(["compare", "published", str(folder), "--preset", "default"]) == 0
    assert "+0.00 +0.00" not in capsys.readouterr().out


#: Rings that cross two spines, in chunks, with computations between: flows wait, share links, and are marked.
JOB = {
    "preset": "published",
    "time_limit_ns": "200ms",
    "topology": {
        "kind": "leaf_spine",
        "leaves": 2,
        "spines": 2,
        "hosts_per_leaf": 4,
        "uplink_bps": "100Gbps",
    },
    "traffic": {
        "kind": "jobs",
        "algorithm": "ring_all_reduce",
        "jobs": 2,
        "ranks_each": 4,
        "size_bytes": "4MB",
        "chunk_bytes": "400kB",
        "iterations": 2,
        "compute_ns": "20us",
        "compute_spread_ns": "3us",
    },
}


def played(tmp_path: Path, controller: str, *overrides: str) -> Path:
    """A run's folder."""
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(JOB))
    out = tmp_path / "run"
    assert main(["run", str(file), "--controllers", controller, "--out", str(out), *overrides]) == 0
    return out / controller


@pytest.mark.parametrize("controller", ["dcqcn", "hpcc", "timely", "dctcp"])
def test_a_jobs_flows_replay_to_the_nanosecond_without_their_waits(tmp_path: Path, controller: str) -> None:
    run, networks = played(tmp_path, controller), tmp_path / "networks"
    assert main(["compare", "published", str(networks), "--run", str(run)]) == 0
    replay = Scenario.load(networks / f"run-{controller}" / "scenario.yaml").under(controller)
    with Simulator() as simulator:
        flows = simulator.play(replay)["flows"]
    columns = ("src", "dst", "size_bytes", "start_ns", "fct_ns", "standalone_ns")
    with (run / "flows.csv").open(newline="") as lines:
        had = sorted(tuple(float(row[name]) for name in columns) for row in csv.DictReader(lines))
    has = sorted(zip(*(map(float, flows[name]) for name in columns), strict=True))
    assert has == had
    assert max(fct / alone for *_, fct, alone in has) > 1.2  # they did share links


@pytest.mark.parametrize(
    ("controller", "override", "fault"),
    [
        ("dcqcn", "preset=default", "timing: exact"),
        ("dcqcn", "payload_bytes=500", "payload_bytes: 500"),
        ("dcqcn", "min_rate_bps=2e9", "min_rate_bps: 2000000000.0"),
        ("dcqcn", "dcqcn.Gain=0.5", "dcqcn.Gain: 0.5"),
        ("swift", "seed=1", "controllers: swift (it has dcqcn, hpcc, timely, dctcp, one in a run)"),
        ("dcqcn", "time_limit_ns=100us", "flows did not end"),
        ("dcqcn", "switch.buffer_bytes=3MB", "buffers of whole MiB"),
    ],
)
def test_what_the_published_simulator_has_not_is_refused_by_name(
    tmp_path: Path, controller: str, override: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = played(tmp_path, controller, override)
    capsys.readouterr()
    assert main(["compare", "published", str(tmp_path / "networks"), "--run", str(run)]) == 2
    output = capsys.readouterr().err
    assert str(run) in output
    assert fault in output
    assert not (tmp_path / "networks").exists()


PAIRS = [(name, controller) for name in SCENARIOS for controller in CONTROLLERS]


@pytest.fixture(scope="module")
def compared() -> dict[tuple[str, str], Comparison]:
    with Simulator() as simulator:
        return {(name, controller): compare(name, controller, simulator) for name, controller in PAIRS}


@pytest.mark.parametrize(("name", "controller"), PAIRS)
def test_every_flow_completes_at_the_published_nanosecond(
    compared: dict[tuple[str, str], Comparison], name: str, controller: str
) -> None:
    """Stricter than the tolerances: ties, wake-ups and ECN's random numbers also are the published ones."""
    assert compared[name, controller].max_abs_dev == 0
    assert compared[name, controller].misses(bars_of(name, controller)) == []


def test_a_flow_too_late_misses_its_bar() -> None:
    row = Comparison(avg=2.05, p50=2, p99=3, ref_avg=2, ref_p50=2, ref_p99=3, max_abs_dev=0.002)
    assert row.misses(bars_of("fattree16_websearch30", "hpcc")) == ["avg"]
    assert row.misses(bars_of("dumbbell_1g_4to1", "timely")) == []
    assert row.misses(bars_of("dumbbell_1g_4to1", "dctcp")) == ["per_flow"]


def test_table_and_json_hold_the_same_figures(
    compared: dict[tuple[str, str], Comparison],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        published_scenarios, "compare", lambda name, controller, *_: compared[name, controller]
    )
    monkeypatch.setenv("COLUMNS", "80")
    report(tmp_path / "reference.json")
    output = capsys.readouterr().out
    assert "…" not in output
    written = json.loads((tmp_path / "reference.json").read_text())
    assert set(written) == set(SCENARIOS)
    for (name, controller), row in compared.items():
        figures = written[name][controller]
        assert set(figures) == {"avg", "p50", "p99", "ref_avg", "ref_p50", "ref_p99", "max_abs_dev"}
        assert figures["avg"] == row.avg
        assert f"{row.avg:.3f}" in output


PROBES = DATA / "probes"
#: A flow whose last packet was lost never ends there: a simulation of it hangs.
HUNG = -1.0
#: Here it continues after this time (ns), behind all other flows.
LATE_NS = 1e9


def ends(name: str) -> dict[str, list[tuple[float, float]]]:
    """Completion time and standalone time (ns) of each flow, by controller, as published."""
    published: dict[str, list[tuple[float, float]]] = {}
    with (PROBES / f"{name}.csv").open() as rows:
        for row in csv.DictReader(rows):
            times = float(row["fct_ns"]), float(row["standalone_ns"])
            published.setdefault(row["controller"], []).append(times)
    return published


@pytest.mark.parametrize("name", sorted(file.stem for file in PROBES.glob("*.yaml")))
def test_every_flow_ends_at_the_published_nanosecond(simulator: Simulator, name: str) -> None:
    scenario = Scenario.load(PROBES / f"{name}.yaml")
    rates_gbps = {link.rate_bps / 1e9 for link in scenario.topology.build().links}
    for controller, published in ends(name).items():
        if controller == "hpcc" and not rates_gbps <= set(HPCC_RATES):
            continue
        flows = simulator.play(scenario.under(controller))["flows"]
        ended = [
            (fct, alone) if fct < LATE_NS else (HUNG, HUNG)
            for fct, alone in zip(flows["fct_ns"], flows["standalone_ns"], strict=True)
        ]
        assert ended == published, controller
