# SPDX-License-Identifier: GPL-2.0-or-later
"""Tuning of controllers: gains, resumed runs, refusals, and play in the simulator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

import train
from ns3_env.agents.configuration.inputs import read_inputs
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.runs.checkpoint import load_checkpoint
from ns3_env.agents.search.attributes import AttributesSubject, find_ends
from ns3_env.agents.search.config import Parameter
from ns3_env.agents.search.plan import plan
from ns3_env.agents.search.trials import compare_seeds, describe_gain
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.scenario import Controller, Scenario
from tests.paths import ROOT
from tests.processes import alive
from tests.samples.tunings import CURRICULUM, written


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return written(tmp_path)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run from beginning to end, with two simulators."""
    folder = tmp_path_factory.mktemp("done")
    options = [*written(folder), "--json", str(folder / "t.json"), "env.simulators=2"]
    assert train.main(options) == 0
    return the_run(folder)


def the_run(folder: Path) -> Path:
    (run,) = (folder / "runs").iterdir()
    return run


def trials(run: Path) -> str:
    return (run / "trials.csv").read_text()


def test_tuning_improves_a_bad_start_and_says_what_it_gained(done: Path) -> None:
    rows = [line.split(",") for line in trials(done).splitlines()]
    assert rows[0] == ["trial", "score", "WeightWindow", "DelayScale", "Horizon"]
    assert [row[0] for row in rows[1:]] == [str(i) for i in range(13)]
    scores = [float(row[1]) for row in rows[1:]]
    assert max(scores) > scores[0] + 0.005
    best = rows[1 + int(np.argmax(scores))]
    found = load_checkpoint(done)
    assert isinstance(found, Controller)
    assert found.name == "mpcc"
    assert found.attributes["DelayScale"] == float(best[3])
    assert found.attributes["Horizon"] == int(float(best[4]))
    assert found.attributes["FloorPackets"] == 0.02
    assert list(done.glob("events.out.tfevents.*"))
    assert "tuning/best" in (done / "progress.csv").read_text()
    numbers = json.loads((done.parent.parent / "t.json").read_text())
    assert list(numbers) == ["mpcc-tuned", "mpcc-untuned", "hpcc", "constant window"]
    gained = numbers["mpcc-tuned"]["gain"]["stages, unseen seeds"]
    assert len(gained["by_seed"]) == 2
    assert numbers["hpcc"]["reward"].keys() == {"two", "four", "unseen"}
    assert (done / "evaluation" / "comparison.png").exists()


@pytest.mark.parametrize(
    ("by_seed", "words"),
    [
        ([0.1, 0.2, 0.3], "a gain with every seed"),
        ([-0.1, 0.2, 0.3], "within the seeds' spread, no gain is shown"),
        ([0.0, 0.0], "within the seeds' spread"),
        ([-0.1, -0.2], "a loss with every seed"),
        ([0.3], "one seed says nothing"),
    ],
)
def test_a_gain_within_the_spread_is_called_that(by_seed: list[float], words: str) -> None:
    before = np.linspace(1.0, 2.0, len(by_seed))
    found = compare_seeds(before + by_seed, before)
    assert found["by_seed"] == pytest.approx(by_seed)
    assert words in describe_gain(found)


def test_a_setting_at_the_end_of_its_range_is_named() -> None:
    parameters = {"A": Parameter(low=0.01, high=100, log=True), "B": Parameter(low=0, high=1)}
    assert find_ends(parameters, {"A": 1.0, "B": 0.5}) == []
    (line,) = find_ends(parameters, {"A": 0.0101, "B": 0.5})
    assert "controller.parameters.A" in line


def test_one_seed_one_result_whatever_the_number_of_simulators(
    done: Path, files: list[str], tmp_path: Path
) -> None:
    np.random.seed(99)  # noqa: NPY002 what others draw from NumPy's global generator changes nothing
    assert train.main([*files, "--no-evaluation", "env.simulators=1"]) == 0
    assert trials(the_run(tmp_path)) == trials(done)


