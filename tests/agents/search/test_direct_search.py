# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct search for network weights and controller attributes, by metrics on held-back seeds."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import train
from export import main as export
from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.configuration.inputs import read_inputs
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.runs.checkpoint import load_checkpoint
from ns3_env.agents.search.arena import Arena, mean_score
from ns3_env.agents.search.config import MetricsConfig, NetworkConfig, SearchConfig
from ns3_env.agents.search.metrics_objective import MetricsObjective, ended_at_the_limit, log_ratio
from ns3_env.agents.search.network import NetworkSubject
from ns3_env.agents.search.objectives import Episode, Episodes
from ns3_env.agents.search.optimiser import Optimiser
from ns3_env.agents.search.plan import plan
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.training.objective import METRICS_OF_EPISODES
from ns3_env.policies.file import read_policy
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator.pool import LocalPool
from tests.paths import ROOT
from tests.samples.searches import CONFIG, CURRICULUM, WHAT


def written(folder: Path, what: str) -> list[str]:
    (folder / "config.yaml").write_text(CONFIG.replace("WHAT", WHAT[what]))
    (folder / "curriculum.yaml").write_text(CURRICULUM)
    return [
        "--config", str(folder / "config.yaml"),
        "--curriculum", str(folder / "curriculum.yaml"),
        "--runs", str(folder / "runs"),
    ]  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return written(tmp_path, "weights")


@pytest.fixture(scope="module", params=list(WHAT))
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run from beginning to end, with two simulators, of each thing that is searched."""
    folder = tmp_path_factory.mktemp(request.param)
    options = [*written(folder, request.param), "--json", str(folder / "t.json"), "env.simulators=2"]
    assert train.main(options) == 0
    return the_run(folder)


@pytest.fixture(scope="module")
def of_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run over weights, not compared with anything."""
    folder = tmp_path_factory.mktemp("of_weights")
    assert train.main([*written(folder, "weights"), "--no-evaluation", "search.trials=9"]) == 0
    return the_run(folder)


def the_run(folder: Path) -> Path:
    (run,) = (folder / "runs").iterdir()
    return run


def rows(run: Path, name: str) -> list[dict[str, str]]:
    with (run / name).open(newline="") as file:
        return list(csv.DictReader(file))


def kept(run: Path) -> list[bytes]:
    """What decides how a run's newest checkpoint plays."""
    folder = RunFolder(run).latest_checkpoint()[0]
    return [path.read_bytes() for path in sorted(folder.glob("*")) if path.name != "state.json"]


def what_is(run: Path) -> str:
    return "weights" if "network:\n" in (run / "config.yaml").read_text() else "attributes"


def test_one_search_keeps_what_validates_best_whatever_is_searched(done: Path) -> None:
    assert [row["trial"] for row in rows(done, "trials.csv")] == [str(i) for i in range(13)]
    validated = rows(done, "validation.csv")
    assert [row["generation"] for row in validated] == ["0", "2"]
    best = max(validated, key=lambda row: float(row["score"]))
    found = load_checkpoint(done)
    assert isinstance(found, Controller)
    if what_is(done) == "weights":
        path = RunFolder(done).latest_checkpoint()[0] / "policy.safetensors"
        assert found == Controller(name="policy", attributes={"File": str(path)})
        assert read_policy(path).sha256 == best["weights_sha256"]
    else:
        assert found == Controller(name="hpcc", attributes={"Eta": float(best["Eta"])})
    columns = set(rows(done, "progress.csv")[0])
    assert {"validation/score", "validation/fct_slowdown_avg", "validation_stage/workload"} <= columns
    assert list(done.glob("events.out.tfevents.*"))


def test_each_generation_is_asked_of_a_search_that_was_told_the_scores_before(of_weights: Path) -> None:
    inputs = read_inputs(of_weights / "config.yaml", of_weights / "curriculum.yaml")
    subject = plan(inputs, metrics=METRICS_OF_EPISODES).subject
    search = Optimiser(subject.space, seed=1, population=4, step=0.5)
    kept = rows(of_weights, "trials.csv")
    for first in (1, 5):
        tried = kept[first : first + 4]
        assert [subject.describe(x) for x in search.ask()] == [
            {"weights_sha256": row["weights_sha256"]} for row in tried
        ]
        search.tell([float(row["score"]) for row in tried])


def test_what_was_found_is_compared_with_others_by_what_it_was_judged_by(done: Path) -> None:
    numbers = json.loads((done.parents[1] / "t.json").read_text())
    label = "tiny-found" if what_is(done) == "weights" else "hpcc-tuned"
    assert numbers[label]["reward"].keys() == {"incast", "workload", "unseen"}
    assert (done / "evaluation" / "comparison.png").exists()


