# SPDX-License-Identifier: GPL-2.0-or-later
"""README and user's guide: Python examples that run, links that lead somewhere, commands that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from ns3_env.eval.commands import evaluation as eval_main
from ns3_env.eval.commands import export, train
from tests.paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "guide.md"]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
EXAMPLES = sorted(set(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)))
LINKS = [
    (page, target)
    for page in PAGES
    for target in re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda code: str(code).split()[1])
def test_example_runs(example: str) -> None:
    exec(compile(example, "README.md", "exec"), {})


@pytest.mark.parametrize(("page", "target"), LINKS, ids=lambda x: getattr(x, "name", x))
def test_link_leads_somewhere(page: Path, target: str) -> None:
    assert (page.parent / target).exists()


def test_the_readme_is_read_in_minutes() -> None:
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 120


def commands() -> list[list[str]]:
    """What both type, less the ``$``, comments and continuation lines."""
    typed = re.findall(r"^\$ (.*)$", TEXT, re.MULTILINE)
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
