# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of searches: what they save, resume, refuse, compare and run, for each kind of search."""

import csv
import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml

import train
from export import main as export
from ns3_env.agents.configuration.inputs import read_inputs
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.search.network import NetworkSubject
from ns3_env.agents.search.objectives import Episodes
from ns3_env.agents.search.plan import plan
from ns3_env.agents.search.trials import Trial, TrialLog
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.envs.rollouts import Rollouts
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES
from ns3_env.policies.file import policy_bytes, read_policy
from ns3_env.scenario import Controller, Scenario
from tests.samples.runs import the_run
from tests.samples.searches import written

#: A scenario of a benchmark.
SCENARIO = {
    "topology": {"kind": "dumbbell", "senders": 2},
    "traffic": {"kind": "incast", "size_bytes": 30000},
}


class Done(NamedTuple):
    """The kind of search, and the folder of a complete run with two simulators."""

    what: str
    run: Path

    @property
    def numbers(self) -> dict[str, Any]:
        """Numbers of the comparison after the search."""
        table: dict[str, Any] = json.loads((self.run.parents[1] / "t.json").read_text())
        return table


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Done]:
    """The run of each, once."""
    cache: dict[str, Done] = {}

    def of(what: str) -> Done:
        if what not in cache:
            folder = tmp_path_factory.mktemp(what)
            options = [*written(folder, what), "--json", str(folder / "t.json"), "env.simulators=2"]
            assert train.main(options) == 0
            cache[what] = Done(what, the_run(folder))
        return cache[what]

    return of


@pytest.fixture(params=["weights", "attributes", "tuning"])
def done(request: pytest.FixtureRequest, finished: Callable[[str], Done]) -> Done:
    return finished(request.param)


@pytest.fixture
def tuned(finished: Callable[[str], Done]) -> Done:
    return finished("tuning")


@pytest.fixture(scope="module")
def of_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run over weights, not compared with anything."""
    folder = tmp_path_factory.mktemp("of_weights")
    assert train.main([*written(folder, "weights"), "--no-evaluation", "search.trials=9"]) == 0
    return the_run(folder)


def rows(run: Path, name: str = "trials.csv") -> list[dict[str, str]]:
    with (run / name).open(newline="") as file:
        return list(csv.DictReader(file))


def logs(run: Path) -> dict[str, str]:
    """Tables of trials and, if any, of validations."""
    return {
        path.name: path.read_text() for name in ("trials", "validation") for path in run.glob(f"{name}.csv")
    }


def kept(run: Path) -> list[bytes]:
    """Contents of the files that determine the behaviour of a run's newest checkpoint."""
    folder = RunFolder(run).latest_checkpoint()[0]
    return [path.read_bytes() for path in sorted(folder.glob("*")) if path.name != "state.json"]


def benchmark(checkpoint: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a checkpoint, NAME=PATH, in a benchmark and returns its cell's configuration."""
    suite = {"controllers": ["hpcc"], "seeds": [1], "scenarios": [{"name": "x", "scenario": SCENARIO}]}
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite))
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    options = [str(folder / "suite.yaml"), "--out", str(folder / "bench"), "--jobs", "1"]
    assert eval_main(["benchmark", *options, "--checkpoint", checkpoint]) == 0
    assert BenchFolder.read(folder / "bench").complete
    return (folder / f"bench/cells/x/{checkpoint.partition('=')[0]}/seed-1/config.yaml").read_text()


@pytest.mark.parametrize("what", ["weights", "attributes"])
def test_one_search_keeps_what_validates_best_whatever_is_searched(
    what: str, finished: Callable[[str], Done]
) -> None:
    run = finished(what).run
    assert [row["trial"] for row in rows(run)] == [str(i) for i in range(13)]
    validated = rows(run, "validation.csv")
    assert [row["generation"] for row in validated] == ["0", "2"]
    best = max(validated, key=lambda row: float(row["score"]))
    controller = resolve(run).load()
    assert isinstance(controller, Controller)
    if what == "weights":
        path = RunFolder(run).latest_checkpoint()[0] / "policy.safetensors"
        assert controller == Controller(name="policy", attributes={"File": str(path)})
        assert read_policy(path).sha256 == best["weights_sha256"]
    else:
        assert controller == Controller(name="hpcc", attributes={"Eta": float(best["Eta"])})
    columns = set(rows(run, "progress.csv")[0])
    assert {"validation/score", "validation/fct_slowdown_avg", "validation_stage/workload"} <= columns


