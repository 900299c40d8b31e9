# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands and paths on pages exist, and pages of tasks say what is declared."""

import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from ns3_env.eval.benchmark.suite import known_suites
from ns3_env.eval.commands import evaluation, export, train
from ns3_env.eval.papers.experiments import EXPERIMENTS
from ns3_env.programs import scripts
from ns3_env.scenario import script
from tests.paths import ROOT

FILES = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "checkpoints").rglob("*.md")}
TEXTS = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8")
    for path in sorted(FILES - {ROOT / "CHANGELOG.md"})
}
#: Folders of the repository: a path that starts with one is a file or folder of it.
FOLDERS = "agents|checkpoints|cmake|configs|curricula|docs|eval|examples|ns3_env|tests"
#: Not files: environments' ids, placeholders, files of the installed package.
OTHERS = re.compile(r"ns3_env/(\w+-v\d|lib$)|NAME|PAPER")
PROGRAMS = {
    "train.py": train.parser,
    "export.py": export.parser,
    "eval": evaluation.parser,
    "config.py": scripts.parser,
    "script.py": script.parser,
}
#: Programs on pages that come with the system, a package or ns-3, or are a page's own.
FOREIGN = {
    *("make", "cd", "cp", "cmake", "export", "ray", "waf", "git", "g++", "mkdir", "pip", "tensorboard"),
    *("rdma-tests", "ln", "ns3", "incast"),
}


def command_lines(text: str) -> list[str]:
    """Returns the commands that a page shows: lines after ``$`` and commands in backticks."""
    text = text.replace("\\\n", " ")
    inline = re.findall(r"`((?:\.venv/bin/)?(?:python -m eval|python \w+\.py|ns3-env) [^`\n]+)`", text)
    return [*re.findall(r"^\s*\$ (.*)$", text, re.MULTILINE), *inline]


def split(line: str) -> list[str]:
    """Returns the words of a command line without comment, variables in front and a file for its output."""
    words = shlex.split(line, comments=True)
    words = words[: words.index(">")] if ">" in words else words
    while re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    return [Path(words[0]).name if words[0].startswith(".venv/bin/") else words[0], *words[1:]]


def program(words: list[str]) -> tuple[ArgumentParser | None, list[str]]:
    """Returns the parser of the project's program that a command line calls (None: another program)."""
    first, *rest = words
    if first == "ns3-env":
        first, rest = "python", [f"{rest[0]}.py" if rest[0] != "eval" else "eval", *rest[1:]]
    elif re.fullmatch(r"(\w+/bin/)?python[\d.]*", first):
        first, rest = "python", rest[1:] if rest[0] == "-m" else rest
    else:
        assert Path(first).name in FOREIGN, f"{first} is no program that a reader has"
        return None, []
    maker = PROGRAMS.get(rest[0])
    return (maker(), rest[1:]) if maker else (None, [])


COMMANDS = [(page, line) for page, text in TEXTS.items() for line in dict.fromkeys(command_lines(text))]


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda x: str(x)[:60])
def test_a_command_on_a_page_is_one_that_its_program_accepts(page: Path, line: str) -> None:
    parser, arguments = program(split(line))
    if parser is None or re.search(r"\.\.\.|…", line):
        return
    options = parser.parse_args(arguments)
    for key, choices in (("suite", known_suites()), ("name", EXPERIMENTS)):
        name = getattr(options, key, None)
        if name and re.fullmatch(r"[a-z0-9-]+", str(name)):
            assert str(name) in choices, f"{page}: {line}"


def test_a_path_on_a_page_exists() -> None:
    path = re.compile(rf"(?<![\w/.:-])((?:{FOLDERS})/[\w./-]*[\w/])")
    texts = {page: re.sub(r"https?://\S+", "", text) for page, text in TEXTS.items()}
    assert not {
        f"{page}: {name}"
        for page, text in texts.items()
        for name in path.findall(text)
        if not OTHERS.search(name) and not any(ROOT.glob(f"{name.rstrip('/')}*"))
    }


def test_the_pages_of_tasks_say_what_is_declared() -> None:
    checked = subprocess.run(
        [sys.executable, "docs/make/task_pages.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