@pytest.mark.parametrize("left", [[1], [1, 2, 3, 5], range(1, 8)], ids=["start", "amid", "later"])
def test_a_run_that_goes_on_is_the_run_that_was_never_stopped(
    done: Path, files: list[str], tmp_path: Path, left: Sequence[int]
) -> None:
    assert train.main([*files, "--no-evaluation", "search.trials=7"]) == 0
    run = the_run(tmp_path)
    whole = trials(run).splitlines(keepends=True)
    # As a crash within a generation leaves it.
    (run / "trials.csv").write_text("".join([whole[0], *(whole[i] for i in left)]))
    assert train.main(["--resume", str(run), "--no-evaluation", "search.trials=13"]) == 0
    assert trials(run) == trials(done)
    layouts = [RunFolder(x).latest_checkpoint()[0] / "layout.json" for x in (run, done)]
    assert layouts[0].read_text() == layouts[1].read_text()
    assert (run / f"progress-{len(left)}.csv").exists()


def test_ctrl_c_leaves_a_folder_that_goes_on(done: Path, files: list[str], tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "train.py"), *files, "--no-evaluation", "search.trials=100000"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list((tmp_path / "runs").glob("*/trials.csv")):
            time.sleep(0.005)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=20)
    finally:
        process.kill()
    run = the_run(tmp_path)
    assert process.returncode == 130
    assert f"--resume {run}" in error
    assert not any(alive(int(child)) for child in children)
    assert train.main(["--resume", str(run), "--no-evaluation", "search.trials=13"]) == 0
    assert trials(run).splitlines()[:14] == trials(done).splitlines()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (
            ["controller.parameters.WeightWindw={low: 1, high: 2}"],
            ["config.yaml", "'WeightWindw'", "WeightWindow"],
        ),
        (["controller.attributes={Horizn: 3}"], ["controller.attributes", "'Horizn'", "'Horizon'"]),
        (["controller.parameters.Horizon={low: 0, high: 8, integer: true}"], ["Horizon: 0 is refused"]),
        (["controller.parameters.Horizon={low: 1, high: 8}"], ["Horizon", "integer: true"]),
        (["controller.parameters.Pacing={low: 0, high: 1}"], ["Pacing", "no number"]),
        (["controller.parameters.DelayScale={low: 2, high: 3}"], ["DelayScale", "default, 1", "start"]),
        (["controller.parameters.DelayScale={low: 2, high: 1}"], ["DelayScale", "below high"]),
        (["controller.attributes={DelayScale: 1}"], ["DelayScale is among the parameters"]),
        (["controller.attributes={Solver: Best}"], ["controller.attributes", "Solver"]),
        (["search.trails=8"], ["search: unknown key 'trails'", "'trials'"]),
        (["env.fields=[rtt]"], ["env: unknown key 'fields'"]),
        (["env.reward={name: stagd}"], ["stagd"]),
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


def test_what_changes_scores_cannot_change_when_a_run_goes_on(
    done: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for override, key in (
        ("env.clock.rtt_fraction=1", "env.clock.rtt_fraction"),
        ("controller.parameters.DelayScale.high=9", "controller.parameters.DelayScale.high"),
        ("seed=2", "seed"),
    ):
        assert train.main(["--resume", str(done), override]) == 2
        assert key in capsys.readouterr().err


def test_flows_into_several_receivers_cannot_be_judged(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends = [{"src": 0, "dst": 1}, {"src": 1, "dst": 0}]
    flows = json.dumps({"kind": "list", "flows": [{**x, "size_bytes": 10, "start_ns": 0} for x in ends]})
    text = CURRICULUM.replace("{kind: incast, size_bytes: 20000000, spread_ns: 10000}", flows)
    (tmp_path / "curriculum.yaml").write_text(text)
    assert train.main(files) == 2
    assert "several receivers" in capsys.readouterr().err


def test_the_checkpoint_plays_in_evaluate_in_a_benchmark_and_in_a_scenario(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert eval_main(["compare", "policy", str(done), "--json", str(tmp_path / "again.json")]) == 0
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(
        (done.parent.parent / "t.json").read_text()
    )
    printed = capsys.readouterr().out
    pasted = yaml.safe_load(printed[printed.index("controllers:\n") :])
    scenario = {
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": {"kind": "incast", "size_bytes": 30000},
    }
    attributes = Scenario.from_mapping({**scenario, **pasted}, "pasted").controllers[0].attributes
    suite = {"controllers": ["mpcc"], "seeds": [1], "scenarios": [{"name": "x", "scenario": scenario}]}
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite))
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out: out)
    options = [str(tmp_path / "suite.yaml"), "--out", str(tmp_path / "bench"), "--jobs", "1"]
    assert eval_main(["benchmark", *options, "--checkpoint", f"tuned={done}"]) == 0
    folder = BenchFolder.read(tmp_path / "bench")
    assert folder.complete
    played = yaml.safe_load((tmp_path / "bench/cells/x/tuned/seed-1/config.yaml").read_text())
    (controller,) = played["scenario"]["controllers"]
    assert controller["name"] == "mpcc"
    assert controller["attributes"].items() >= attributes.items()


