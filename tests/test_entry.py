# SPDX-License-Identifier: GPL-2.0-or-later
"""Does one entry lead to every command?"""

from __future__ import annotations

import pytest

from ns3_env.eval.entry import main


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
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert "ns3-env train" in error
    assert "ns3-env eval" in error
