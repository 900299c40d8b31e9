# SPDX-License-Identifier: GPL-2.0-or-later
"""Films of a benchmark: one for each scenario that records series, of its first seed, all controllers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.suite import Suite, SuiteScenario
from ns3_env.eval.episodes.entry import Entry
from ns3_env.eval.film.page import PAGE, write_films
from ns3_env.eval.film.recording import FILE
from ns3_env.programs.executable import references


def has_film(suite: Suite, case: SuiteScenario, entry: Entry, seed: int) -> bool:
    """Returns whether the cell is sampled: only one seed, as for series; bounds have no packets to show."""
    bound = entry.controller in references(case.scenario.transport)
    return case.series and seed == suite.seeds_of(case)[0] and not bound


def film_page(folder: Path, scenario: str) -> Path:
    """Returns the path of a scenario's film."""
    return folder / "cells" / scenario / PAGE


def write_benchmark_films(folder: BenchFolder) -> list[Path]:
    """cells/SCENARIO/film.html of the complete cells that were sampled. Raises ScenarioError."""
    written = []
    for name, controllers in _sampled(folder).items():
        page = film_page(folder.path, name)
        written += write_films(page.parent, list(controllers.values()))
    return written


def films(folder: BenchFolder) -> dict[str, dict[str, str]]:
    """scenario -> controller -> its film as a link from the folder, for existing films."""
    return {
        name: dict.fromkeys(controllers, film_page(Path(), name).as_posix())
        for name, controllers in _sampled(folder).items()
        if film_page(folder.path, name).is_file()
    }


def _sampled(folder: BenchFolder) -> Mapping[str, Mapping[str, Path]]:
    """scenario -> controller -> the folder of its cell with film.npz, in the suite's order."""
    folders: dict[str, dict[str, Path]] = {}
    first = {case.name: folder.suite.seeds_of(case)[0] for case in folder.suite.scenarios}
    for cell in folder.cells:
        if cell.seed == first[cell.scenario] and (cell.folder / FILE).is_file():
            folders.setdefault(cell.scenario, {})[cell.controller] = cell.folder
    return folders
