# SPDX-License-Identifier: GPL-2.0-or-later
"""The program's one entry to every command, its help and errors, and command lines of version 0.1."""

from __future__ import annotations

from pathlib import Path

import pytest

from ns3_env.eval.commands.evaluation import COMMANDS, parser
from ns3_env.eval.commands.evaluation import main as evaluate
from ns3_env.eval.commands.main import main
from ns3_env.eval.commands.old_spellings import of_today


@pytest.mark.parametrize(
    ("command", "shown"), [("train", "--curriculum"), ("eval", "benchmark"), ("export", "onnx")]
)
def test_each_command_says_what_it_takes(
    command: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert shown in capsys.readouterr().out


def test_what_is_passed_on_is_answered_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 2
    assert "--config and --curriculum are needed" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["tain"]])
def test_what_is_no_command_is_answered_with_those_there_are(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "ns3-env" in capsys.readouterr().err


def test_commands_are_named_as_they_were_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for program, shown in (
        ("/somewhere/bin/ns3-env", "ns3-env eval"),
        ("eval/__main__.py", "python -m eval"),
    ):
        monkeypatch.setattr("sys.argv", [program])
        with pytest.raises(SystemExit):
            main(["eval", "--help"])
        assert f"usage: {shown}" in capsys.readouterr().out


SPELLINGS = [
    ("run --scenario a.yaml --controllers hpcc --out o", "run a.yaml --controllers hpcc --out o"),
    ("run --scenario=a.yaml --controllers=hpcc --out=o", "run a.yaml --controllers hpcc --out o"),
    ("trace a.yaml --controller hpcc --out o", "run a.yaml --out o --trace --controllers hpcc"),
    (
        "trace a.yaml --seed 7 --sample-ns 1us --controller x --checkpoint p --out o",
        "run a.yaml --out o --trace --checkpoint x=p --seeds 7 --queue-series 1us",
    ),
    ("benchmark --suite quick --out o", "benchmark quick --out o"),
    (
        "sweep quick traffic.load=1,2 --seeds 3 --checkpoint a=b hpcc.Eta=1,2 --out o",
        "benchmark quick --checkpoint a=b --out o --seeds 1-3 --over traffic.load=1,2 hpcc.Eta=1,2",
    ),
    ("evaluate runs/x evaluation.episodes=5", "compare policy runs/x evaluation.episodes=5"),
    (
        "gain --config a --curriculum b --seeds 3",
        "compare training a --curriculum b --seeds 1-3",
    ),
    ("ablation a --out o --ray local", "compare variants a --out o --ray local"),
    ("reference", "compare published"),
    ("reference --published nets --random 5", "compare published nets --random 5"),
    ("figure runs/x --format pdf", "plot comparison runs/x --format pdf"),
    ("map courier --out m.png", "plot policy courier --out m.png"),
    ("learning a b --out l.png", "plot learning a b --out l.png"),
    ("curves --out c", "plot curves --out c"),
]


@pytest.mark.parametrize(("old", "today"), SPELLINGS)
def test_an_old_spelling_is_read_as_todays(old: str, today: str) -> None:
    assert of_today(old.split()) == today.split()
    assert of_today(today.split()) is None
    parser().parse_args(today.split())


def test_an_old_spelling_works_and_names_the_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Path] = []
    monkeypatch.setattr("ns3_env.eval.output.curves.draw_curves", lambda out: drawn.append(out) or [])
    assert evaluate(["curves", "--out", str(tmp_path / "c")]) == 0
    assert drawn == [tmp_path / "c"]
    shown = capsys.readouterr().err
    assert "eval curves is now: " in shown
    assert f"eval plot curves --out {tmp_path / 'c'}" in shown


def test_there_are_seven_commands() -> None:
    assert list(COMMANDS) == ["run", "benchmark", "compare", "report", "plot", "paper", "speed"]
