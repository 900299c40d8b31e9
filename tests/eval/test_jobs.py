# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs: times of iterations and collectives, and the critical path of each iteration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.critical_path import critical_paths, read_critical_paths, slowest
from ns3_env.eval.episodes.results import result_files
from ns3_env.eval.metrics import measure
from ns3_env.eval.metrics.job_times import completion_times, spans
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.samples.job_results import two_ranks

NAMES = (
    "job_completion",
    "job_completion_max",
    "iteration_time",
    "collective_time",
    "exposed_communication",
    "straggler_spread",
)


def test_an_iteration_by_hand() -> None:
    whole, ring = spans(two_ranks())
    assert (whole.start_ns, whole.end_ns, whole.finished) == (0, 90, True)
    assert (whole.compute_ns, whole.exposed_ns, whole.straggler_ns) == (50, 40, 0)
    assert (ring.part, ring.start_ns, ring.duration_ns) == ("ring", 40, 50)
    values = measure(two_ranks(), NAMES)
    assert list(values.values()) == pytest.approx([90, 90, 90, 50, 40 / 90, 0])


def test_what_was_cut_is_no_finished_iteration_but_counts_to_the_jobs_time() -> None:
    cut = two_ranks(-1)
    assert [span.finished for span in spans(cut)] == [False, False]
    assert completion_times(spans(cut)) == [100]
    values = measure(cut, NAMES)
    assert values["job_completion"] == 100
    assert values["iteration_time"] != values["iteration_time"]


def test_an_idle_rings_metrics_are_its_closed_form(simulator: Simulator) -> None:
    ring = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 80_000, "job": "mine"}
    scenario = Scenario.from_mapping(
        {
            "topology": {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8},
            "controllers": [{"name": "fixed-window"}],
            "traffic": {**ring, "iterations": 2, "compute_ns": 100_000},
        },
        "x",
    )
    results = simulator.play(scenario)
    packet, ack = 83.84, 4.8
    collective = 14 * (2000 + 11 * packet) + 13 * ack
    values = measure(results, NAMES)
    assert values["collective_time"] == pytest.approx(collective, abs=1e-2)
    assert values["iteration_time"] == pytest.approx(collective + 100_000, abs=1e-2)
    assert values["job_completion"] == pytest.approx(2 * (collective + 100_000), abs=1e-2)
    assert values["exposed_communication"] == pytest.approx(collective / (collective + 100_000))
    assert values["straggler_spread"] == pytest.approx(0, abs=1e-2)
    rows = result_files(scenario, results)["jobs.csv"].splitlines()
    assert rows[0].startswith("job,iteration,part,start_ns,end_ns,duration_ns,compute_ns,exposed_ns")
    assert [row.split(",")[:3] for row in rows[1:]] == [
        ["mine", "0", ""],
        ["mine", "0", "ring_all_reduce"],
        ["mine", "1", ""],
        ["mine", "1", "ring_all_reduce"],
    ]


#: Two cards of 1 B/ns at a switch.
CONTENT: dict[str, Any] = {
    "nodes": ["host", "host", "switch"],
    "links": [{"a": 0, "b": 2, "rate_bps": 8e9}, {"a": 1, "b": 2, "rate_bps": 8e9}],
    "dependencies": {"after": [2, 0, 2], "after_count": [1, 1, 0, 1], "delay_ns": [0, 5, 40, 10]},
}


def chain(last_ns: int = 165) -> dict[str, Any]:
    """Step 2 until 40, flow 0 until 100, flow 1 from 105 on, 5 after it; step 3 in parallel."""
    return {
        "flows": {
            "src": [0, 1],
            "dst": [1, 0],
            "size_bytes": [40, 50],
            "payload_bytes": [50, 50],
            "header_bytes": [4, 4],
            "start_ns": [40, 105],
            "delivered_ns": [100, last_ns],
            "standalone_ns": [54, 64],
            "base_rtt_ns": [8, 8],
        },
        "steps": {"start_ns": [0, 40], "end_ns": [40, 50]},
        "jobs": two_ranks()["jobs"],
        "totals": {"end_ns": 200},
    }


