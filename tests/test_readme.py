# SPDX-License-Identifier: GPL-2.0-or-later
"""Does the README tell the truth? Its Python examples run as they stand, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ns3_env.eval import __main__ as eval_main
from ns3_env.eval import export, train

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda code: str(code).split()[1])
def test_readme_example_runs(example: str) -> None:
    exec(compile(example, "README.md", "exec"), {})


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_readme_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def commands() -> list[list[str]]:
    """What the README types, less the ``$``, its comments and continuation lines."""
    typed = re.findall(r"^\$ (.*)$", README, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in typed]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_each_command_of_the_clone_is_one_of_the_installed_program(command: list[str]) -> None:
    """As ``README.md`` says: train.py is ``ns3-env train``, ``-m eval`` is ``ns3-env eval``."""
    parsers = {"train.py": train.parser, "export.py": export.parser}
    if command[0] != ".venv/bin/python" or "-c" in command:
        return
    program, arguments = (command[2], command[3:]) if command[1] == "-m" else (command[1], command[2:])
    if program == "eval":
        eval_main.parser().parse_args(arguments)
    elif program in parsers:
        parsers[program]().parse_args(arguments)
    else:
        assert program.startswith("examples/"), program