def test_one_seed_one_result_whatever_the_number_of_simulators(done: Path, tmp_path: Path) -> None:
    options = written(tmp_path, what_is(done))
    np.random.seed(99)  # noqa: NPY002 what others draw from NumPy's global generator changes nothing
    assert train.main([*options, "--no-evaluation", "env.simulators=1"]) == 0
    run = the_run(tmp_path)
    for name in ("trials.csv", "validation.csv"):
        assert (run / name).read_text() == (done / name).read_text()
    assert kept(run) == kept(done)


@pytest.mark.parametrize("left", [1, 6, 9], ids=["start", "amid", "after"])
def test_a_run_that_goes_on_is_the_run_that_was_never_stopped(done: Path, tmp_path: Path, left: int) -> None:
    assert train.main([*written(tmp_path, what_is(done)), "--no-evaluation", "search.trials=9"]) == 0
    run = the_run(tmp_path)
    for name, count in (("trials.csv", left), ("validation.csv", 1)):  # as a crash leaves it
        whole = (run / name).read_text().splitlines(keepends=True)
        (run / name).write_text("".join(whole[: 1 + count]))
    assert train.main(["--resume", str(run), "--no-evaluation", "search.trials=13"]) == 0
    for name in ("trials.csv", "validation.csv"):
        assert (run / name).read_text() == (done / name).read_text()
    assert kept(run) == kept(done)


