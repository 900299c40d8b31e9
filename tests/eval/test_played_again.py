# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's config.yaml reproduces the same bytes, whichever keys its scenario has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from examples import chakra_traces
from ns3_env.config.yaml import parse
from ns3_env.eval.episodes.results import result_files
from ns3_env.scenario import Scenario
from ns3_env.scenario.fields import ScenarioFields, SimulatorOptions
from ns3_env.scenario.paths.failures import DrawnOutages, Failures, Outage
from ns3_env.scenario.paths.link_rates import DrawnRates, LinkRate, RateStep
from ns3_env.scenario.record import Measurement, Record
from ns3_env.scenario.reliability import Corruption, Nic, SelectiveRepeat
from ns3_env.scenario.switch import CongestionPoints, Ecn, PfcWatchdog, Switch, TrafficClass
from ns3_env.scenario.tcp_queue import AckNoise, Queue, Tcp
from ns3_env.scenario.traffic.kind import Group
from ns3_env.simulator import Simulator
from tests.paths import DATA
from tests.samples.job_texts import PING_PONG
from tests.samples.published_texts import NCCL_NODE, TWO_TIERS

VARIATIONS: list[dict[str, Any]] = parse((DATA / "variations.yaml").read_text("utf-8"))
#: Sections, and the models of their keys.
SECTIONS = {
    "": [ScenarioFields],
    "switch": [Switch],
    "ecn": [Ecn],
    "pfc_watchdog": [PfcWatchdog],
    "congestion_points": [CongestionPoints],
    "classes": [TrafficClass],
    "groups": [Group],
    "nic": [Nic],
    "recovery": [SelectiveRepeat],
    "corruption": [Corruption],
    "failures": [Failures, Outage, DrawnOutages],
    "link_rates": [LinkRate, RateStep, DrawnRates],
    "record": [Record],
    "measurement": [Measurement],
    "simulator": [SimulatorOptions],
    "tcp": [Tcp, Queue, AckNoise],
}


def test_every_key_of_a_scenario_is_in_the_table() -> None:
    text = json.dumps(VARIATIONS)
    keys = [key for models in SECTIONS.values() for model in models for key in model.model_fields]
    assert [key for key in keys if f'"{key}"' not in text] == []


@pytest.mark.parametrize("varied", VARIATIONS, ids=lambda varied: json.dumps(varied)[:60])
def test_a_written_configuration_plays_to_the_same_bytes(
    varied: dict[str, Any], simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flows.csv").write_text("src,dst,size_bytes,start_ns,controller\n" + 2 * "0,1,5000,7,\n")
    Path("flow.txt").write_text("1\n0 1 3 100 5000 0.000001\n")
    chakra_traces.write("tensor_parallel", "step", ranks=2, layers=1, size_bytes=9000)
    Path("step.goal").write_text(PING_PONG)
    Path("matrix.cm").write_text("Nodes 2\nConnections 1\n0->1 start 9000 size 5000\n")
    Path("tree.topo").write_text(TWO_TIERS)
    Path("node.xml").write_text(NCCL_NODE)
    Path("link.trace").write_text("1\n1\n2\n4\n")
    Path("pairs.csv").write_text("0,5kB,9\n70,0,0\n1,2,0\n")
    Path("jobs.csv").write_text("arrival_s,gpus,duration_s,model\n0,2,9,\n2,2,0.1,a\n1,3,0.05,b\n")
    Path("workload.txt").write_text("MODEL\n1\na -1 5 ALLREDUCE 9000 7 NONE 0 9 NONE 0 1\n")
    content = {
        "controllers": [{"name": "dcqcn"}, {"name": "dctcp"}],
        "traffic": {"kind": "incast", "size_bytes": "100kB"},
        "time_limit_ns": "1ms",
        **varied,
    }
    scenario = Scenario.from_mapping(content, "first")
    first = result_files(scenario, simulator.play(scenario))
    again = Scenario.from_mapping(parse(first["config.yaml"])["scenario"], "again")
    second = result_files(again, simulator.play(again))
    assert {name for name in first if first[name] != second[name]} == {"config.yaml"}
    scenarios = [parse(files["config.yaml"])["scenario"] for files in (first, second)]
    assert scenarios[0] == scenarios[1]
