# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurement windows: goodput and utilisation of a load, without its tail."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.eval.benchmark.folder import BenchFolder, read_flows
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.metrics import measure
from ns3_env.scenario import Scenario
from tests.samples.files import dumped, rows
from tests.samples.scenarios import results_of

HOSTS, RATE_BPS = 16, 25e9
SIZES = [[10_000, 0], [50_000, 100]]
#: Bytes on the wire of a packet and its ACK, in addition to the payload: DCTCP has no telemetry.
HEADER, ACK = 48, 60


RATES = {"rate_bps": "25Gbps", "uplink_bps": "100Gbps"}


def experiment(load: float, **others: Any) -> dict[str, Any]:
    """Flows of 10 to 50 kB between 16 hosts; only their own links can be full."""
    poisson = {"kind": "poisson", "sizes": SIZES, "load": load, "duration_ns": "5ms"}
    return {
        "time_limit_ns": "1s",
        "topology": {"kind": "leaf_spine", "leaves": 4, "hosts_per_leaf": 4, **RATES},
        "traffic": poisson,
        "measurement": {"warm_up_ns": "1ms"},
        **others,
    }


def played(data: dict[str, Any]) -> dict[str, Any]:
    return results_of(Scenario.from_mapping(data, "test").under("dctcp"))


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_goodput_and_utilisation_read_as_the_load(load: float) -> None:
    results = played(experiment(load))
    columns = results["flows"]
    starts, sizes = np.array(columns["start_ns"]), np.array(columns["size_bytes"])
    inside = (starts >= 1e6) & (starts < 5e6)
    offered = sizes[inside].sum() * 8e9 / (4e6 * HOSTS * RATE_BPS)
    assert offered == pytest.approx(load, rel=0.05)  # 2,000 flows and more
    values = measure(results)
    assert values["goodput"] == pytest.approx(offered, rel=0.015)
    payload, packets = sizes.sum(), np.ceil(sizes / 1000).sum()
    on_the_wire = (payload + (HEADER + ACK) * packets) / payload
    assert values["link_utilisation"] == pytest.approx(values["goodput"] * on_the_wire, rel=0.005)
    assert list(np.flatnonzero(columns["counted"])) == list(np.flatnonzero(inside))
    slowdowns = np.array(columns["fct_ns"])[inside] / np.array(columns["standalone_ns"])[inside]
    assert values["fct_slowdown_avg"] == pytest.approx(slowdowns.mean())


def with_tail(size_bytes: int) -> dict[str, Any]:
    """A flow that starts when the window ends, and so continues after it."""
    whole = experiment(0.2)
    last = {"kind": "list", "flows": [{"src": 0, "dst": 15, "size_bytes": size_bytes, "start_ns": "5ms"}]}
    return {**whole, "traffic": {"kind": "mix", "parts": [whole["traffic"], last]}}


def test_the_tail_does_not_count() -> None:
    short, long = played(with_tail(1000)), played(with_tail(40_000_000))
    assert long["totals"]["end_ns"] > 3 * short["totals"]["end_ns"]
    assert long["measurement"] == short["measurement"]
    names = ("goodput", "link_utilisation", "queue_avg_bytes", "queue_p99_bytes")
    assert measure(short, names) == measure(long, names)
    assert sum(long["flows"]["counted"]) == len(long["flows"]["src"]) - 1 - sum(
        start < 1e6 for start in long["flows"]["start_ns"]
    )
    whole = [played({**with_tail(size), "measurement": None}) for size in (1000, 40_000_000)]
    assert abs(measure(whole[0])["goodput"] - measure(whole[1])["goodput"]) > 0.05
    assert "counted" not in whole[0]["flows"]
    assert "measurement" not in whole[0]


def test_a_run_that_is_over_before_the_window_ends_has_idle_links_in_it() -> None:
    flow = {"kind": "list", "flows": [{"src": 0, "dst": 1, "size_bytes": 125_000}]}
    dumbbell = {"kind": "dumbbell", "senders": 1, "rate_bps": "1Gbps"}
    base = {"time_limit_ns": "1s", "topology": dumbbell, "traffic": flow}
    results = played({**base, "measurement": {"end_ns": "100ms"}})
    assert results["totals"]["end_ns"] < 2e6
    assert measure(results)["goodput"] == pytest.approx(0.01)  # 1 ms of 100 at the full rate
    early = played({**base, "measurement": {"warm_up_ns": "50ms", "end_ns": "100ms"}})
    values = measure(early)
    assert (values["goodput"], values["link_utilisation"], values["queue_max_bytes"]) == (0, 0, 0)
    assert np.isnan(values["fct_slowdown_avg"])


def test_a_benchmark_has_the_slowdowns_of_the_window_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    load = {"name": "load", "series": False, "scenario": experiment(0.3)}
    suite = dumped(tmp_path / "suite.yaml", {"controllers": ["dctcp"], "scenarios": [load]})
    assert main(["benchmark", str(suite), "--out", str(tmp_path / "out"), "--jobs", "1"]) == 0
    cell = BenchFolder.read(tmp_path / "out").cells[0]
    counts = [row["counted"] == "1" for row in rows(cell.folder / "flows.csv")]
    assert list(~np.isnan(read_flows(cell).slowdowns)) == counts
