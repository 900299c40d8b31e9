# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands and their files: foreign files stay, outputs are complete, descriptors closed."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.search.trials import Trial, TrialLog
from ns3_env.agents.training.layout import write_arrays
from ns3_env.config.command_line import guarded
from ns3_env.config.files import write_atomically, write_file
from ns3_env.config.folders import refuse_foreign, replace_folder, replace_folders
from ns3_env.decision.actions import make_action_map
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.commands import evaluation, export, train
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.commands.evaluation import parser as eval_parser
from ns3_env.eval.commands.options import check_json
from ns3_env.eval.episodes.results import FILES
from ns3_env.eval.output.curves import draw_curves
from tests.paths import ROOT
from tests.samples.files import Refused, dumped

SCENARIO = {"traffic": {"kind": "incast", "size_bytes": 20_000}}


def run(folder: Path, *options: str) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    dumped(folder / "s.yaml", SCENARIO)
    arguments = ["run", str(folder / "s.yaml"), "--controllers", "dctcp"]
    return main([*arguments, "--out", str(folder / "out"), *options])


OTHERS = {
    "text": "my notes",
    "another JSON": json.dumps({"name": "package", "version": "1"}, indent=2) + "\n",
    "a list": "[1, 2]\n",
    "another layout": json.dumps({"hpcc": {"fct_slowdown_avg": 1}}),
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("what", OTHERS)
def test_json_replaces_no_file_of_somebody_else(what: str, tmp_path: Path, refused: Refused) -> None:
    target = tmp_path / "mine.json"
    target.write_text(OTHERS[what])
    command = ["run", dumped(tmp_path / "s.yaml", SCENARIO), "--controllers", "dctcp"]
    for main_of, arguments in ((main, [*command, "--out", tmp_path / "out"]), (train.main, [])):
        message = refused(main_of, *arguments, "--json", target)
        assert f"--json: {target} is there, and no command here has written it" in message
    assert target.read_text() == OTHERS[what]
    assert not (tmp_path / "out").exists()


def test_json_is_written_into_files_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path, fault in (("pipe.json", "no file"), ("a/b.json", "no folder"), ("/dev/null", "no file")):
        with pytest.raises(ScenarioError, match=fault):
            check_json(tmp_path / path)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("run {} --controllers dctcp --out {}/out", "out/dctcp/flows.csv"),
        ("report {}", "report.html"),
        ("plot comparison {}", "evaluation/comparison.png"),
        ("compare policy {}", "evaluation/hpcc.flows.csv"),
        ("train --resume {}", "checkpoints/000000000001/policy.npz"),
    ],
)
def test_nothing_is_written_through_a_link(command: str, name: str, tmp_path: Path, refused: Refused) -> None:
    link = tmp_path / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "elsewhere")
    if command.startswith("run"):
        command = command.replace("{}", str(dumped(tmp_path / "s.yaml", SCENARIO)), 1)
    program, *arguments = command.format(tmp_path).split()
    message = refused(train.main, *arguments) if program == "train" else refused(main, program, *arguments)
    assert f"{link} is a symbolic link" in message
    assert not (tmp_path / "elsewhere").exists()


def test_what_was_written_here_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "table.json"
    target.touch()
    assert run(tmp_path, "--json", str(target)) == 0
    first = target.read_text()
    assert run(tmp_path, "--json", str(target)) == 0
    assert target.read_text() == first


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


TRAINING = {"config": [Path("x")], "overrides": ["seed=3", "train.decisions=5"]}


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("train seed=3 --config x train.decisions=5", TRAINING),
        ("train --config x seed=3 train.decisions=5", TRAINING),
        ("train seed=3 train.decisions=5 --config x", TRAINING),
        ("compare policy run a=1 --json t.json b=2", {"policy": Path("run"), "overrides": ["a=1", "b=2"]}),
        (
            "run --controllers hpcc s.yaml --out o seed=3",
            {"scenario": Path("s.yaml"), "overrides": ["seed=3"]},
        ),
        (
            "benchmark quick --over a=1,2 b=3 --seeds 1-3,7",
            {"suite": Path("quick"), "over": ["a=1,2", "b=3"], "seeds": [1, 2, 3, 7]},
        ),
        ("paper --scale 2", {"name": None}),
    ],
)
def test_options_and_overrides_mix(command: str, read: dict[str, object]) -> None:
    program, *arguments = command.split()
    parsed = (
        train.parser().parse_args(arguments)
        if program == "train"
        else eval_parser().parse_args([program, *arguments])
    )
    assert {name: getattr(parsed, name) for name in read} == read


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """("flushed", path) and ("named", path), in their order; a path is the one it had then."""
    done: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def flushed(number: int) -> None:
        done.append(("flushed", os.readlink(f"/proc/self/fd/{number}")))
        fsync(number)

    def named(partial: Path, final: Path) -> None:
        done.append(("named", str(final)))
        replace(partial, final)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", named)
    return done


def two_files(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "a").write_text("a")
    (folder / "sub" / "b").write_text("b")


def save_checkpoint(folder: Path) -> Path:
    run = RunFolder(folder)
    run.checkpoints.mkdir()
    return run.save_checkpoint(5, two_files, {}, 1)


def finish_cell(folder: Path) -> Path:
    replace_folder(folder / "cell", two_files)
    return folder / "cell"


def finish_cells(folder: Path) -> Path:
    replace_folders({folder / "cell": two_files, folder / "other": two_files})
    return folder / "other"


