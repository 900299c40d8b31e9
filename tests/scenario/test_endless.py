# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows without an end: they send until the time limit and never count as unfinished."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.search.metrics_objective import ended_at_the_limit
from ns3_env.config.files import write_files
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.eval import metrics
from ns3_env.eval.episodes.results import result_files
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList, Joining, LongShort
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import endless
from tests.samples.files import rows

LIMIT = 2_000_000


def scenario(traffic: Any, controller: str = "hpcc", **keys: Any) -> Scenario:
    return Scenario(
        topology=Dumbbell(senders=4, rate_bps=10e9, bottleneck_bps=10e9),
        traffic=traffic,
        controllers=[Controller(name=controller)],
        time_limit_ns=LIMIT,
        **keys,
    )


TWO = FlowList(
    flows=[Flow(src=i, dst=4, size_bytes="endless", start_ns=start) for i, start in ((0, 0), (1, 500_000))]
)


def test_endless_flows_send_until_the_time_limit_and_nothing_is_unfinished(simulator: Simulator) -> None:
    results = simulator.play(scenario(TWO))
    flows, totals = results["flows"], results["totals"]
    assert totals["end_ns"] == LIMIT
    assert totals["unfinished"] == 0
    assert endless(results).all()
    for column, value in (("size_bytes", 0), ("end_ns", -1), ("fct_ns", -1), ("standalone_ns", -1)):
        assert flows[column] == [value, value]
    assert sum(flows["acked_bytes"]) * 8 > 0.85 * 10e9 * LIMIT / 1e9 * 0.91
    assert results["all_active"]["interval_ns"] == [500_000, LIMIT]
    row = metrics.measure(results)
    assert row["unfinished_flows"] == 0
    assert math.isnan(row["fct_slowdown_avg"])
    assert row["goodput"] > 0.75
    assert row["jain_index"] > 0.9
    assert row["unfair_ratio"] < 0.4
    assert row["duration_ns"] == LIMIT
    assert ended_at_the_limit(results)["flows"]["fct_ns"] == [-1, -1]


def test_an_episode_ends_when_all_flows_that_have_an_end_have_reached_it(simulator: Simulator) -> None:
    results = simulator.play(scenario(LongShort(long_bytes="endless", short_bytes=100_000, short_start_ns=9)))
    flows, totals = results["flows"], results["totals"]
    assert flows["endless"] == [1, 0]
    assert totals["end_ns"] == flows["end_ns"][1] < LIMIT
    assert totals["unfinished"] == 0
    assert results["all_active"]["interval_ns"] == [9, totals["end_ns"]]
    row = metrics.measure(results)
    assert row["fct_slowdown_avg"] == flows["fct_ns"][1] / flows["standalone_ns"][1]

    late = simulator.play(
        scenario(LongShort(long_bytes="endless", short_bytes=100_000_000, short_start_ns=9))
    )
    assert (late["totals"]["unfinished"], late["totals"]["end_ns"]) == (1, LIMIT)
    assert metrics.measure(late)["unfinished_flows"] == 1


def test_every_kind_says_it_alike(tmp_path: Path) -> None:
    text = "start_ns, size_bytes, src, dst\n0,endless,0,4\n5,3000,1,4\n"
    (tmp_path / "flows.csv").write_text(text)
    listed = [{"src": 0, "dst": 4, "size_bytes": "endless"}, {"src": 1, "dst": 4, "size_bytes": "3kB"}]
    for traffic, sizes in (
        ({"kind": "csv", "file": "flows.csv"}, [0, 3000]),
        ({"kind": "list", "flows": listed}, [0, 3000]),
        ({"kind": "incast", "flows": 2, "size_bytes": "endless"}, [0, 0]),
        ({"kind": "joining", "sizes_bytes": ["endless", "3kB"]}, [0, 3000]),
        ({"kind": "long_short", "long_bytes": "endless", "short_bytes": 3000}, [0, 3000]),
    ):
        scenario = Scenario.from_mapping({"traffic": traffic}, "s.yaml", tmp_path)
        assert scenario.flows().size_bytes == sizes
        again = Scenario.from_mapping(scenario.without_files().model_dump(mode="json"), "s.yaml")
        assert again.flows() == scenario.flows()
    assert Joining(sizes_bytes=["endless"]).sizes_bytes == ["endless"]


@pytest.mark.parametrize("clock", ["per_flow_rtt", "synchronous"])
@pytest.mark.parametrize("also", [[], [{"src": 2, "dst": 4, "size_bytes": "60kB", "controller": "hpcc"}]])
def test_an_agents_endless_flows_are_truncated_where_the_episode_ends(clock: str, also: list[Any]) -> None:
    flows = [{"src": i, "dst": 4, "size_bytes": "endless", "start_ns": i} for i in (0, 1)]
    content = {
        "topology": {"kind": "dumbbell"},
        "traffic": {"kind": "list", "flows": flows + also},
        "controllers": [{"name": "agent"}, {"name": "hpcc"}],
        "clock": {"name": clock},
        "time_limit_ns": 200_000,
    }
    agent_scenario = Scenario.from_mapping(content, "s.yaml")
    fields = ("qlen", "attained", "remaining")
    with FlowVecEnv(agent_scenario, slots=2, seed=1, fields=fields, reward="proportional") as env:
        env.start()
        ended: list[tuple[bool, bool]] = []
        results: list[Any] = []
        while len(results) < 2:
            batch = env.recv()
            over = batch.terminated | batch.truncated
            ended += zip(batch.terminated[over].tolist(), batch.truncated[over].tolist(), strict=True)
            results += [result for _, result in batch.results]
            assert np.isfinite(batch.observations).all()
            assert np.isfinite(batch.rewards).all()
            env.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])
    assert len(ended) >= 4
    assert set(ended) == {(False, True)}
    for one in results:
        assert one["totals"]["unfinished"] == 0
        if also:
            assert one["totals"]["end_ns"] == one["flows"]["end_ns"][2] < 200_000
        else:
            assert one["totals"]["end_ns"] == 200_000


def test_a_run_folder_says_which_flows_have_no_end(simulator: Simulator, tmp_path: Path) -> None:
    endless_scenario = scenario(
        LongShort(long_bytes="endless", short_bytes=100_000), record=Record(windows=True)
    )
    write_files(tmp_path, result_files(endless_scenario, simulator.play(endless_scenario)))
    long, short = rows(tmp_path / "flows.csv")
    assert (long["endless"], long["finished"], long["fct_ns"], long["size_bytes"]) == ("1", "0", "-1", "0")
    assert (short["endless"], short["finished"]) == ("0", "1")