def test_the_trials_of_other_weights_are_refused(
    of_weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(["--resume", str(of_weights), "network.hidden=[5]"]) == 2
    assert "network.hidden" in capsys.readouterr().err
    text = (of_weights / "trials.csv").read_text()
    digest = rows(of_weights, "trials.csv")[3]["weights_sha256"]
    (of_weights / "trials.csv").write_text(text.replace(digest, "0" * 64))
    try:
        assert train.main(["--resume", str(of_weights), "--no-evaluation"]) == 2
        assert "trial 3 had weights_sha256" in capsys.readouterr().err
    finally:
        (of_weights / "trials.csv").write_text(text)


def test_the_best_plays_inside_the_simulator_in_a_benchmark_and_is_exported(
    of_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = {
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": {"kind": "incast", "size_bytes": 9000},
    }
    suite = {"controllers": ["hpcc"], "seeds": [1], "scenarios": [{"name": "x", "scenario": scenario}]}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out: out)
    options = [str(tmp_path / "suite.yaml"), "--out", str(tmp_path / "bench"), "--jobs", "1"]
    assert eval_main(["benchmark", *options, "--checkpoint", f"found={of_weights}"]) == 0
    assert "name: policy" in (tmp_path / "bench/cells/x/found/seed-1/config.yaml").read_text()
    out = tmp_path / "policy.safetensors"
    assert export([str(of_weights), "--format", "native", "--out", str(out)]) == 0
    assert read_policy(out).spec.training.agent == "search"


def episodes(**validation: int) -> Episodes:
    stages = CurriculumConfig.model_validate(
        {"stages": [{"name": "a", "advance": {"after_episodes": 1}}, {"name": "b"}]}
    )
    search = SearchConfig.model_validate(
        {"episodes": 3, **({"validation": validation} if validation else {})}
    )
    return Episodes(Curriculum(stages, EnvConfig(fields=["rtt"]), 1, "test"), search, seed=7)


def seeds(played: Sequence[Episode]) -> set[int]:
    return {episode.scenario.seed for episode in played}


def test_validation_seeds_are_never_trained_on_and_training_seeds_rotate() -> None:
    drawn = episodes(every=1, episodes=4)
    trained = [seeds(drawn.of_generation(number)) for number in range(50)]
    assert all(len(x) == 6 for x in trained)
    assert len(set.union(*trained)) == 300
    assert all(seed % 2 == 0 for seed in set.union(*trained))
    held = drawn.of_validation()
    assert [episode.stage for episode in held] == ["a"] * 4 + ["b"] * 4
    assert len(seeds(held)) == 8
    assert all(seed % 2 == 1 for seed in seeds(held))


def test_without_validation_all_trials_play_the_same() -> None:
    drawn = episodes()
    assert drawn.of_generation(0) == drawn.of_generation(9)
    assert drawn.of_validation() == []


def objective(**terms: float) -> MetricsObjective:
    config = MetricsConfig(baselines=["hpcc", "dctcp"], terms=terms)
    return MetricsObjective(config, METRICS_OF_EPISODES, "test")


def test_the_score_is_the_weighted_log_ratio_to_the_best_baseline_of_each_metric() -> None:
    judge = objective(fct_slowdown_avg=1.0, goodput=0.5, pfc_pause_fraction=2.0).judge
    hpcc = {"fct_slowdown_avg": 2.0, "goodput": 0.8, "pfc_pause_fraction": 0.0}
    dctcp = {"fct_slowdown_avg": 3.0, "goodput": 0.9, "pfc_pause_fraction": 0.04}
    best = {"fct_slowdown_avg": 2.0, "goodput": 0.9, "pfc_pause_fraction": 0.0}
    assert judge(best, [hpcc, dctcp]).score == 0
    assert judge({**best, "fct_slowdown_avg": 1.0}, [hpcc, dctcp]).score == pytest.approx(math.log(2))
    # ε of a share of time is 0.01: from never to 4 % is a factor of 5.
    expected = -math.log(1.5) - 2 * math.log(5)
    assert judge(dctcp, [hpcc, dctcp]).score == pytest.approx(expected)
    less = judge({**best, "goodput": 0.45}, [hpcc, dctcp])
    assert less.score == pytest.approx(-0.5 * math.log(0.901 / 0.451))
    assert less.terms["goodput"] == pytest.approx(-math.log(0.901 / 0.451))


def test_a_metric_that_only_the_candidate_leaves_undefined_is_no_way_out() -> None:
    metric = METRICS["unfair_ratio"]
    assert log_ratio(math.nan, [math.nan], metric) == log_ratio(1.0, [math.nan], metric) == 0
    assert log_ratio(math.nan, [0.5, math.nan], metric) > 1


def test_every_metric_with_a_direction_can_be_judged_by_even_where_it_is_0() -> None:
    never_0 = {name for name in METRICS if name.startswith("fct_slowdown")} | {"jain_index"}
    for name, metric in METRICS.items():
        if metric.better is not None and name not in never_0:
            assert math.isfinite(log_ratio(0.0, [0.0], metric)), name
            assert log_ratio(0.0, [0.0], metric) == 0


def test_a_flow_that_is_starved_counts_as_ended_with_the_episode() -> None:
    flows = {"fct_ns": [500, -1, -1], "start_ns": [0, 100, 990], "standalone_ns": [100, 50, 100]}
    results = {"flows": flows, "totals": {"end_ns": 1000}}
    assert ended_at_the_limit(results)["flows"]["fct_ns"] == [500, 900, 100]
    assert results["flows"]["fct_ns"] == [500, -1, -1]
    assert objective(fct_slowdown_avg=1.0)._row(results)["fct_slowdown_avg"] == pytest.approx(
        (5 + 18 + 1) / 3
    )


def test_a_candidate_that_is_the_only_baseline_has_the_score_0() -> None:
    config = MetricsConfig(baselines=["hpcc"], terms={"fct_slowdown_avg": 1.0, "queue_avg_bytes": 0.1})
    judge = MetricsObjective(config, METRICS_OF_EPISODES, "test")
    scenario = Scenario.from_mapping(
        {"traffic": {"kind": "incast", "size_bytes": 30000, "spread_ns": 9000}, "seed": 5}, "test"
    )
    with LocalPool(2) as players:
        same, other = (
            judge.begin(players, Episode("x", scenario), Controller(name=name)).result()
            for name in ("hpcc", "dctcp")
        )
    assert same.score == 0
    assert other.score != 0


def test_the_first_policy_grows_and_its_hidden_units_know_no_queue() -> None:
    subject = NetworkSubject(NetworkConfig(fields=["rtt", "qlen"]), "x", 1, "test")
    tensors = subject.policy(subject.space.start).tensors
    assert not tensors["layers.2.weight"].any()
    assert np.tanh(tensors["layers.2.bias"]) == pytest.approx(0.3)
    assert tensors["layers.0.weight"].std() == pytest.approx(1 / math.sqrt(2), rel=0.5)
    # A flow alone sees an RTT of 1 and no queue.
    hidden = tensors["layers.0.weight"] @ [math.log(2), 0.0] + tensors["layers.0.bias"]
    assert hidden == pytest.approx(0, abs=1e-6)
    other = NetworkSubject(NetworkConfig(fields=["rtt", "qlen"]), "x", 2, "test")
    assert (other.space.start != subject.space.start).any()


def test_an_lstm_is_searched_as_well(files: list[str], tmp_path: Path) -> None:
    lstm = ["network.kind=lstm", "network.memory=3", "network.history=4", "search.trials=9"]
    assert train.main([*files, *lstm, "--no-evaluation"]) == 0
    policy = read_policy(RunFolder(the_run(tmp_path)).latest_checkpoint()[0] / "policy.safetensors")
    assert policy.tensors["lstm.weight_hh"].shape == (12, 3)
    assert policy.spec.history == 4


def test_an_mlp_that_reads_several_observations_begins_to_grow_as_well() -> None:
    subject = NetworkSubject(NetworkConfig(fields=["rtt", "qlen"], history=3), "x", 1, "test")
    tensors = subject.policy(subject.space.start).tensors
    assert tensors["layers.0.weight"].shape == (12, 6)
    alone = np.tile([math.log(2), 0.0], 3)
    assert tensors["layers.0.weight"] @ alone + tensors["layers.0.bias"] == pytest.approx(0, abs=1e-6)


def test_a_search_over_265_weights_gets_better_on_flows_that_it_has_not_seen() -> None:
    config = NetworkConfig(
        fields=["rtt", "qlen", "switch_rate", "pacing_rate", "last_action", "flow_count", "goodput"]
    )
    subject = NetworkSubject(config, "x", 1, "test")
    assert len(subject.space.start) == 265
    judge = objective(fct_slowdown_avg=1.0, queue_avg_bytes=0.3)
    scenario = Scenario.from_mapping(
        {
            "topology": {"kind": "dumbbell", "senders": 8},
            "traffic": {"kind": "incast", "size_bytes": 300000, "spread_ns": 20000},
            "time_limit_ns": 400000,
        },
        "test",
    )
    optimiser = Optimiser(subject.space, seed=1, population=12, step=0.5)
    with LocalPool() as players:
        arena = Arena(subject, judge, players)

        def scores(points: Sequence[np.ndarray], seed: int) -> list[float]:
            found: dict[int, float] = {}
            played = [Episode("x", scenario.with_seed(seed + i)) for i in range(2)]
            arena.play(
                dict(enumerate(points)),
                played,
                lambda number, judged: found.__setitem__(number, mean_score(judged)),
                lambda: False,
            )
            return [found[number] for number in range(len(points))]

        (start,) = scores([subject.space.start], 10_000)
        for generation in range(15):
            optimiser.tell(scores(optimiser.ask(), 2 * generation))
        (end,) = scores([optimiser.mean], 10_000)
    assert end > start + 0.1


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["controller={name: hpcc, parameters: {Eta: {low: 0.5, high: 1}}}"], ["'controller'", "both"]),
        (["network=null"], ["'network'", "none"]),
        (["network.fields=[rtt, qeln]"], ["network.fields", "'qeln'", "'qlen'"]),
        (["network.hidden=[0]"], ["network.hidden.0"]),
        (["network.hidden=[1000, 1000]"], ["weights", "100000"]),
        (["network.history=65"], ["network: history", "64"]),
        (["network.kind=lstm"], ["memory"]),
        (["network.action={name: exponential_windw}"], ["network.action", "exponential_windw"]),
        (["network.action={name: exponential_window, alpah: 1}"], ["network.action", "alpah"]),
        (["network.action={name: absolute_window}"], ["network", "absolute_window"]),
        (["objective.terms={fct_slowdwn_avg: 1}"], ["'fct_slowdwn_avg' is no metric", "'fct_slowdown_avg'"]),
        (["objective.terms={duration_ns: 1}"], ["'duration_ns' says nothing of better or worse"]),
        (["objective.terms={goodput: 0}"], ["objective.terms.goodput", "greater than 0"]),
        (["objective.baselines=[hpc]"], ["objective.baselines", "'hpc'", "'hpcc'"]),
        (["objective=null"], ["stage 'workload'", "several receivers", "objective.terms"]),
        (["search.validation.every=9"], ["search", "trials: 13 end before", "at least 37"]),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], words: list[str]
) -> None:
    assert train.main([*files, *extra]) == 2
    error = capsys.readouterr().err
    for word in words:
        assert word in error
    assert error.count("\n") == 1
    assert not (tmp_path / "runs").exists(), "nothing half-written"


def test_a_network_too_large_for_a_search_is_refused() -> None:
    config = NetworkConfig(fields=["rtt"], hidden=[1024, 1024])
    with pytest.raises(ConfigError, match="weights"):
        config.shapes(config.spec("test"), "test")


def test_the_shipped_configuration_is_sound() -> None:
    inputs = read_inputs(ROOT / "configs/es.yaml", ROOT / "curricula/mixed.yaml")
    planned = plan(inputs, metrics=METRICS_OF_EPISODES)
    assert planned.subject.label == "es-found"
    assert {"websearch-80", "hadoop-80", "32-to-1"} <= {x.name for x in planned.curriculum.config.stages}
