# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells and flows of a benchmark's folder as pandas data frames and as Parquet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval import load_flows, load_results
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.metrics import METRICS
from tests.samples import report_folder

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


def test_a_row_is_a_cell_with_its_point_and_its_metrics(folder: Path) -> None:
    frame = load_results(folder)
    assert len(frame) == 2 * 3 * 7 - 1
    assert list(frame.columns[:9]) == [
        "suite", "scenario", "scenario_family", "group", "controller", "controller_family", "seed",
        "traffic.size_bytes", "dcqcn.Gain",
    ]  # fmt: skip
    assert set(frame.columns[9:]) == set(METRICS)
    row = frame[(frame["controller"] == "dcqcn-Gain-0.25") & (frame["seed"] == 3)].iloc[-1]
    assert (row["controller_family"], row["dcqcn.Gain"], row["traffic.size_bytes"]) == ("dcqcn", 0.25, 2000)
    assert frame["fct_slowdown_avg"].max() < 700, "a stale cell"
    assert frame["dcqcn.Gain"].isna().equals(frame["controller"] == "hpcc")
    assert frame["jain_index"].dtype == "float64"  # defined by no cell
    by_size = frame.groupby(["traffic.size_bytes", "controller_family"])["fct_slowdown_avg"].mean()
    assert by_size.shape == (4,)
    assert frame.attrs["units"]["queue_p99_bytes"] == "B"


def test_flows_say_whose_they_are(folder: Path) -> None:
    flows = load_flows(folder)
    assert len(flows) == 4 * len(load_results(folder))
    assert flows.groupby(["scenario", "controller", "seed"])["flow"].max().eq(3).all()
    assert flows.loc[~flows["finished"], ["fct_ns", "end_ns", "slowdown"]].isna().all(axis=None)
    done = flows[flows["finished"]]
    assert (done["slowdown"] * done["standalone_ns"]).equals(done["fct_ns"])
    assert (~flows["finished"]).sum() == len(flows) // 4


def test_the_report_writes_the_cells_as_parquet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder)]) == 0
    frame = pandas.read_parquet(folder / "results.parquet")
    pandas.testing.assert_frame_equal(frame, load_results(folder))


def test_what_is_not_installed_is_named_with_its_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match=r"need pandas: pip install 'ns3-env\[report\]'"):
        load_results(folder)


def test_a_report_without_the_extra_is_written_and_says_what_lacks(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide: dict[str, Any] = {"pyarrow": None}
    for name, module in hide.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert main(["report", str(folder)]) == 0
    assert "no results.parquet: results as data need pyarrow" in capsys.readouterr().out
