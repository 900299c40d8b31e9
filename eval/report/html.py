# SPDX-License-Identifier: GPL-2.0-or-later
"""How does the report look as a page? One file, with style and figures inside, from page.html.j2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import HEADLINES, Standing
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.report import figures
from ns3_env.eval.report.facts import Facts
from ns3_env.eval.report.losses import HEADINGS, LostRow
from ns3_env.eval.show.plots import styles

#: Lists of cells longer than this are folded.
LONG_LIST = 12


def render(
    folder: BenchFolder, facts: Facts, summary: Sequence[Standing], lost: Mapping[str, Sequence[LostRow]]
) -> str:
    """The text of report.html; every name and error in it is escaped. ``lost``: losses by scenario.

    Raises:
        ScenarioError: a file of the folder cannot be read.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = [entry.name for entry in folder.suite.controllers]
    looks = styles(names)
    pictures = {}
    for scenario in summary:
        cells = {
            name: [c for c in folder.cells if (c.scenario, c.controller) == (scenario.name, name)]
            for name in names
        }
        pictures[scenario.name] = figures.of_scenario(scenario, cells, looks)
    return environment.get_template("page.html.j2").render(
        facts=facts,
        groups=[(group, list(several)) for group, several in groupby(summary, key=lambda s: s.group)],
        anchors={scenario.name: f"scenario-{number}" for number, scenario in enumerate(summary, start=1)},
        metrics=METRICS,
        headlines=HEADLINES,
        looks=looks,
        dashes={name: _dashes(look.line) for name, look in looks.items()},
        pictures=pictures,
        lost=lost,
        lost_headings=HEADINGS,
        long_list=LONG_LIST,
    )


def _dashes(line: object) -> str:
    """A line style of matplotlib as SVG's stroke-dasharray, for a stroke 2 wide."""
    if not isinstance(line, tuple):
        return "none"
    return " ".join(f"{2 * length:g}" for length in line[1])