def test_folders_that_are_complete_are_kept_where_the_next_finds_no_room(
    tmp_path: Path, full_disk: None
) -> None:
    with pytest.raises(OSError, match="large") as raised:
        replace_folders(
            {
                tmp_path / "a": two_files,
                tmp_path / "b": lambda partial: write_file(partial / "flows.csv", MUCH),
                tmp_path / "c": two_files,
            }
        )
    assert raised.value.filename == str(tmp_path / "b" / "flows.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]
    assert (tmp_path / "a" / "sub" / "b").read_text() == "b"


@pytest.mark.parametrize("make", [save_checkpoint, finish_cell, finish_cells])
def test_a_folder_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, calls: list[tuple[str, str]], make: Callable[[Path], Path]
) -> None:
    folder = make(tmp_path)
    at = calls.index(("named", str(folder)))
    before = {Path(path).name for what, path in calls[:at] if what == "flushed"}
    assert {path.name for path in folder.rglob("*")} <= before
    assert any(name.endswith(".partial") for name in before), "the folder's own names"
    assert ("flushed", str(folder.parent)) in calls[at + 1 :]


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    write_atomically(tmp_path / "x", "text")
    partial = str(tmp_path / ".x.partial")
    assert calls == [
        ("flushed", partial), ("named", str(tmp_path / "x")), ("flushed", str(tmp_path)),
    ]  # fmt: skip
    calls.clear()
    TrialLog(tmp_path / "trials.csv", ["A"]).add(Trial(0, {"A": 1}, 0.5))
    assert [what for what, _ in calls] == ["flushed", "named", "flushed"]


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file may have more than 1000 B: like a full disk, with another error."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


MUCH = "x" * 5000
#: The fixture ``ended``.
Ended = Callable[[Callable[[], object]], tuple[int, str]]


def cell(folder: Path) -> None:
    replace_folder(folder / "a", lambda partial: write_file(partial / "flows.csv", MUCH))


@pytest.fixture
def ended(capsys: pytest.CaptureFixture[str]) -> Ended:
    """The exit code of a command with this work, and its standard error."""

    def run_guarded(work: Callable[[], object]) -> tuple[int, str]:
        code = guarded(lambda: 0 if work() is None else 1)
        return code, capsys.readouterr().err

    return run_guarded


@pytest.mark.parametrize(
    ("write", "path"),
    [
        (lambda folder: write_atomically(folder / "a.json", MUCH), "a.json"),
        (lambda folder: write_file(folder / "a.csv", MUCH), "a.csv"),
        (lambda folder: write_arrays(folder / "a.npz", {"x": np.zeros(9000)}), "a.npz"),
        (cell, "a/flows.csv"),
    ],
)
def test_what_cannot_be_written_is_a_line_that_names_it(
    write: Callable[[Path], None], path: str, tmp_path: Path, full_disk: None, ended: Ended
) -> None:
    assert ended(lambda: write(tmp_path)) == (2, f"error: {tmp_path / path}: File too large\n")
    assert not list(tmp_path.glob(".*"))  # no partial file uses space


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_an_output_folder_that_is_a_file_is_said_so(out: str, tmp_path: Path, ended: Ended) -> None:
    (tmp_path / "file").touch()
    expected = f"error: {tmp_path / 'file'} is a file, where a folder is to be: name another\n"
    assert ended(lambda: (tmp_path / out).mkdir(parents=True, exist_ok=True)) == (2, expected)


def hidden() -> None:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        raise RuntimeError("what a library makes of it") from None


@pytest.mark.parametrize("work", [lambda: signal.raise_signal(signal.SIGTERM), hidden])
def test_sigterm_is_ctrl_c_to_every_command(work: Callable[[], None], ended: Ended) -> None:
    """Also if a library converts it into another error."""
    before = signal.getsignal(signal.SIGTERM)
    assert ended(work) == (130, "interrupted\n")
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("main", [evaluation.main, train.main, export.main])
@pytest.mark.parametrize("arguments", [["run", "b\udcfcch/s.yaml"], ["report", "x", "--out", "b\udcfcch"]])
def test_a_path_that_is_not_utf8_is_refused_in_a_line(
    main: Callable[[list[str]], int], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    message = capsys.readouterr().err
    assert end.value.code == 2
    assert message.count("\n") == 1
    assert "b\\udcfcch" in message
    assert "not UTF-8" in message


def test_a_file_whose_name_is_not_utf8_is_a_line_wherever_it_comes_from(ended: Ended) -> None:
    code, message = ended(lambda: len("b\udcfcch".encode()))
    assert code == 2
    assert message.startswith("error: b\\udcfcch: a name that is not UTF-8")


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (["-m", "eval", "speed"], signal.SIGINT),
        (["train.py"], signal.SIGTERM),
        (["export.py"], signal.SIGINT),
        ([str(Path(sys.executable).parent / "ns3-env"), "eval"], signal.SIGTERM),
    ],
)
def test_an_interrupt_while_a_command_imports_is_a_line(
    command: list[str], number: signal.Signals, tmp_path: Path
) -> None:
    (tmp_path / "gymnasium.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, cwd=ROOT, env=environment, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, b"interrupted\n")


def test_an_action_that_went_says_what_to_use_instead() -> None:
    with pytest.raises(ConfigError, match=r"the action 'residual' went in 0\.3: use 'exponential_window'"):
        make_action_map("residual", base="hpcc")
