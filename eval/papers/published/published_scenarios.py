# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares flow completion times with the published ones on three scenarios, flow by flow.

Its figures: docs/sources/published-simulator.md, "Results to meet".
"""

from __future__ import annotations

import csv
import itertools
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from ns3_env.config.command_line import new_console
from ns3_env.config.folders import DATA
from ns3_env.errors import ScenarioError
from ns3_env.eval.output import table
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

Preset = Literal["default", "published"]
CONTROLLERS = ("dcqcn", "hpcc", "timely", "dctcp")
SCENARIOS = ("dumbbell_1g_4to1", "dumbbell_100g_4to1", "fattree16_websearch30")

#: NAME.yaml and its flows, NAME.csv.
SCENARIO_FOLDER = DATA / "configs" / "scenarios"
#: NAME.csv: the same flows, and each one's published completion time (ns) by controller.
FIGURES_FOLDER = DATA / "reference"

_FLOW = ("src", "dst", "size_bytes", "start_ns")


@dataclass(frozen=True)
class Bars:
    """Bounds of the distance from the published figures: largest relative deviations."""

    avg: float | None = None
    p99: float | None = None
    per_flow: float | None = None


def bars_of(scenario: str, controller: str) -> Bars:
    """DCTCP on dumbbells is insensitive to noise; elsewhere a start shifted by 1 ns moves the average."""
    if controller == "dctcp" and scenario.startswith("dumbbell"):
        return Bars(per_flow=0.001)
    if controller == "timely" and scenario == "dumbbell_1g_4to1":
        return Bars(avg=0.12, p99=0.05)
    return Bars(avg=0.02, p99=0.05)


@dataclass(frozen=True)
class Comparison:
    """FCT slowdowns of one scenario under one controller, ours and the published ones.

    Both are over the standalone time that our simulator computes. ``max_abs_dev`` is the largest
    |ours / theirs − 1| of a flow's completion time.
    """

    avg: float
    p50: float
    p99: float
    ref_avg: float
    ref_p50: float
    ref_p99: float
    max_abs_dev: float

    def deviation(self, figure: str) -> float:
        """Ours / theirs − 1 of "avg", "p50" or "p99"."""
        return float(getattr(self, figure) / getattr(self, f"ref_{figure}")) - 1

    def misses(self, bars: Bars) -> list[str]:
        """Returns the bars that are missed: any of "avg", "p99", "per_flow"."""
        results = [
            figure
            for figure, bar in (("avg", bars.avg), ("p99", bars.p99))
            if bar is not None and not abs(self.deviation(figure)) <= bar
        ]
        if bars.per_flow is not None and not self.max_abs_dev <= bars.per_flow:
            results.append("per_flow")
        return results


def in_preset(scenario: Scenario, preset: Preset | None) -> Scenario:
    """The scenario under a preset, and the preset's timing; None: unchanged."""
    if preset is None:
        return scenario
    return scenario.model_copy(update={"preset": preset, "timing": None})


def compare(name: str, controller: str, simulator: Simulator, preset: Preset | None = None) -> Comparison:
    """Runs one scenario. Raises ScenarioError, SimulatorError; a flow that does not finish is an error."""
    scenario = in_preset(Scenario.load(SCENARIO_FOLDER / f"{name}.yaml"), preset)
    flows = simulator.play(scenario.under(controller))["flows"]
    published = _published(name, controller, flows)
    simulated = np.asarray(flows["fct_ns"], dtype=np.float64)
    if (simulated < 0).any():
        raise ScenarioError(
            f"{scenario.source}: time_limit_ns: too short, {int((simulated < 0).sum())} flows go on"
        )
    standalone = np.asarray(flows["standalone_ns"], dtype=np.float64)
    most = float(np.abs(simulated / published - 1).max())
    return Comparison(*_figures(simulated / standalone), *_figures(published / standalone), most)


def _figures(slowdowns: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    median, tail = np.percentile(slowdowns, (50, 99))
    return float(slowdowns.mean()), float(median), float(tail)


def _published(name: str, controller: str, flows: dict[str, Any]) -> npt.NDArray[np.float64]:
    """(flows,) published completion times, ns, in the order of the scenario's flows."""
    path = FIGURES_FOLDER / f"{name}.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}; the figures are in the source tree only") from None
    flow_keys = list(zip(*(flows[column] for column in _FLOW), strict=True))
    printed = [tuple(int(row[column]) for column in _FLOW) for row in rows]
    if flow_keys != printed:
        raise ScenarioError(f"{path}: its flows are not those of {SCENARIO_FOLDER / name}.csv")
    return np.array([int(row[controller]) for row in rows], dtype=np.float64)


def render_table(name: str, rows: dict[str, Comparison]) -> Table:
    """A scenario's table: slowdowns ours, theirs, difference in percent, and which bars are missed."""
    headings = [text for x in ("avg", "p50", "p99") for text in (f"{x}\nours", "\nref", "\n%")]
    table_ = table.new_table(name, "", [*headings, "flow\n±%"])
    table_.add_column("\nverdict")
    for controller, row in rows.items():
        cells = []
        for figure, digits in (("avg", 3), ("p50", 3), ("p99", 2)):
            cells += [
                f"{getattr(row, figure):.{digits}f}",
                f"{getattr(row, f'ref_{figure}'):.{digits}f}",
                f"{100 * row.deviation(figure):+.2f}",
            ]
        missed = row.misses(bars_of(name, controller))
        verdict = f"✗ {' '.join(missed)}" if missed else "ok"
        table_.add_row(controller, *cells, f"{100 * row.max_abs_dev:.2f}", verdict)
    return table_


def report(json_path: Path | None, console: Console | None = None, *, preset: Preset | None = None) -> None:
    """Runs every scenario under every controller, prints a table for each scenario and writes the same
    numbers to ``json_path``."""
    out = console or new_console()
    results: dict[str, dict[str, Comparison]] = {name: {} for name in SCENARIOS}
    with out.status("simulating") as status, Simulator() as simulator:
        for name, controller in itertools.product(SCENARIOS, CONTROLLERS):
            status.update(f"simulating {name} under {controller}")
            results[name][controller] = compare(name, controller, simulator, preset)
    for name, rows in results.items():
        table.print_table(render_table(name, rows), out)
        out.print()
    if json_path is not None:
        content = {name: {c: asdict(row) for c, row in rows.items()} for name, rows in results.items()}
        table.write_json(json_path, content)
