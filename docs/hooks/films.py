# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays the scenarios of docs/films and puts their films beside them on the site: some seconds, once."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from ns3_env.eval.commands.evaluation import main

FOLDER = Path(__file__).parents[1] / "films"
#: Who plays each scenario.
CONTROLLERS = {
    "8-to-1": "hpcc,mpcc,fdcc",
    "burst": "dcqcn,hpcc,mpcc",
    "changing-link": "cubic,bbr,ppo-variable",
    "failed-link": "dcqcn,hpcc",
}


@cache
def film(name: str) -> str:
    """The film's text."""
    with tempfile.TemporaryDirectory() as out:
        scenario = str(FOLDER / f"{name}.yaml")
        if main(["run", scenario, "--controllers", CONTROLLERS[name], "--out", out, "--watch"]) != 0:
            raise PluginError(f"{scenario}: could not be played")
        return (Path(out) / "film.html").read_text(encoding="utf-8")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site's files with the films."""
    for name in CONTROLLERS:
        files.append(File.generated(config, f"films/{name}.html", content=film(name)))
    return files
