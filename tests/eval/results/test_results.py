# SPDX-License-Identifier: GPL-2.0-or-later
"""Results: evaluations from Python, and folders read as frames."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import ns3_env
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval import load_flows, load_results
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.metrics import METRICS, measure
from ns3_env.eval.output.results import Row
from ns3_env.policies.released import released
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.samples import report_folder

INCAST: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 4},
    "traffic": {"kind": "incast", "size_bytes": 50_000, "spread_ns": 5000},
    "time_limit_ns": 2_000_000,
}


@pytest.fixture(scope="module")
def results() -> ns3_env.Results:
    slow = {"name": "hpcc-50", "controller": "hpcc", "attributes": {"Eta": 0.5}}
    return ns3_env.evaluate(["hpcc", slow, "constant-window", "oracle"], INCAST, seeds=range(1, 8))


def test_an_evaluation_measures_what_the_simulator_plays(results: ns3_env.Results) -> None:
    scenario = Scenario.from_mapping(INCAST, "test").with_seed(3).under("hpcc")
    expected = measure(Simulator().play(scenario))
    (row,) = results.select(entry="hpcc", seed=3).wide().to_dict("records")
    assert row["fct_slowdown_avg"] == expected["fct_slowdown_avg"]
    assert row["goodput"] == expected["goodput"]


def test_policies_are_named_by_path_or_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.safetensors"
    file.write_bytes(released("fdcc").read_bytes())
    both = ns3_env.evaluate(["fdcc", file], INCAST, seeds=[1])
    assert list(both.wide().entry) == ["fdcc", "mine"]
    assert both.wide().fct_slowdown_avg.nunique() == 1


def test_a_comparison_ranks_all_but_bounds_and_says_when_seeds_are_lacking(results: ns3_env.Results) -> None:
    table = ns3_env.compare(results).set_index("entry")
    best = table["mean"].drop("oracle").idxmin()
    assert table.verdict[best] == "best mean"
    assert table.verdict["oracle"] == "not ranked"
    assert table.verdict["hpcc-50"] == "worse"
    assert table.ratio["hpcc-50"] > 1
    few = ns3_env.compare(results.select(seed=range(1, 4))).set_index("entry")
    assert few.verdict["hpcc-50"] == "3 seeds, 7 needed"


@pytest.mark.parametrize(
    ("entries", "scenario", "error", "sentence"),
    [
        ("hpc", INCAST, ScenarioError, "unknown controller 'hpc'"),
        (["hpcc", "hpcc"], INCAST, ConfigError, "entry 'hpcc' is there twice"),
        ([], INCAST, ConfigError, "needs one entry"),
        ({"name": "a"}, INCAST, ConfigError, "give one of controller, policy and checkpoint"),
        ("hpcc", "dumbbell_100g_4to", ScenarioError, "nearest known one is 'dumbbell_100g_4to1'"),
        ("hpcc", "nowhere/a.yaml", ScenarioError, "nowhere/a.yaml: there is no such file"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_played(
    entries: Any, scenario: Any, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        ns3_env.evaluate(entries, scenario, seeds=[1])


def test_an_unknown_metric_is_told_the_nearest(results: ns3_env.Results) -> None:
    with pytest.raises(ConfigError, match="no metric 'goodputs'; the nearest known one is 'goodput'"):
        ns3_env.compare(results, "goodputs")


pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

NETWORK = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sizes under two controllers, one of them with two gains; one cell stale."""
    sizes = {"traffic.size_bytes": [1000, 2000]}
    suite = report_folder.suite(
        controllers=["hpcc", {"name": "dcqcn", "controller": "dcqcn", "grid": {"Gain": [0.125, 0.25]}}],
        scenarios_of=[{"name": "incast", "group": "Incast", "scenario": NETWORK, "grid": sizes}],
    )
    path = report_folder.write(tmp_path_factory.mktemp("bench") / "run", suite)
    report_folder.make_stale(path, "incast-size_bytes-1000", "hpcc", 2, fct_slowdown_avg=777.0)
    return path


def test_a_row_is_a_number_of_a_cell_with_its_point(folder: Path) -> None:
    results = load_results(folder)
    assert list(results.table.columns) == [
        *Row._fields, "suite", "group", "scenario_family", "entry_family", "traffic.size_bytes", "dcqcn.Gain",
    ]  # fmt: skip
    assert results.metrics == list(METRICS)
    assert set(results.select(metric="queue_p99_bytes").table["unit"]) == {"B"}
    frame = results.wide()
    assert len(frame) == 2 * 3 * 7 - 1
    row = frame[(frame["entry"] == "dcqcn-Gain-0.25") & (frame["seed"] == 3)].iloc[-1]
    assert (row["entry_family"], row["dcqcn.Gain"], row["traffic.size_bytes"]) == ("dcqcn", 0.25, 2000)
    assert frame["fct_slowdown_avg"].max() < 700, "a stale cell"
    assert frame["dcqcn.Gain"].isna().equals(frame["entry"] == "hpcc")
    assert frame["jain_index"].dtype == "float64"  # defined by no cell
    by_size = frame.groupby(["traffic.size_bytes", "entry_family"])["fct_slowdown_avg"].mean()
    assert by_size.shape == (4,)
    assert frame.attrs["units"]["queue_p99_bytes"] == "B"


def test_code_for_the_frame_of_0_2_works_with_a_warning(folder: Path) -> None:
    results = load_results(folder)
    with pytest.warns(DeprecationWarning, match=r"\.wide\(\)"):
        means = results.groupby("controller")["goodput"].mean()
    assert means["hpcc"] == pytest.approx(0.9)
    with pytest.warns(DeprecationWarning, match="this goes in 0.4"):
        assert set(results["controller_family"]) == {"hpcc", "dcqcn"}


def test_parts_of_episodes_are_results_too(folder: Path) -> None:
    flows = load_results(folder, of="flow").select(entry="hpcc", metric=["slowdown", "size_bytes"])
    assert set(flows.table["of"]) == {f"flow {i}" for i in range(4)}
    assert set(flows.select(metric="size_bytes").table["unit"]) == {"B"}
    assert len(load_results(folder, of="job").table) == 0
    with pytest.raises(ConfigError, match="nearest known one is 'flow'"):
        load_results(folder, of="flows")


def test_a_folder_without_results_says_what_would_be_right(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no results here: expected the folder of eval run"):
        load_results(tmp_path)


def test_flows_say_whose_they_are(folder: Path) -> None:
    flows = load_flows(folder)
    assert len(flows) == 4 * len(load_results(folder).wide())
    assert flows.groupby(["scenario", "controller", "seed"])["flow"].max().eq(3).all()
    assert flows.loc[~flows["finished"], ["fct_ns", "end_ns", "slowdown"]].isna().all(axis=None)
    done = flows[flows["finished"]]
    assert (done["slowdown"] * done["standalone_ns"]).equals(done["fct_ns"])
    assert (~flows["finished"]).sum() == len(flows) // 4


def test_the_report_writes_the_cells_as_parquet_and_without_the_extra_says_what_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = report_folder.write(tmp_path / "run", report_folder.suite(scenarios=1, seeds=[1]))
    assert main(["report", str(one)]) == 0
    table = pandas.read_parquet(one / "results.parquet")
    pandas.testing.assert_frame_equal(table, load_results(one).table)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["report", str(one)]) == 0
    assert "no results.parquet: this needs pyarrow" in capsys.readouterr().out
