# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic without an end: open-loop streams, and flows that send until the time limit."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.search.metrics_objective import ended_at_the_limit
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.eval import metrics
from ns3_env.scenario import AGENT, Controller, Ecn, Record, Scenario, Switch
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import ConstantRate, Flow, FlowList, Joining, LongShort, Mix
from ns3_env.simulator import Simulator, list_controllers
from ns3_env.simulator.results import endless
from tests.samples.scenarios import conserved

#: Size of a full packet on the wire.
WIRE = 1048
GBPS = 10**9
#: Senders 0 to 3, receiver 4, switches 5 and 6.
SLOW = Dumbbell(senders=4, rate_bps=GBPS, bottleneck_bps=GBPS)
BOTTLENECK = (5, 6)


def scenario(*streams: ConstantRate, flows: list[Flow] | None = None, **keys: Any) -> Scenario:
    """Streams and flows; by default one flow of a packet, which starts after 3 ms and ends the episode."""
    beside = FlowList(flows=flows or [Flow(src=3, dst=4, size_bytes=1000, start_ns=3_000_000)])
    usual = {"topology": SLOW, "controllers": [Controller(name="hpcc")], "time_limit_ns": 10_000_000}
    return Scenario(**{**usual, "traffic": Mix(parts=[beside, *streams]), **keys})


def stream(src: int, rate_bps: float, start_ns: int = 0, stop_ns: int | None = 2_000_000) -> ConstantRate:
    return ConstantRate(src=src, dst=4, rate_bps=rate_bps, start_ns=start_ns, stop_ns=stop_ns, phase_ns=0)


def test_equal_streams_are_out_of_step_and_each_seed_has_other_losers(simulator: Simulator) -> None:
    shallow = Switch(pfc=False, buffer_bytes=30_000, reserve_bytes=0)
    keys = {"src": 0, "dst": 4, "rate_bps": 0.6e9, "stop_ns": 2_000_000}
    pair = [ConstantRate.model_validate({**keys, "src": src}) for src in (0, 1)]
    starts, losers = set(), set()
    for seed in range(1, 9):
        streams = simulator.play(scenario(*pair, switch=shallow, seed=seed))["streams"]
        assert all(0 <= start <= 8 * 1000 / 0.6 for start in streams["start_ns"])
        starts |= set(streams["start_ns"])
        losers.add(streams["lost_bytes"][0] > streams["lost_bytes"][1])
    assert len(starts) > 14
    assert losers == {False, True}
    published = scenario(*pair, preset="published", switch=shallow)
    assert simulator.play(published)["streams"]["start_ns"] == [0, 0]


@pytest.mark.parametrize("preset", ["default", "published"])
@pytest.mark.parametrize("rate_bps", [1e6, 333e6, 0.5e9, 1e9])
def test_a_stream_alone_delivers_its_rate_within_a_packet(
    simulator: Simulator, rate_bps: float, preset: str
) -> None:
    start, stop = 7_001, 2_003_001
    stream_scenario = scenario(stream(0, rate_bps, start, stop), preset=preset)
    streams = simulator.play(stream_scenario)["streams"]
    # In the reference's whole nanoseconds a packet occupies the link for slightly less than its time.
    assert streams["sent_bytes"] == [1000 * math.ceil((stop - start) * rate_bps / (8e9 * WIRE))]
    assert streams["received_bytes"] == streams["sent_bytes"]
    assert streams["lost_bytes"] == [0]
    assert (streams["start_ns"], streams["stop_ns"], streams["rate_bps"]) == ([start], [stop], [rate_bps])


def test_streams_above_a_links_rate_fill_its_queue_by_the_difference(simulator: Simulator) -> None:
    rates = [0.75e9, 0.65e9]
    stream_scenario = scenario(
        stream(0, rates[0]),
        stream(1, rates[1], start_ns=500_000),
        record=Record(queue_series_ns=100_000),
        switch=Switch(pfc=False),
    )
    results = simulator.play(stream_scenario)
    series = next(x["series"] for x in results["queues"] if (x["node"], x["peer"]) == BOTTLENECK)
    length = dict(zip(series["t_ns"], series["bytes"], strict=True))
    assert max(size for time, size in length.items() if time <= 500_000) <= WIRE
    for begin, end in ((700_000, 1_000_000), (1_000_000, 1_900_000)):
        grown = (sum(rates) - 1e9) * (end - begin) / 8e9
        assert length[end] - length[begin] == pytest.approx(grown, abs=2 * WIRE)
    conserved(results)


@pytest.mark.parametrize("preset", ["default", "published"])
def test_a_stream_keeps_its_rate_beside_a_flow_of_its_host(simulator: Simulator, preset: str) -> None:
    flows = [Flow(src=0, dst=4, size_bytes="endless")]
    results = simulator.play(scenario(stream(0, 0.6e9), flows=flows, preset=preset, time_limit_ns=3_000_000))
    assert results["streams"]["sent_bytes"][0] == pytest.approx(0.6e9 * 2e-3 / 8 * 1000 / WIRE, abs=1000)
    assert results["flows"]["acked_bytes"][0] > 0.9 * 0.4e9 * 2e-3 / 8


def test_a_pause_holds_streams_and_nothing_is_lost(simulator: Simulator) -> None:
    both = (stream(0, 1e9), stream(1, 1e9))
    results = simulator.play(scenario(*both, switch=Switch(buffer_bytes=120_000)))
    sent = sum(results["streams"]["sent_bytes"])
    carried = 1e9 * 2e-3 / 8 * 1000 / WIRE  # two such streams would send twice as much
    assert carried - 1000 <= sent <= carried + 120_000
    assert results["streams"]["lost_bytes"] == [0, 0]
    assert results["totals"]["host_pause_ns"] > 0
    conserved(results)

    shallow = Switch(buffer_bytes=120_000, pfc=False)
    lost = simulator.play(scenario(*both, switch=shallow))
    assert sum(lost["streams"]["sent_bytes"]) == pytest.approx(2 * carried, abs=2000)
    assert sum(lost["streams"]["lost_bytes"]) == pytest.approx(carried, abs=130_000)
    assert sum(lost["flows"]["retransmitted_bytes"]) == 0
    conserved(lost)


