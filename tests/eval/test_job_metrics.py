# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of training jobs: of made-up results by hand, and of an idle ring by its closed form."""

from __future__ import annotations

import pytest

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
