# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders the report as one HTML file, with style and figures inside, from page.html.j2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ns3_env.eval.benchmark.films import films
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import Standing, headlines
from ns3_env.eval.benchmark.statistics import FloatArray
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.report.curves import sweeps
from ns3_env.eval.report.facts import Facts
from ns3_env.eval.report.losses import HEADINGS, LostRow
from ns3_env.eval.report.pictures import Picture, looks_of, title

#: Lists of cells longer than this are folded.
LONG_LIST = 12


def render(
    folder: BenchFolder,
    facts: Facts,
    summary: Sequence[Standing],
    pictures: Mapping[str, Sequence[Picture]],
    lost: Mapping[str, Sequence[LostRow]],
) -> str:
    """The text of report.html; every name and error in it is escaped.

    ``pictures``: by scenario, and by axis of a grid. ``lost``: losses by scenario.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    looks = looks_of(folder.suite)
    return environment.get_template("page.html.j2").render(
        facts=facts,
        groups=[(group, list(several)) for group, several in groupby(summary, key=lambda s: s.group)],
        anchors={scenario.name: f"scenario-{number}" for number, scenario in enumerate(summary, start=1)},
        metrics=METRICS,
        headlines=headlines(summary),
        looks=looks,
        dashes={name: _dashes(look.line) for name, look in looks.items()},
        pictures=pictures,
        films=films(folder),
        lost=lost,
        lost_headings=HEADINGS,
        sweeps=[(f"sweep-{number}", title(x)) for number, x in enumerate(sweeps(folder.suite), start=1)],
        long_list=LONG_LIST,
        numbers=_numbers,
    )


def _numbers(values: FloatArray) -> str:
    """One for each seed, for the page's script: "1.5,,2" where the second is not defined."""
    return ",".join("" if math.isnan(value) else format(value, ".6g") for value in values)


def _dashes(line: object) -> str:
    """A line style of matplotlib as SVG's stroke-dasharray, for a stroke 2 wide."""
    if not isinstance(line, tuple):
        return "none"
    return " ".join(f"{2 * length:g}" for length in line[1])
