# SPDX-License-Identifier: GPL-2.0-or-later
"""``ns3-env list``: valid names, with a line each."""

from __future__ import annotations

import pytest

from ns3_env.eval.commands.lists import KINDS
from ns3_env.eval.commands.main import main

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