def test_tuning_improves_a_bad_start_and_says_what_it_gained(tuned: Done) -> None:
    tried = rows(tuned.run)
    assert list(tried[0]) == ["trial", "score", "WeightWindow", "DelayScale", "Horizon"]
    assert [row["trial"] for row in tried] == [str(i) for i in range(13)]
    best = max(tried, key=lambda row: float(row["score"]))
    assert float(best["score"]) > float(tried[0]["score"]) + 0.005
    controller = resolve(tuned.run).load()
    assert isinstance(controller, Controller)
    assert controller.name == "mpcc"
    assert controller.attributes["DelayScale"] == float(best["DelayScale"])
    assert controller.attributes["Horizon"] == int(float(best["Horizon"]))
    assert controller.attributes["FloorPackets"] == 0.02
    assert "tuning/best" in (tuned.run / "progress.csv").read_text()
    numbers = tuned.numbers
    assert list(numbers) == ["mpcc-tuned", "mpcc-untuned", "hpcc", "constant window"]
    assert len(numbers["mpcc-tuned"]["gain"]["stages, unseen seeds"]["by_seed"]) == 2


def test_what_was_found_is_compared_with_others_by_what_it_was_judged_by(done: Done) -> None:
    labels = {
        "weights": ("tiny-found", "hpcc"),
        "attributes": ("hpcc-tuned", "hpcc-untuned"),
        "tuning": ("mpcc-tuned", "hpcc"),
    }
    stages = {"two", "four"} if done.what == "tuning" else {"incast", "workload"}
    for label in labels[done.what]:
        assert done.numbers[label]["reward"].keys() == {*stages, "unseen"}
    assert (done.run / "evaluation" / "comparison.png").exists()
    assert list(done.run.glob("events.out.tfevents.*"))


@pytest.mark.parametrize("done", ["weights", "tuning"], indirect=True)
def test_one_seed_one_result_whatever_the_number_of_simulators(done: Done, tmp_path: Path) -> None:
    np.random.seed(99)  # noqa: NPY002 other users of NumPy's global generator change nothing
    assert train.main([*written(tmp_path, done.what), "--no-evaluation", "env.simulators=1"]) == 0
    run = the_run(tmp_path)
    assert logs(run) == logs(done.run)
    assert kept(run) == kept(done.run)


@pytest.mark.parametrize(
    ("done", "remaining"),
    [("weights", [1, 2, 3, 5]), ("weights", None), ("tuning", [1])],
    ids=["amid", "all", "start"],
    indirect=["done"],
)
def test_a_run_that_goes_on_is_the_run_that_was_never_stopped(
    done: Done, tmp_path: Path, remaining: Sequence[int] | None
) -> None:
    before = 7 if done.what == "tuning" else 9
    options = [*written(tmp_path, done.what), "--no-evaluation", f"search.trials={before}"]
    assert train.main(options) == 0
    run = the_run(tmp_path)
    # As a crash within a generation leaves it.
    for name, lines in (("trials.csv", remaining or range(1, before + 1)), ("validation.csv", [1])):
        if (run / name).exists():
            whole = (run / name).read_text().splitlines(keepends=True)
            (run / name).write_text("".join([whole[0], *(whole[i] for i in lines)]))
    assert train.main(["--resume", str(run), "--no-evaluation", "search.trials=13"]) == 0
    assert logs(run) == logs(done.run)
    assert kept(run) == kept(done.run)
    assert (run / f"progress-{len(remaining) if remaining else before}.csv").exists()


BUDGET = ["--no-evaluation", "search.trials=null"]


def taken(run: Path) -> int:
    """Decisions in a run's trials and validations."""
    return sum(int(row["decisions"]) for name in logs(run) for row in rows(run, name))


