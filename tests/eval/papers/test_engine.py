# SPDX-License-Identifier: GPL-2.0-or-later
"""Common parts of papers' experiments: records of runs, grids, verdicts, entries, repetitions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.episodes.variants import Variants, scaled
from ns3_env.eval.papers import declared
from ns3_env.eval.papers.declared import Declared, Entries, Policies
from ns3_env.eval.papers.experiment import Experiment, Setup, in_pool, seeds
from ns3_env.eval.papers.outcome import Outcome
from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.verdicts import Comparison
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results
from tests.samples.policy_files import mlp_file

Numbers = dict[str, dict[str, dict[str, float | None]]]
PORT = (4, 2)
#: Results of two flows; the queue is sampled each 100 ns, and flow 1's first rate is its host's link's.
RESULTS: Results = {
    "flows": {"src": [0, 1], "end_ns": [700, -1], "fct_ns": [700, -1], "timeouts": [1, 2]},
    "queues": [
        {
            "node": 4,
            "port": 2,
            "rate_bps": 8e9,
            "window_tx_bytes": 100,
            "series": {"t_ns": [0, 100, 200, 300, 400], "bytes": [0, 10, 20, 30, 40]},
        }
    ],
    "windows": [[0, 0, 1.0, 5.0], [0, 1, 1.0, 9.0], [200, 0, 1.0, None], [300, 0, 1.0, 2.0]],
    "measurement": {"interval_ns": [100, 300]},
    "totals": {"end_ns": 1000, "dropped_packets": 3},
    "losses": [],
}
ENTRIES = Entries(controllers={"dcqcn": {"BdpWindow": True}, "hpcc": {}}, released=("rlcc", "fdcc"))


def starts(
    cases: dict[Any, Any],
    setup: Setup,
    present: Policies,
    entries: Entries | None = None,
    repetitions: int = 0,
) -> Any:
    """Starts of the flows, as an experiment with these cases keeps them."""
    declaration = Declared(source="", what_scales="", repetitions=repetitions)
    every = in_pool(lambda results: tuple(results["flows"]["start_ns"]))
    experiment: Experiment[Any] = Experiment(
        "", "", declaration, lambda data: Outcome(), lambda scale: cases, every, entries
    )
    return experiment.runs(setup, present)


def test_a_record_holds_what_the_results_say() -> None:
    run = Run(RESULTS)
    assert run.queue(PORT, 100, 400).tolist() == [10, 20, 30]
    assert run.queue(PORT, 0, 500, each_ns=200).tolist() == [0, 20, 40]
    assert run.used(PORT) == pytest.approx(0.5)  # 100 of 200 B in 200 ns
    times = np.array([0.0, 299.0, 300.0])
    assert run.rates_at(times).tolist() == [[5, 5, 2], [9, 9, 9]]
    assert run.rates_at(times, below_bps=9).tolist() == [[5, 5, 2], [0, 0, 0]]
    assert run.rates_at(np.array([-1.0])).tolist() == [[0], [0]]
    assert (run.lost, run.timeouts, run.end_ns) == (3, 3, 1000)
    assert run.flow_ends_ns.tolist() == [700, 1000]
    assert run.fcts_ms[0] == 7e-4
    assert math.isnan(run.fcts_ms[1])


def test_unfinished_flows_lose_and_what_is_not_defined_is_not_compared() -> None:
    faster = Comparison(("fdcc",), "<", ("hpcc",), "fct_slowdown_avg")
    for unfinished in (0, 1):
        fdcc = {"fct_slowdown_avg": 1.0, "unfinished_flows": unfinished}
        assert faster.tally({"case": {"fdcc": fdcc, "hpcc": {"fct_slowdown_avg": 2.0}}}).holds == (
            not unfinished
        )
    table: Numbers = {"case": {"fdcc": {"x": None}, "hpcc": {"x": 2.0}, "dcqcn": {"x": 1.0}}}
    assert Comparison(("fdcc",), "<=", ("hpcc", "dcqcn"), "x").tally(table).holds is None
    count = Comparison(("hpcc",), "<=", ("fdcc", "dcqcn"), "x").tally(table)
    assert (count.won, count.lost) == (0, [("case", "DCQCN")])


@pytest.mark.parametrize(
    ("entry", "others", "verdict"),
    [
        ("b", ("a", "b"), (True, "in 1 of 1 comparisons")),
        ("a", ("b",), (False, "in 0 of 1 comparisons; not 1 (B)")),
        ("c", ("a",), (None, "nothing to compare")),
    ],
)
def test_a_verdict_counts_the_comparisons_and_names_those_that_are_lost(
    entry: str, others: tuple[str, ...], verdict: tuple[bool | None, str]
) -> None:
    table: Numbers = {"1": {"a": {"x": 3.0}, "b": {"x": 2.0}}, "2": {"a": {"x": 0.0}, "b": {"x": 1.0}}}
    assert Comparison((entry,), "<", others, "x", case="1").tally(table).verdict == verdict


def test_a_scale_is_of_repetitions_and_each_has_a_seed_of_its_own() -> None:
    assert list(seeds(0.5, 8)) == [1, 2, 3, 4]
    assert list(seeds(0.001, 8)) == [1]
    base = Scenario(topology=Dumbbell(senders=2), traffic=Incast(flows=2, size_bytes=2000, spread_ns=9000))
    sizes = base.model_copy(update={"traffic": Incast(flows=3, size_bytes=1000)}).under("hpcc")
    cases = {"all": base.under("hpcc"), "by seed": sizes.with_seed}
    with Simulator() as simulator:
        runs, later = (
            starts(cases, Setup(simulator, 1.0, lambda text: None, {}, seed), {}, repetitions=2)
            for seed in (1, 2)
        )
    assert list(runs) == ["all", "by seed"]
    assert [len(record) for record in runs["all"]] == [2, 2]
    assert len({*runs["all"], *later["all"]}) == 4  # seeds 1 and 2, then 3 and 4
    assert [len(record) for record in runs["by seed"]] == [3, 3]


def test_controllers_have_the_parameters_of_the_published_simulator_or_of_their_papers() -> None:
    base = Scenario(topology=Dumbbell(senders=2), traffic=Incast())
    both = Entries(controllers={"dcqcn": {"BdpWindow": True}, "mpcc": {}}, parameters="paper")
    by_paper = both.each(base, {})["dcqcn"].controllers[0].attributes
    assert by_paper["DecreaseInterval"] == "50us"  # Zhu 2015
    assert by_paper["BdpWindow"] is True
    published = both.each(base, {}, "published")
    assert published["dcqcn"].controllers[0].attributes == {"BdpWindow": True}
    assert both.each(base, {})["mpcc"] == published["mpcc"]  # MPCC's defaults are its thesis's


def test_cases_are_the_combinations_of_axes_at_a_scale() -> None:
    """A whole number remains one, between its bounds; ``without`` leaves a combination out."""
    assert scaled({"a": [{"scaled": 10, "least": 3, "most": 6, "plus": 1}]}, 1.0) == {"a": [7]}
    assert [scaled({"scaled": x, "least": 3}, 0.25) for x in (10, 30, 30.0)] == [3, 8, 7.5]
    variants = Variants(
        scenario={"topology": {"kind": "dumbbell", "senders": 4}, "traffic": {"kind": "incast"}},
        axes={
            "flows": {n: {"traffic.flows": n, "time_limit_ns": {"scaled": 1000}} for n in (2, 3)},
            "under": {name: {"controllers": [name]} for name in ("hpcc", "mpcc")},
        },
        without=[[3, "hpcc"]],
    )
    cases = variants.cases(0.5)
    assert list(cases) == [(2, "hpcc"), (2, "mpcc"), (3, "mpcc")]
    assert {case.time_limit_ns for case in cases.values()} == {500}
    assert [(len(x.flows()), x.controllers[0].name) for x in cases.values()] == list(cases)
    assert variants.case((3, "mpcc"), 0.5) == cases[3, "mpcc"]


def missing(name: str) -> Path:
    raise ConfigError(f"{name!r} is no released policy")


def test_a_policy_that_is_not_there_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declared, "released", missing)
    base = Scenario(topology=Dumbbell(senders=2), traffic=Incast(flows=2, size_bytes=2000))
    present, notes = ENTRIES.present({})
    assert tuple(ENTRIES.each(base, present)) == tuple(ENTRIES.controllers)
    assert notes == tuple(
        f"{name} did not play: no policy of that name is released." for name in ("RLCC", "FDCC")
    )
    file = mlp_file(tmp_path / "policy.safetensors")
    monkeypatch.setattr(declared, "released", lambda name: file)
    assert ENTRIES.present({}) == ({"rlcc": file, "fdcc": file}, ())
    present, notes = ENTRIES.present({"mine": file, "fdcc": file})
    assert notes == tuple(f"{name} is a policy given for this run." for name in ("MINE", "FDCC"))
    assert tuple(ENTRIES.each(base, present)) == (*ENTRIES.names, "mine")


def test_every_entry_has_the_same_flows(tmp_path: Path) -> None:
    cases = {
        n: Scenario(topology=Dumbbell(senders=4), traffic=Incast(flows=n, size_bytes=9000, spread_ns=9000))
        for n in (2, 8)
    }
    messages: list[str] = []
    with Simulator() as simulator:
        policies = {"fdcc": mlp_file(tmp_path / "policy.safetensors")}
        runs = starts(cases, Setup(simulator, 1.0, messages.append, policies), policies, ENTRIES)
    assert messages[-1] == "6 of 6 episodes played"
    assert [tuple(by_name) for by_name in runs.values()] == [("dcqcn", "hpcc", "fdcc")] * 2
    assert [(n, len(set(by_name.values()))) for n, by_name in runs.items()] == [(2, 1), (8, 1)]
    assert {len(starts) for starts in runs[8].values()} == {8}
