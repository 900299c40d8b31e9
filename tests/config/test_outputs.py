# SPDX-License-Identifier: GPL-2.0-or-later
"""Output files and folders: foreign ones and links are kept, and no descriptor is left open."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from ns3_env.config.folders import refuse_foreign
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.folder import claim
from ns3_env.eval.commands import train
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.commands.evaluation import parser as eval_parser
from ns3_env.eval.episodes.results import FILES
from ns3_env.eval.plots.curves import draw_curves
from ns3_env.eval.plots.json_file import check_json
from ns3_env.simulator import Simulator
from tests.processes import dummy_sim

SCENARIO = {"traffic": {"kind": "incast", "size_bytes": 20_000}}


def run(folder: Path, *options: str) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s.yaml").write_text(yaml.safe_dump(SCENARIO))
    given = ["run", str(folder / "s.yaml"), "--controllers", "dctcp"]
    return main([*given, "--out", str(folder / "out"), *options])


OTHERS = {
    "text": "my notes",
    "another JSON": json.dumps({"name": "package", "version": "1"}, indent=2) + "\n",
    "a list": "[1, 2]\n",
    "another layout": json.dumps({"hpcc": {"fct_slowdown_avg": 1}}),
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("what", OTHERS)
def test_json_replaces_no_file_of_somebody_else(
    what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine.json"
    target.write_text(OTHERS[what])
    assert run(tmp_path, "--json", str(target)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--json: {target} is there, and no command here has written it" in line
    assert target.read_text() == OTHERS[what]
    assert not (tmp_path / "out").exists()


def test_train_refuses_it_before_it_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.json").write_text("notes")
    assert train.main(["--json", str(tmp_path / "mine.json")]) == 2
    assert "no command here has written it" in capsys.readouterr().err


def test_json_goes_through_no_link_and_into_no_device(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "other.json")
    os.mkfifo(tmp_path / "pipe.json")
    for name, wanted in (("link.json", "symbolic link"), ("pipe.json", "no file"), ("a/b.json", "no folder")):
        with pytest.raises(ScenarioError, match=wanted):
            check_json(tmp_path / name)
    with pytest.raises(ScenarioError, match="no file"):
        check_json(Path("/dev/null"))


def test_what_was_written_here_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "table.json"
    target.touch()
    assert run(tmp_path, "--json", str(target)) == 0
    first = target.read_text()
    assert run(tmp_path, "--json", str(target)) == 0
    assert target.read_text() == first


@pytest.mark.parametrize("where", ["out/dctcp", "out/dctcp/flows.csv"])
def test_links_in_the_folder_of_results_are_refused_first(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / where).parent.mkdir(parents=True)
    (tmp_path / where).symlink_to(tmp_path / "elsewhere")
    assert run(tmp_path) == 2
    assert f"{tmp_path / where} is a symbolic link" in capsys.readouterr().err
    assert (tmp_path / where).is_symlink()


def test_a_folder_of_files_with_such_names_is_no_earlier_run(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    refuse_foreign(folder, FILES, "run's folder")
    (folder / "flows.csv").write_text("mine")
    for config in (None, "- 1", "mine: 1"):
        if config is not None:
            (folder / "config.yaml").write_text(config)
        with pytest.raises(ScenarioError, match=r"no config\.yaml with a scenario"):
            refuse_foreign(folder, FILES, "run's folder")
    (folder / "config.yaml").write_text("scenario: {}")
    refuse_foreign(folder, FILES, "run's folder")


def test_a_benchmark_s_folder_holds_no_links(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("format: 1")
    (tmp_path / "cells").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ScenarioError, match="symbolic link"):
        claim(tmp_path)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("report", "report.html"),
        ("report", "report.md"),
        ("plot comparison", "evaluation/comparison.png"),
        ("compare policy", "evaluation"),
        ("compare policy", "evaluation/hpcc.flows.csv"),
    ],
)
def test_pictures_and_reports_are_written_through_no_link(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "elsewhere")
    assert main([*command.split(), str(tmp_path)]) == 2
    assert f"{link} is a symbolic link" in capsys.readouterr().err
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("name", ["progress.csv", "checkpoints/000000000001/policy.npz"])
def test_a_run_with_links_does_not_go_on(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link = tmp_path / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "elsewhere")
    assert train.main(["--resume", str(tmp_path)]) == 2
    assert f"{link} is a symbolic link" in capsys.readouterr().err


def test_curves_replace_their_own_pictures_only(tmp_path: Path) -> None:
    curves = tmp_path / "curves"
    curves.mkdir()
    (curves / "abc-2to1.csv").write_text("time_ns,rate_bps,window_bytes,queue_bytes\n0,1,1,1\n9,1,1,1\n")
    (picture,) = draw_curves(tmp_path / "out", curves)
    assert draw_curves(tmp_path / "out", curves) == [picture]
    picture.write_bytes(b"mine")
    with pytest.raises(ScenarioError, match="was not drawn here"):
        draw_curves(tmp_path / "out", curves)
    assert picture.read_bytes() == b"mine"


def test_brackets_in_a_folder_s_name_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # a path so short that no line ends within it
    assert run(Path("[abc] [/b]")) == 0
    shown = capsys.readouterr().out.replace("\n", "")
    assert "[abc] [/b]/out/dctcp: " in shown
    assert "[abc] [/b]/s.yaml)" in shown


def open_simulator() -> None:
    simulator = Simulator(executable=dummy_sim())
    simulator.send_reset({"dummy": {}})
    simulator.receive()
    simulator.close()
    KEPT.append(simulator)


def open_vec_env() -> None:
    env = FlowVecEnv({"dummy": {"slots": 3}}, slots=3, num_simulators=2, executable=dummy_sim())
    env.reset()
    env.step(np.zeros((6, 1)))
    env.close()
    KEPT.append(env)


def open_gymnasium_env() -> None:
    env = FlowEnv(flows=2)
    env.reset(seed=1)
    env.step(env.action_space.sample())
    env.close()
    KEPT.append(env)


KEPT: list[object] = []


@pytest.mark.parametrize("cycle", [open_simulator, open_vec_env, open_gymnasium_env])
def test_what_is_closed_has_closed_its_descriptors(cycle: Callable[[], None]) -> None:
    cycle()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        cycle()
    after = len(os.listdir("/proc/self/fd"))  # all are still referred to
    KEPT.clear()
    assert after == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["seed=3", "--config", "x", "train.decisions=5"],
        ["--config", "x", "seed=3", "train.decisions=5"],
        ["seed=3", "train.decisions=5", "--config", "x"],
    ],
)
def test_options_and_overrides_mix(arguments: list[str]) -> None:
    given = train.parser().parse_args(arguments)
    assert given.config == Path("x")
    assert given.overrides == ["seed=3", "train.decisions=5"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--controllers", "hpcc", "--queue-series", str(10**30)],
        ["benchmark", "--controllers", "hpcc", "--jobs", str(10**9)],
        ["run", "--trace", "--controllers", "hpcc", "--queue-series", str(10**30)],
    ],
)
def test_numbers_on_the_command_line_have_bounds(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(yaml.safe_dump(SCENARIO))
    assert main([*arguments, str(file), "--out", str(tmp_path / "out")]) == 2
    assert "must be at most" in capsys.readouterr().err


def test_a_command_s_own_arguments_mix_too() -> None:
    given = eval_parser().parse_args(["compare", "policy", "run", "a=1", "--json", "t.json", "b=2"])
    assert (given.policy, given.overrides) == (Path("run"), ["a=1", "b=2"])
    given = eval_parser().parse_args(["compare", "training", "x", "a=1", "--curriculum", "y", "b=2"])
    assert (given.config, given.curriculum, given.overrides) == (Path("x"), Path("y"), ["a=1", "b=2"])
    given = eval_parser().parse_args(["run", "--controllers", "hpcc", "s.yaml", "--out", "o", "seed=3"])
    assert (given.scenario, given.overrides) == (Path("s.yaml"), ["seed=3"])
    given = eval_parser().parse_args(["benchmark", "quick", "--over", "a=1,2", "b=3", "--seeds", "1-3,7"])
    assert (given.suite, given.over, given.seeds) == (Path("quick"), ["a=1,2", "b=3"], [1, 2, 3, 7])
    given = eval_parser().parse_args(["paper", "--scale", "2"])
    assert given.name is None
    with pytest.raises(SystemExit):
        eval_parser().parse_args(["run", "--controllers", "hpcc", "--out", "o"])
    with pytest.raises(SystemExit):
        eval_parser().parse_args(["speed", "--wrong"])
