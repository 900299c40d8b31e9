# SPDX-License-Identifier: GPL-2.0-or-later
"""The documentation site: its build without warnings, links to files, and API pages."""

import os
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


def test_the_api_says_what_docstrings_say(site: Path) -> None:
    page = (site / "api/ns3_env.envs.gym_env.html").read_text("utf-8")
    assert "the controlled flow's index in the flow list" in page
    assert ":class:" not in page
    assert 'href="ns3_env.simulator.html' in page  # a role of a docstring
