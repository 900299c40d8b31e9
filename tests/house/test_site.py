# SPDX-License-Identifier: GPL-2.0-or-later
"""The documentation site: its build without warnings, links to files, and API pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

pytest.importorskip("mkdocs", reason="the extra docs is not installed")
COMMAND = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d"]
QUIET = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run([*COMMAND, folder], cwd=ROOT, env=QUIET, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_the_site_builds_without_a_warning(site: Path) -> None:
    assert "<title>" in (site / "index.html").read_text("utf-8")


def test_a_link_to_a_file_of_the_repository_leads_to_its_text(site: Path) -> None:
    assert "repository/examples/ddpg.py.html" in (site / "extending.html").read_text("utf-8")
    assert "DdpgTrainer" in (site / "repository/examples/ddpg.py.html").read_text("utf-8")
    assert (site / "repository/checkpoints/fdcc/learning.png").exists()


def test_each_film_that_a_page_links_to_is_there(site: Path) -> None:
    linked = re.findall(r'href="(films/[^"]+\.html)"', (site / "films.html").read_text())
    assert len(linked) == 4
    for film in linked:
        assert (site / film).read_text().startswith("<!-- film of ns3-env -->")


def test_the_api_says_what_docstrings_say(site: Path) -> None:
    page = (site / "api/ns3_env.envs.gym_env.html").read_text("utf-8")
    assert "the controlled flow's index in the flow list" in page
    assert ":class:" not in page
    assert 'href="ns3_env.simulator.html' in page  # a role of a docstring


def test_the_notebooks_outputs_are_on_its_page(site: Path) -> None:
    page = (site / "notebooks/first-hour.html").read_text("utf-8")
    assert "sends its fair share: 115 decisions" in page
    assert "constant-window" in page
    linked = re.findall(r'src="(first-hour-\d\.png)"', page)
    assert len(linked) == 3
    assert all((site / "notebooks" / picture).read_bytes().startswith(b"\x89PNG") for picture in linked)
    assert (site / "notebooks/first-hour.ipynb").exists()
    theorems = (site / "notebooks/smcc-theorems.html").read_text("utf-8")
    assert "<td>A state slides where both fields lead to the switching line" in theorems
