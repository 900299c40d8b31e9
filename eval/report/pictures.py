# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts a report's figures into its page, and writes them as files for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import Standing
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.output.files import FOLDER, save
from ns3_env.eval.output.plots import Style, data_uri, for_paper, is_png, picture, styles, with_curves
from ns3_env.eval.report import curves, figures
from ns3_env.programs.executable import references


@dataclass(frozen=True)
class Picture:
    """A figure for the page: its address, which holds it, what it shows, how to read it."""

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
    """What the page calls the figures over an axis."""
    return sweep.axis if sweep.axis.startswith(f"{sweep.of}.") else f"{sweep.of} over {sweep.axis}"


def of_sweeps(folder: BenchFolder, summary: Sequence[Standing]) -> dict[str, Sequence[Picture]]:
    """Axis of a grid -> its pictures."""
    return {name: _pictures(panels) for name, _, panels in _sweep_panels(folder, summary)}


def of_scenario(folder: BenchFolder, standing: Standing) -> list[Picture]:
    """A scenario's pictures. Raises ScenarioError for a file that cannot be read."""
    return _pictures(_scenario_panels(folder, standing))


def _pictures(panels: Iterable[figures.Panel]) -> list[Picture]:
    drawn: dict[Figure, bytes] = {}
    found = []
    for x in panels:
        before = drawn.get(x.figure)
        image = with_curves(before, x.figure) if before else picture(x.figure, x.image)
        if not is_png(image):
            drawn[x.figure] = image
        found.append(Picture(data_uri(image), x.title, x.reading, x.small))
    return found


def write_files(folder: BenchFolder, summary: Sequence[Standing], formats: Sequence[str]) -> list[Path]:
    """Writes each panel into ``figures/`` of the folder, a file for each format. Raises ScenarioError."""
    written = []
    with for_paper():
        for _, prefix, panels in _panels(folder, summary):
            for panel in panels:
                written += save(panel.figure, folder.path / FOLDER, f"{prefix}-{panel.name}", formats)
    return written


def _panels(
    folder: BenchFolder, summary: Sequence[Standing]
) -> Iterator[tuple[str, str, Iterator[figures.Panel]]]:
    """(scenario, or what ``title`` says; how its files' names begin; its panels)."""
    yield from _sweep_panels(folder, summary)
    for standing in summary:
        yield standing.name, standing.name, _scenario_panels(folder, standing)


def _sweep_panels(
    folder: BenchFolder, summary: Sequence[Standing]
) -> Iterator[tuple[str, str, Iterator[figures.Panel]]]:
    looks = looks_of(folder.suite)
    for sweep in curves.sweeps(folder.suite):
        yield title(sweep), sweep.of, curves.of_sweep(sweep, summary, looks)


def _scenario_panels(folder: BenchFolder, standing: Standing) -> Iterator[figures.Panel]:
    looks = looks_of(folder.suite)
    cells = {
        name: [c for c in folder.cells if (c.scenario, c.controller) == (standing.name, name)]
        for name in looks
    }
    return figures.of_scenario(standing, cells, looks)