def test_the_path_leads_back_from_what_ended_last() -> None:
    (path,) = critical_paths(CONTENT, chain())
    assert (path.job, path.iteration, path.duration_ns) == ("a", 0, 165)
    ring, compute = path.parts
    assert (ring.name, ring.path_ns, ring.active_ns) == ("ring", 60 + 60, 120)
    assert (compute.name, compute.path_ns, compute.active_ns) == ("compute", 40, 50)


def test_nobody_is_faster_than_the_chain_alone_and_the_cards() -> None:
    """By itself the chain needs 40 + 50 + 5 + 60; a card needs 54 ns for 50 B with one header."""
    (path,) = critical_paths(CONTENT, chain())
    assert path.least_ns == 40 + 50 + 5 + 60
    assert path.parts[0].least_ns == 54
    slow_cards = {**CONTENT, "links": [{**link, "rate_bps": 1e9} for link in CONTENT["links"]]}
    (path,) = critical_paths(slow_cards, chain())
    assert path.least_ns == 54 * 8


def test_an_iteration_that_was_cut_has_no_path() -> None:
    assert critical_paths(CONTENT, chain(-1)) == []


def ring(**keys: Any) -> Scenario:
    job = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 4_000_000, **keys}
    topology = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 4}
    return Scenario.from_mapping(
        {
            "topology": topology,
            "traffic": job,
            "time_limit_ns": "50ms",
            "controllers": [{"name": "fixed-window"}],
        },
        "ring",
    )


@pytest.mark.parametrize(
    ("keys", "least"),
    [({}, 0.94), ({"chunk_bytes": 100_000}, 0.85), ({"iterations": 3, "compute_ns": 5000}, 0.94)],
)
def test_an_idle_ring_needs_hardly_more_than_its_least(
    keys: dict[str, Any], least: float, simulator: Simulator
) -> None:
    """ACKs of the data that a rank receives use 5 % of its link, and two chunks are in flight at a time."""
    scenario = ring(**keys)
    paths = critical_paths(scenario.to_simulator_json(), simulator.play(scenario))
    assert len(paths) == keys.get("iterations", 1)
    for path in paths:
        assert least < path.ideal_share <= 1
        assert sum(part.path_ns for part in path.parts) == pytest.approx(path.duration_ns, rel=1e-9)


def test_two_jobs_on_the_same_cards_need_twice_their_least(simulator: Simulator) -> None:
    job = ring().traffic.model_dump(exclude_unset=True)
    content = {**ring().model_dump(exclude_unset=True), "traffic": {"kind": "mix", "parts": [job, job]}}
    both = Scenario.from_mapping(content, "both")
    paths = critical_paths(both.to_simulator_json(), simulator.play(both))
    assert len({path.job for path in paths}) == 2
    assert all(0.4 < path.ideal_share < 0.6 for path in paths)


def test_a_run_keeps_its_paths(tmp_path: Path, simulator: Simulator) -> None:
    scenario = ring(iterations=2)
    results = simulator.play(scenario)
    (tmp_path / "critical_path.csv").write_text(result_files(scenario, results)["critical_path.csv"])
    paths = critical_paths(scenario.to_simulator_json(), results)
    assert read_critical_paths(tmp_path / "critical_path.csv") == paths
    assert read_critical_paths(tmp_path / "none.csv") == []
    assert slowest(paths) == [max(paths, key=lambda path: path.duration_ns)]


def test_run_prints_what_time_went_into_and_plot_draws_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "job.yaml"
    scenario.write_text(
        "topology: {kind: leaf_spine, leaves: 1, spines: 1, hosts_per_leaf: 4}\ntime_limit_ns: 20ms\n"
        "traffic: {kind: training, parallel: {tp: 2, dp: 2}, scale: 1.0e-4, "
        "model: {layers: 2, parameters: 1.0e+8}}\n"
    )
    assert main(["run", str(scenario), "--controllers", "dcqcn,hpcc", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    table = printed[printed.index("slowest iteration of each job") :]
    assert all(name in table for name in ("tensor", "data", "compute", "busiest link", "dcqcn", "hpcc"))
    picture = tmp_path / "ranks.png"
    assert main(["plot", "timeline", str(tmp_path / "out"), "--out", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(["plot", "timeline", str(tmp_path), "--out", str(picture)]) == 2
    assert "run a scenario with a training job" in capsys.readouterr().err
