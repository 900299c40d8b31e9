# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders a report: one HTML file with style and figures inside, and Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ns3_env.eval.benchmark.films import films
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import Standing, has_way, headlines
from ns3_env.eval.benchmark.statistics import FloatArray
from ns3_env.eval.benchmark.yardsticks import HEADING
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.output.table import cell as shown
from ns3_env.eval.output.table import markdown_cell, markdown_table
from ns3_env.eval.report.curves import sweeps
from ns3_env.eval.report.facts import HEADINGS, Facts, LostRow
from ns3_env.eval.report.pictures import Picture, looks_of, title

#: Lists of cells longer than this are folded.
LONG_LIST = 12


def render_html(
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


def render_markdown(facts: Facts, summary: Sequence[Standing], lost: Mapping[str, Sequence[LostRow]]) -> str:
    """The text of report.md; ``lost``: losses by scenario."""
    lines = [f"# Benchmark {markdown_cell(facts.title)}", ""]
    lines += [
        f"{facts.done} of {facts.cells} cells complete, {len(facts.failed)} failed, "
        f"{len(facts.missing)} missing, {len(facts.stale)} stale. Figures: report.html.",
        "",
        "Mean over seeds, in brackets its bootstrap interval (95 %); after the semicolon its ratio to the "
        "column's best entry by the mean, seed by seed on the same flows (95 %, all comparisons of a "
        "column together). A winner (bold) is significantly better than each other one.",
    ]
    lines += _problems("Failed", [(*key, text) for key, text in facts.failed.items()])
    lines += _problems("Missing", facts.missing)
    lines += _problems("Stale (from other versions or settings; not in any number)", facts.stale)
    if facts.within_noise:
        lines += ["", "**Within noise of a constant window of one BDP**", ""]
        lines += [f"- {markdown_cell(text)}" for text in facts.within_noise]
    group = None
    for scenario in summary:
        if scenario.group != group:
            group = scenario.group
            lines += ["", f"## {markdown_cell(group)}"]
        lines += ["", f"### {markdown_cell(scenario.title)}", "", *_table(scenario)]
        lines += _losses(lost[scenario.name])
    lines += ["", "## Again", ""]
    lines += [f"- {what}: `{command}`" for what, command in facts.commands]
    lines += ["", "## Versions", ""]
    lines += [f"- {markdown_cell(name)} {markdown_cell(version)}" for name, version in facts.versions.items()]
    return "\n".join(lines) + "\n"


def _table(scenario: Standing) -> list[str]:
    infos = [METRICS[name] for name in headlines([scenario])]
    headings = [info.heading + (f" ({info.unit})" if info.unit else "") for info in infos]
    with_way = has_way([scenario])
    if with_way:
        headings.append(HEADING)
    rows = []
    for row in scenario.rows:
        cells = []
        for info in infos:
            score = row.scores[info.name]
            text = score.text + (f" [{score.interval}]" if score.interval else "")
            text += f"; {markdown_cell(score.edge.text)}" if score.edge else ""
            won = scenario.verdicts[info.name].winner == row.controller
            cells.append(f"**{text}**" if won else text)
        cells += [shown(row.way, ".0f")] if with_way else []
        seeds = f"{row.seeds} of {row.expected}" + (f" ({row.note})" if row.note else "")
        rows.append([markdown_cell(row.controller), seeds, *cells])
    verdicts = [markdown_cell(scenario.verdicts[info.name].text) for info in infos]
    verdicts += [""] if with_way else []
    lines = markdown_table(["controller", "seeds", *headings], rows)
    return [*lines, "| *winner* | | " + " | ".join(verdicts) + " |"]


def _losses(rows: Sequence[LostRow]) -> list[str]:
    if not rows:
        return []
    cells = ([markdown_cell(text) for text in row.texts] for row in rows)
    return ["", "Packets lost, means over seeds:", "", *markdown_table(HEADINGS, cells, names=3)]


def _problems(what: str, rows: Sequence[tuple[object, ...]]) -> list[str]:
    if not rows:
        return []
    bullets = [
        f"- {markdown_cell(str(scenario))}, {markdown_cell(str(controller))}, seed {seed}"
        + "".join(f": {markdown_cell(str(x))}" for x in more)
        for scenario, controller, seed, *more in rows
    ]
    return ["", f"**{what}**", "", *bullets]
