# SPDX-License-Identifier: GPL-2.0-or-later
"""The command ``ns3-env``: its names, lists of what there is, and what traces hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples import chakra_traces
from ns3_env.config.command_line import interpreter
from ns3_env.eval.commands.lists import KINDS
from ns3_env.eval.commands.main import main
from tests.samples.published_texts import NCCL_NODE


def test_what_is_passed_on_is_answered_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train"]) == 2
    assert "--config and --curriculum are needed" in capsys.readouterr().err


def test_commands_are_named_as_they_were_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for program, usage in (
        ("/somewhere/bin/ns3-env", "ns3-env eval"),
        ("eval/__main__.py", f"{interpreter('python')} -m eval"),
    ):
        monkeypatch.setattr("sys.argv", [program])
        with pytest.raises(SystemExit):
            main(["eval", "--help"])
        assert f"usage: {usage}" in capsys.readouterr().out


def test_traces_are_told_of_by_kinds_of_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    chakra_traces.write("mixture_of_experts", tmp_path / "step", ranks=4)
    assert main(["eval", "trace-info", str(tmp_path / "step.0.et")]) == 0
    output = capsys.readouterr().out
    assert "4 ranks" in output
    rows = {words[0]: words[1:4] for line in output.splitlines() if len(words := line.split()) > 3}
    assert rows["all-to-all"] == ["1", "4", "32"]
    assert rows["all-reduce"] == ["1", "4", "4"]
    goal = tmp_path / "a[" / "b].goal"  # no markup
    goal.parent.mkdir()
    goal.write_text("num_ranks 2\nrank 0 {\na: send 500b to 1\n}\nrank 1 {\na: recv 500b from 0\n}\n")
    assert main(["eval", "trace-info", str(goal)]) == 0
    assert f"{goal}: 2 ranks, 2 nodes, 1 flows, 500 B sent" in capsys.readouterr().out
    workload = tmp_path / "w.txt"
    workload.write_text("DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 6000 1\n")
    assert main(["eval", "trace-info", str(workload), "--npus", "3"]) == 0
    assert "3 ranks, 9 nodes, 12 flows, 24,000 B sent" in capsys.readouterr().out
    log = tmp_path / "log.csv"
    log.write_text("submit_time,gpu_num,duration\n0,8,60\n5,0,9\n30,8,3600\n36,1,7\n")
    assert main(["eval", "trace-info", str(log)]) == 0
    output = capsys.readouterr().out
    assert "3 jobs, which arrive within 36 s; 1 of 4 rows had no GPU or no duration" in output
    assert ["8", "2", "1,830", "s", "3,600", "s", "8.1"] in [line.split() for line in output.splitlines()]
    log.write_text("9,1kB\n20,0\n")
    assert main(["eval", "trace-info", str(log)]) == 0
    assert "2 ranks, 1,020 B sent, 20 to 1,000 B by a rank, at most 1,000 B" in capsys.readouterr().out
    node = tmp_path / "node.xml"
    node.write_text(NCCL_NODE)
    assert main(["eval", "trace-info", str(node)]) == 0
    output = capsys.readouterr().out
    assert "8 GPUs, each with NVLinks of 2966.4 Gb/s together; 8 network cards of 400 Gb/s" in output
    assert "gpus_per_node: 8, scale_up: {rate_bps: 2966.4Gbps}, scale_out: {rate_bps: 400Gbps}}" in output
    assert main(["eval", "trace-info", str(tmp_path / "none")]) == 2
    assert "none.0.et: No such file" in capsys.readouterr().err


#: A name of each kind.
KNOWN = {
    "controllers": "dcqcn",
    "policies": "fdcc",
    "suites": "quick",
    "scenarios": "dumbbell_100g_4to1",
    "curricula": "incast",
    "tasks": "Incast",
    "fields": "qlen",
    "rewards": "proportional",
    "actions": "multiplicative_window",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_has_a_line_for_every_name(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = KINDS[kind]()
    assert KNOWN[kind] in lines
    assert all(lines.values())
    assert main(["list", kind]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in lines)
    assert max(map(len, printed.splitlines())) <= 80


def test_a_controllers_attributes_have_defaults_and_meanings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "controllers", "hpcc"]) == 0
    assert "Eta" in (printed := capsys.readouterr().out)
    assert "0.95" in printed


def test_an_unknown_controller_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "controllers", "hpc"]) == 2
    assert "unknown controller 'hpc'; the nearest known one is 'hpcc'" in capsys.readouterr().err