def test_a_budget_of_decisions_counts_those_of_all_episodes_and_goes_on(tmp_path: Path) -> None:
    runs = []
    for name, budget in (("whole", 2000), ("half", 1000)):
        (tmp_path / name).mkdir()
        options = [*BUDGET, "search.validation=null", f"search.decisions={budget}"]
        assert train.main([*written(tmp_path / name, "weights"), *options]) == 0
        runs.append(the_run(tmp_path / name))
    run, half = runs
    last = sum(int(row["decisions"]) for row in rows(run)[-4:])
    assert taken(run) >= 2000 > taken(run) - last, "a generation more"
    newest = RunFolder(run).latest_checkpoint()
    assert (int(newest[0].name), newest[1]["decisions"]) == (taken(run), taken(run))
    assert int(rows(run)[0]["decisions"]) == decisions_of_the_start(run)
    assert 1000 <= taken(half) < taken(run)
    assert train.main(["--resume", str(half), "--no-evaluation", "search.decisions=2000"]) == 0
    assert (logs(half), kept(half)) == (logs(run), kept(run))


def decisions_of_the_start(run: Path) -> int:
    """Decisions that the first policy takes in the first generation's episodes."""
    planned = plan(read_inputs(run / "config.yaml", run / "curriculum.yaml"), metrics=METRICS_OF_EPISODES)
    episodes = Episodes(planned.curriculum, planned.config.search, planned.config.seed).of_generation(0)
    assert isinstance(planned.subject, NetworkSubject)
    start = policy_bytes(planned.subject.policy(planned.subject.space.start))
    with Rollouts(lambda number: episodes[number].scenario, fields=["rtt"], seed=1) as rollouts:
        for _ in episodes:
            rollouts.begin(start)
        return sum(rollouts.next().decisions for _ in episodes)


def test_a_search_that_was_asked_to_stop_goes_on(
    tuned: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add = TrialLog.add

    def interrupted(log: TrialLog, trial: Trial) -> None:
        add(log, trial)
        if trial.number == 4:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(TrialLog, "add", interrupted)
        options = [*written(tmp_path, "tuning"), "--no-evaluation", "search.trials=100000"]
        assert train.main(options) == 130
    run = the_run(tmp_path)
    assert f"--resume {run}" in capsys.readouterr().err
    assert train.main(["--resume", str(run), "--no-evaluation", "search.trials=13"]) == 0
    assert rows(run)[:13] == rows(tuned.run)


def test_the_trials_of_other_weights_are_refused(
    of_weights: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(["--resume", str(of_weights), "network.hidden=[5]"]) == 2
    assert "network.hidden" in capsys.readouterr().err
    text = (of_weights / "trials.csv").read_text()
    (of_weights / "trials.csv").write_text(text.replace(rows(of_weights)[3]["weights_sha256"], "0" * 64))
    try:
        assert train.main(["--resume", str(of_weights), "--no-evaluation"]) == 2
        assert "trial 3 had weights_sha256" in capsys.readouterr().err
    finally:
        (of_weights / "trials.csv").write_text(text)


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("env.clock.rtt_fraction=1", "env.clock.rtt_fraction"),
        ("controller.parameters.DelayScale.high=9", "controller.parameters.DelayScale.high"),
        ("seed=2", "seed"),
    ],
)
def test_what_changes_scores_cannot_change_when_a_run_goes_on(
    tuned: Done, capsys: pytest.CaptureFixture[str], override: str, key: str
) -> None:
    assert train.main(["--resume", str(tuned.run), override]) == 2
    assert key in capsys.readouterr().err


