# SPDX-License-Identifier: GPL-2.0-or-later
"""README and user's guide: links, numbers; the names that ``ns3_env`` gives by itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ns3_env
from ns3_env.eval.benchmark.suite import Suite
from tests.paths import ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "getting-started.md"]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
LINKS = [
    (page, target)
    for page in PAGES
    for target in re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "target"), LINKS, ids=lambda x: getattr(x, "name", x))
def test_link_leads_somewhere(page: Path, target: str) -> None:
    assert (page.parent / target).exists()


def test_the_readme_is_read_in_minutes() -> None:
    assert len(PAGES[0].read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_says_how_many_runs_the_quick_suite_has(page: Path) -> None:
    match = re.search(r"benchmark quick --out runs/quick +# ([\d,]+) runs", page.read_text(encoding="utf-8"))
    assert match is not None
    assert int(match[1].replace(",", "")) == len(list(Suite.load("quick").cells()))


def test_scores_and_ranges_are_those_of_the_leaderboards_page() -> None:
    board = (
        (ROOT / "docs/leaderboard.md").read_text(encoding="utf-8").partition("## RDMA\n")[2].split("## ")[0]
    )
    lines = [line.strip("| ").split(" | ") for line in board.splitlines() if line.startswith("| ")]
    scores = {line[0].strip("*"): (line[-3].split()[0], line[-1]) for line in lines[1:]}
    names, values = re.findall(
        r"^\| (`dcqcn` .*|0 .*) \|$", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE
    )
    for name, value in zip(names.split(" | "), values.split(" | "), strict=True):
        assert scores[name.strip("*`")][0] == value
    assert f"(ten seeds score {scores['ppo'][1]})" in TEXT


@pytest.mark.parametrize("name", [*ns3_env.__all__, "__version__"])
def test_public_names_are_there(name: str) -> None:
    assert getattr(ns3_env, name) is not None


def test_names_are_imported_when_they_are_asked_for() -> None:
    script = "import ns3_env, sys; assert not {'torch', 'stable_baselines3', 'pettingzoo'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ns3_env' has no attribute 'FlowEnw'"):
        ns3_env.FlowEnw  # noqa: B018


def test_a_released_policy_is_loaded_by_its_name() -> None:
    policy = ns3_env.load_policy("dispatcher")
    assert policy.fields == policy.spec.fields
