# SPDX-License-Identifier: GPL-2.0-or-later
"""``ns3_env.evaluate`` and ``compare``: entries on a scenario, as results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ns3_env
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.metrics import measure
from ns3_env.policies.released import released
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

INCAST: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 4},
    "traffic": {"kind": "incast", "size_bytes": 50_000, "spread_ns": 5000},
    "time_limit_ns": 2_000_000,
}


@pytest.fixture(scope="module")
def results() -> ns3_env.Results:
    slow = {"name": "hpcc-50", "controller": "hpcc", "attributes": {"Eta": 0.5}}
    return ns3_env.evaluate(["hpcc", slow, "constant-window", "oracle"], INCAST, seeds=range(1, 8))


def test_an_evaluation_has_a_row_for_each_entry_and_seed(results: ns3_env.Results) -> None:
    frame = results.wide()
    assert list(frame.entry.unique()) == ["hpcc", "hpcc-50", "constant-window", "oracle"]
    assert list(frame.seed) == [*range(1, 8)] * 4


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