def test_no_controller_moves_a_stream_and_no_table_of_flows_has_it(simulator: Simulator) -> None:
    background = (stream(0, 0.7e9, stop_ns=None), stream(1, 0.7e9))
    flows = [Flow(src=i, dst=4, size_bytes=60_000) for i in (0, 2)]
    record = Record(windows=True, events=True, controller_counters=True)
    marking = Switch(ecn=Ecn(kmin_bytes=2e3, kmax_bytes=9e3, at_rate_bps=1e9))
    under_agent = scenario(
        *background, flows=flows, controllers=[Controller(name=AGENT)], record=record, switch=marking
    )
    streams = under_agent.to_simulator_json()["streams"]
    assert under_agent.agent_flow_count == under_agent.flow_count == 2
    for name in ("dcqcn", "mpcc"):
        other = under_agent.under(name)
        assert other.to_simulator_json()["streams"] == streams
        results = simulator.play(other)
        assert len(results["flows"]["src"]) == 2
        assert {row[1] for row in results["windows"]} == {0, 1}
        assert {row[1] for row in results["marks"]} == {0, 1}  # streams are not ECN-capable
        seconds = results["totals"]["end_ns"] / 1e9
        assert results["streams"]["sent_bytes"][0] == pytest.approx(
            0.7e9 * seconds / 8 * 1000 / WIRE, abs=1000
        )


@pytest.mark.parametrize("counter", ["exact", "timeout"])
def test_switches_do_not_count_streams_among_their_flows(counter: Any) -> None:
    counted_scenario = scenario(
        stream(2, 1e8, stop_ns=None),
        flows=[Flow(src=i, dst=4, size_bytes="endless") for i in (0, 1)],
        controllers=[Controller(name=AGENT)],
        switch=Switch(flow_counter=counter),
        time_limit_ns=1_000_000,
    )
    fields = ("qlen", "flow_count")
    with FlowVecEnv(counted_scenario, slots=2, fields=fields, reward="proportional") as env:
        env.start()
        counts: set[float] = set()
        for _ in range(20):
            batch = env.recv()
            counts |= set(batch.observations[batch.due][:, -1].tolist())
            env.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])
    assert max(counts) == 2.0


def test_metrics_are_of_flows_and_utilisation_of_all_that_links_carry(simulator: Simulator) -> None:
    flows = [Flow(src=2, dst=4, size_bytes="endless", start_ns=1_000_000)]
    stream_scenario = scenario(stream(0, 0.5e9, stop_ns=None), flows=flows, time_limit_ns=5_000_000)
    results = simulator.play(stream_scenario)
    row = metrics.measure(
        results, ["goodput", "link_utilisation", "fct_slowdown_avg", "unfair_ratio_lifetime"]
    )
    assert row["goodput"] == pytest.approx(results["flows"]["acked_bytes"][0] * 8 / 4e6, rel=1e-9)
    assert 0.3 < row["goodput"] < 0.5
    assert 0.8 < row["link_utilisation"] <= 1.0  # a fifth of the time the stream had the link to itself
    assert math.isnan(row["fct_slowdown_avg"])
    assert row["unfair_ratio_lifetime"] == 0.0


@pytest.mark.parametrize("controller", [x for x in list_controllers() if x not in (AGENT, "policy")])
def test_endless_flows_share_what_a_stream_leaves_under_every_controller(
    simulator: Simulator, controller: str
) -> None:
    flows = [Flow(src=i, dst=4, size_bytes="endless") for i in (1, 2)]
    stream_scenario = scenario(stream(0, 0.3e9, stop_ns=None), flows=flows, time_limit_ns=4_000_000)
    results = simulator.play(stream_scenario.under(controller))
    assert results["streams"]["lost_bytes"] == [0]
    if controller in ("qcn", "bcn", "smcc"):  # what switches tell of a stream changes nothing of it
        assert results["totals"]["notification_frames"] > 4
        assert results["streams"]["sent_bytes"] == [1000 * math.ceil(4e-3 * 0.3e9 / 8 / WIRE)]
    # Each has a tenth of half the link at least, of 0.7 Gb/s and 4 ms.
    assert all(0.035e6 / 2 < x < 0.5e6 for x in results["flows"]["acked_bytes"])
    assert all(np.isfinite(x) for x in results["totals"].values())
    conserved(results)


LIMIT = 2_000_000


def on_a_dumbbell(traffic: Any, controller: str = "hpcc", **keys: Any) -> Scenario:
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
    results = simulator.play(on_a_dumbbell(TWO))
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
    results = simulator.play(
        on_a_dumbbell(LongShort(long_bytes="endless", short_bytes=100_000, short_start_ns=9))
    )
    flows, totals = results["flows"], results["totals"]
    assert flows["endless"] == [1, 0]
    assert totals["end_ns"] == flows["end_ns"][1] < LIMIT
    assert totals["unfinished"] == 0
    assert results["all_active"]["interval_ns"] == [9, totals["end_ns"]]
    row = metrics.measure(results)
    assert row["fct_slowdown_avg"] == flows["fct_ns"][1] / flows["standalone_ns"][1]

    late = simulator.play(
        on_a_dumbbell(LongShort(long_bytes="endless", short_bytes=100_000_000, short_start_ns=9))
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
