# SPDX-License-Identifier: GPL-2.0-or-later
"""The program's one entry to every command, its help and its errors."""

from __future__ import annotations

import pytest

from ns3_env.eval.commands.evaluation import COMMANDS
from ns3_env.eval.commands.main import main


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


def test_there_are_seven_commands() -> None:
    assert list(COMMANDS) == ["run", "benchmark", "compare", "report", "plot", "paper", "speed"]