def test_what_is_tuned_is_no_agent_that_learns(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert eval_main(["compare", "training", *files[1:4]]) == 2
    assert "tuned" in capsys.readouterr().err


def test_the_seeds_of_a_comparison_have_bounds(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert eval_main(["compare", "training", *files[1:4], "--seeds", "1-1001"]) == 2
    assert "--seeds: 1001 of them: each is a training run; at most 1000" in capsys.readouterr().err


def test_the_shipped_configurations_are_sound() -> None:
    curriculum = ROOT / "curricula/incast.yaml"
    mpcc = plan(read_inputs(ROOT / "configs/mpcc.yaml", curriculum))
    assert isinstance(mpcc.subject, AttributesSubject)
    assert mpcc.subject.parameters["WeightWindow"].start == 10
    # Zheng 2024, sec. 5.2.1: W_Q:W_R = 1:10.
    assert mpcc.subject.before[1].attributes == {"WeightQueue": 1.0, "WeightWindow": 10.0}
    dcqcn = plan(read_inputs(ROOT / "configs/dcqcn.yaml", curriculum))
    assert isinstance(dcqcn.subject, AttributesSubject)
    assert dcqcn.subject.parameters["IncreaseInterval"].start == 300_000
    assert dcqcn.subject.before[1].attributes == {}


DCQCN = """
kind: search
name: any
controller:
  name: dcqcn
  parameters:
    Gain: {low: 0.001, high: 0.5, log: true}
    IncreaseInterval: {low: 1000, high: 500000, log: true, unit: ns}
  compare: {Gain: 0.01}
search: {trials: 5, population: 4, episodes: 1}
evaluation:
  controllers: [hpcc, dcqcn]
  scenario:
    topology: {kind: dumbbell, senders: 3}
    traffic: {kind: incast, size_bytes: 50000, spread_ns: 5000}
    time_limit_ns: 200000
"""


def test_any_controller_is_tuned_times_among_its_attributes(files: list[str], tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(DCQCN)
    assert train.main([*files, "--json", str(tmp_path / "t.json")]) == 0
    numbers = json.loads((tmp_path / "t.json").read_text())
    assert list(numbers) == ["dcqcn-tuned", "dcqcn-untuned", "hpcc", "constant window"]
    found = load_checkpoint(the_run(tmp_path))
    assert isinstance(found, Controller)
    assert found.name == "dcqcn"
    assert numbers["dcqcn-tuned"]["attributes"] == found.attributes
    rows = [line.split(",") for line in trials(the_run(tmp_path)).splitlines()]
    best = max(rows[1:], key=lambda row: float(row[1]))
    assert found.attributes == {"Gain": float(best[2]), "IncreaseInterval": f"{best[3]}ns"}
    # The start is the attribute's default, and scores differ: the simulator has taken what was searched.
    assert [float(x) for x in rows[1][2:]] == [1 / 256, 300_000]
    assert len({row[1] for row in rows[1:]}) > 2


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["controller.name=dcqnc"], ["controller.name", "'dcqnc'", "'dcqcn'"]),
        (["controller.parameters.IncreaseInterval.unit=us"], ["'+300000ns' is no number of the unit 'us'"]),
        (["controller.parameters.IncreaseInterval.unit=''"], ["'+300000ns' is no number", "give the unit"]),
        (["controller.compare={Gian: 1}"], ["controller.compare", "'Gian'", "'Gain'"]),
        (["kind=train"], ["kind", "'search'"]),
        (["--algo", "td3"], ["config.yaml: kind: search", "--algo"]),
    ],
)
def test_a_mistake_in_any_controller_is_named(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], words: list[str]
) -> None:
    (tmp_path / "config.yaml").write_text(DCQCN)
    assert train.main([*files, *extra]) == 2
    error = capsys.readouterr().err
    for word in words:
        assert word in error
    assert not (tmp_path / "runs").exists()
