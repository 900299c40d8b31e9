# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of a report, several at once: standings, losses, figures for its page or as files."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import Standing, standings
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.metrics import load_metrics, own_metrics
from ns3_env.eval.output.plots import (
    FOLDER,
    Style,
    data_uri,
    for_paper,
    labelled,
    picture,
    save,
    styles,
)
from ns3_env.eval.report import curves, figures
from ns3_env.eval.report.facts import LostRow, lost_rows
from ns3_env.programs.executable import references
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool


@dataclass(frozen=True)
class Picture:
    """A figure for the page: its data URI, its subject, how to read it."""

    source: str
    title: str
    reading: str
    small: bool = False


def looks_of(suite: Suite) -> dict[str, Style]:
    """Each controller's style; those of one grid have its colour, lighter and lighter; bounds are grey."""
    bounds = frozenset().union(*(references(case.scenario.transport) for case in suite.scenarios))
    return styles(
        [x.name for x in suite.controllers],
        {x.name: x.of for x in suite.controllers},
        [x.name for x in suite.controllers if x.controller in bounds],
    )


def title(sweep: curves.Sweep) -> str:
    """Names the figures over an axis for the page."""
    return sweep.axis if sweep.axis.startswith(f"{sweep.of}.") else f"{sweep.of} over {sweep.axis}"


def of_sweeps(folder: BenchFolder, summary: Sequence[Standing]) -> dict[str, Sequence[Picture]]:
    """Axis of a grid -> its pictures."""
    with labelled(folder.suite.labels):
        return {title(sweep): _pictures(panels) for sweep, panels in _sweep_panels(folder, summary)}


def of_scenario(folder: BenchFolder, standing: Standing) -> list[Picture]:
    """A scenario's pictures. Raises ScenarioError for a file that cannot be read."""
    with labelled(folder.suite.labels):
        return _pictures(_scenario_panels(folder, standing))


def _pictures(panels: Iterable[figures.Panel]) -> list[Picture]:
    return [Picture(data_uri(picture(x.figure, x.image)), x.title, x.reading, x.small) for x in panels]


def write_files(folder: BenchFolder, summary: Sequence[Standing], formats: Sequence[str]) -> list[Path]:
    """Writes each panel into ``figures/`` of the folder, a file for each format. Raises ScenarioError."""
    with for_paper(), labelled(folder.suite.labels):
        several = [(sweep.of, panels) for sweep, panels in _sweep_panels(folder, summary)]
        several += [(standing.name, _scenario_panels(folder, standing)) for standing in summary]
        return [
            file
            for prefix, panels in several
            for panel in panels
            for file in save(panel.figure, folder.path / FOLDER, f"{prefix}-{panel.name}", formats)
        ]


def _sweep_panels(
    folder: BenchFolder, summary: Sequence[Standing]
) -> Iterator[tuple[curves.Sweep, Iterator[figures.Panel]]]:
    looks = looks_of(folder.suite)
    for sweep in curves.sweeps(folder.suite):
        yield sweep, curves.of_sweep(sweep, summary, looks)


def _scenario_panels(folder: BenchFolder, standing: Standing) -> Iterator[figures.Panel]:
    looks = looks_of(folder.suite)
    cells = {name: folder.cells_of(standing.name, name) for name in looks}
    return figures.of_scenario(standing, cells, looks)


#: Receives the scenario that is done, its number, and the total.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Part:
    """One scenario of a report."""

    standing: Standing
    pictures: Sequence[Picture]
    lost: Sequence[LostRow]


@dataclass(frozen=True)
class PartJob:
    """A part to be computed (``ns3_env.simulator.pool.Job``): a folder with only one scenario's cells."""

    folder: BenchFolder
    scenario: str
    metrics: tuple[str, ...] = ()  # import paths of the user's own metrics

    def run(self, simulator: Simulator | None = None) -> Part:
        """The part; nothing is simulated. Raises ScenarioError for a file that cannot be read."""
        load_metrics(self.metrics)
        folder = self.folder
        (standing,) = standings(folder, cases=[folder.suite.scenario(self.scenario)])
        names = [entry.name for entry in folder.suite.controllers]
        lost = lost_rows(names, folder.cells)
        return Part(standing, of_scenario(folder, standing), lost)


def parts_of(folder: BenchFolder, progress: Progress) -> list[Part]:
    """One for each scenario, in the suite's order. Raises ScenarioError for a file that cannot be read."""
    names = [case.name for case in folder.suite.scenarios]
    jobs = [PartJob(_alone(folder, name), name, own_metrics()) for name in names]
    at_once = min(len(jobs), len(os.sched_getaffinity(0)))
    parts: dict[str, Part] = {}
    if at_once == 1:
        for job in jobs:
            parts[job.scenario] = job.run()
            progress(job.scenario, len(parts), len(jobs))
    else:
        with LocalPool(at_once) as pool:
            playing = {pool.submit(job): job.scenario for job in jobs}
            for future in as_completed(playing):
                parts[playing[future]] = future.result()
                progress(playing[future], len(parts), len(jobs))
    return [parts[name] for name in names]


def _alone(folder: BenchFolder, name: str) -> BenchFolder:
    """The folder with one scenario's cells."""
    return dataclasses.replace(
        folder,
        cells=[cell for cell in folder.cells if cell.scenario == name],
        missing=[key for key in folder.missing if key[0] == name],
        failed={key: text for key, text in folder.failed.items() if key[0] == name},
        stale=[cell for cell in folder.stale if cell.scenario == name],
    )