def test_a_tuned_controllers_file_plays_as_its_run_does_wherever_a_policy_does(
    tuned: Done, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert eval_main(["compare", "policy", str(tuned.run), "--json", str(tmp_path / "again.json")]) == 0
    assert json.loads((tmp_path / "again.json").read_text()) == tuned.numbers
    assert f"found: {tuned.run / 'controller.yaml'}\n" in capsys.readouterr().out
    file = tmp_path / "mine.yaml"
    assert export([str(tuned.run), "--out", str(file)]) == 0
    assert file.read_text() == (tuned.run / "controller.yaml").read_text()
    assert resolve(file).controller() == resolve(tuned.run).controller()
    (tmp_path / "own.yaml").write_text(yaml.safe_dump({**SCENARIO, "controllers": [{"file": "mine.yaml"}]}))
    scenario, out = str(tmp_path / "own.yaml"), str(tmp_path / "out")
    assert eval_main(["run", scenario, "--out", str(tmp_path / "alone")]) == 0
    joined = [f"--checkpoint=file={file}", f"--checkpoint=run={tuned.run}"]
    assert eval_main(["run", scenario, "--controllers", "hpcc", *joined, "--out", out]) == 0
    cell = yaml.safe_load(benchmark(f"tuned={file}", tmp_path, monkeypatch))
    (controller,) = cell["scenario"]["controllers"]
    assert controller["attributes"].items() >= resolve(tuned.run).controller().attributes.items()
    folders = [tmp_path / name for name in ("alone/mpcc", "out/file", "out/run", "out/hpcc")]
    folders.append(tmp_path / "bench" / "cells" / "x" / "tuned" / "seed-1")
    times = [[row["fct_ns"] for row in rows(folder, "flows.csv")] for folder in folders]
    assert times[0] == times[1] == times[2] == times[4] != times[3]
    small = ["evaluation.controllers=[]", "evaluation.scenario.traffic.size_bytes=20000"]
    assert eval_main(["compare", "policy", str(file), "--json", str(tmp_path / "t.json"), *small]) == 0
    assert list(json.loads((tmp_path / "t.json").read_text())) == ["tuned", "constant window"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: [\n", "mine.yaml:2:1: not YAML"),
        ("controller: mpcc", "mine.yaml: unknown key 'controller'"),
        ("name: mpc", "there is no controller 'mpc'; the nearest known one is 'mpcc'"),
        ("name: policy", "there is no controller 'policy'"),
        ("{name: mpcc, attributes: {Horizn: 3}}", "mpcc has no attribute 'Horizn'; the nearest known one is"),
        ("{name: mpcc, attributes: {Horizon: -3}}", "cannot set attribute 'Horizon' to '-3'; it takes"),
        ("file: mine.yaml", "mine.yaml: file: this is a controller's file"),
    ],
)
def test_what_is_no_controllers_file_is_refused_in_a_sentence(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(text)
    scenario = {**SCENARIO, "controllers": [{"file": "mine.yaml"}]}
    Path("own.yaml").write_text(yaml.safe_dump(scenario))
    for controller in ("--checkpoint=mine=mine.yaml", "--controllers="):
        assert words in refused(eval_main, "run", "own.yaml", controller, "--out", "out")


def test_a_file_is_of_a_policy_or_of_a_controller(
    of_weights: Path, tuned: Done, tmp_path: Path, refused: Callable[..., str]
) -> None:
    policy = RunFolder(of_weights).latest_checkpoint()[0] / "policy.safetensors"
    with pytest.raises(ScenarioError, match=r"\.yaml; a policy's file is \{name: policy, "):
        Scenario.from_mapping({"controllers": [{"file": str(policy)}]}, "own")
    assert "it goes into native, onnx" in refused(export, of_weights, "--format", "controller")
    assert "no network; it goes into controller" in refused(export, tuned.run, "--format", "onnx")
    (tmp_path / "controller.yaml").write_text("precious: true")
    out = ["--out", tmp_path / "controller.yaml"]
    assert "no export wrote it" in refused(export, tuned.run, *out)


def test_any_controller_is_tuned_times_among_its_attributes(tmp_path: Path) -> None:
    options = [*written(tmp_path, "dcqcn"), "--json", str(tmp_path / "t.json")]
    assert train.main([*options, "evaluation.controllers=[hpcc, dcqcn]"]) == 0
    numbers = json.loads((tmp_path / "t.json").read_text())
    assert list(numbers) == ["dcqcn-tuned", "dcqcn-untuned", "hpcc", "constant window"]
    controller = resolve(the_run(tmp_path)).load()
    assert isinstance(controller, Controller)
    assert controller.name == "dcqcn"
    assert numbers["dcqcn-tuned"]["attributes"] == controller.attributes
    tried = rows(the_run(tmp_path))
    best = max(tried, key=lambda row: float(row["score"]))
    assert controller.attributes == {
        "Gain": float(best["Gain"]),
        "IncreaseInterval": f"{best['IncreaseInterval']}ns",
    }
    # The start is the attribute's default, and scores differ: the simulator uses the searched values.
    assert [float(tried[0][name]) for name in controller.attributes] == [1 / 256, 300_000]
    assert len({row["score"] for row in tried}) > 2
