# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares flow completion times with the published ones on networks that both simulators can run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.progress import track
from rich.table import Table

from ns3_env.config.command_line import new_console
from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.eval.output import table
from ns3_env.eval.output.results import Row, rows_of, write_rows
from ns3_env.eval.papers.published.played_networks import network_of
from ns3_env.eval.papers.published.published_files import (
    RUN_ALL,
    SCENARIO,
    Completion,
    read_completions,
    write_networks,
)
from ns3_env.eval.papers.published.published_scenarios import CONTROLLERS, Preset, in_preset
from ns3_env.eval.papers.published.random_networks import draw_network
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

#: Events without an end there are resolved here by a timeout after this time (ns).
_LATE_NS = 1e9


@dataclass(frozen=True)
class Agreement:
    """Flows of one network under one controller.

    ``exact`` counts those that end at the same nanosecond, with the same standalone time, or that hang there
    and wait for a timeout here; ``hung`` counts the latter. ``first`` is the first flow that differs,
    ``worst`` the largest |ours / theirs - 1| of a completion time; ``mean`` and ``p99`` are ours / theirs - 1
    of the slowdowns of flows that ended in both.
    """

    flows: int
    exact: int
    hung: int
    first: int | None
    worst: float
    mean: float
    p99: float


def compare_flows(simulated_times: list[Completion], published_times: list[Completion | None]) -> Agreement:
    """Compares flow by flow, our times (below 0: not ended) with theirs."""
    differ: list[int] = []
    slowdowns: list[tuple[float, float]] = []
    for flow, (simulated, published) in enumerate(zip(simulated_times, published_times, strict=True)):
        fct = simulated[0]
        if published and fct >= 0:
            slowdowns.append((fct / published[1], published[0] / published[1]))
        same = simulated == published if published else not 0 <= fct < _LATE_NS
        if not same:
            differ.append(flow)
    here, there = np.array(slowdowns or [(1.0, 1.0)]).T
    return Agreement(
        flows=len(simulated_times),
        exact=len(simulated_times) - len(differ),
        hung=published_times.count(None),
        first=differ[0] if differ else None,
        worst=float(np.abs(here / there - 1).max()),
        mean=float(here.mean() / there.mean()) - 1,
        p99=float(np.percentile(here, 99) / np.percentile(there, 99)) - 1,
    )


def networks_in(folder: Path) -> list[Path]:
    """Folders with a scenario, by name. Raises ScenarioError without any."""
    folders = sorted(path.parent for path in folder.glob(f"*/{SCENARIO}"))
    if not folders:
        raise ScenarioError(f"{folder}: no network there (NAME/{SCENARIO}); --random N draws some")
    return folders


def compare_network(
    folder: Path, simulator: Simulator, preset: Preset | None = None
) -> Iterator[tuple[str, Agreement]]:
    """Runs a network under each controller that has a published result for it.

    Under another preset, refused controllers are left out with a warning.

    Raises:
        ScenarioError: the scenario or a result is invalid.
        SimulatorError: the simulator failed.
    """
    scenario = in_preset(Scenario.load(folder / SCENARIO), preset)
    for controller in CONTROLLERS:
        result = folder / f"{controller}.fct.txt"
        if result.exists():
            try:
                flows = simulator.play(scenario.under(controller))["flows"]
            except ScenarioError as error:
                if preset is None:
                    raise
                warnings.warn(str(error), ScenarioWarning, stacklevel=2)
                continue
            published_times = read_completions(result, flows["src"], flows["dst"])
            simulated_times = list(zip(flows["fct_ns"], flows["standalone_ns"], strict=True))
            yield controller, compare_flows(simulated_times, published_times)


def _render(
    title: str, agreements: Mapping[str, Mapping[str, Agreement]], cell: Callable[[list[Agreement]], str]
) -> Table:
    """A row for each network, by controller; "-" if it was not run."""
    rendered = table.new_table("", title, CONTROLLERS, (0, 1, 0, 1))
    for name, by in agreements.items():
        rendered.add_row(name, *(cell([by[x]]) if x in by else "-" for x in CONTROLLERS))
    return rendered


def render_deviations(agreements: Mapping[str, Mapping[str, Agreement]]) -> Table:
    """Shows the differences (%) of the slowdown's mean and p99, by network and controller."""
    return _render(
        "slowdown, mean and p99, %", agreements, lambda x: f"{100 * x[0].mean:+.2f} {100 * x[0].p99:+.2f}"
    )


def render_exact(agreements: Mapping[str, Mapping[str, Agreement]]) -> Table:
    """Shows the number of exactly equal flows, by network and controller; then over all."""

    def cell(rows: list[Agreement]) -> str:
        exact, flows = sum(x.exact for x in rows), sum(x.flows for x in rows)
        return f"{exact} of {flows}" if exact == flows else f"✗ {exact} of {flows}"

    rendered = _render("exact flows of all", agreements, cell)
    rendered.add_section()
    together = ([by[x] for by in agreements.values() if x in by] for x in CONTROLLERS)
    rendered.add_row("all", *(cell(rows) if rows else "-" for rows in together))
    return rendered


def _rows(network: str, agreements: Mapping[str, Agreement]) -> Iterator[Row]:
    """Yields a network's agreements as results: counts of flows and deviations."""
    for controller, agreement in agreements.items():
        numbers = {name: x for name, x in asdict(agreement).items() if name != "first"}
        yield from rows_of(controller, network, 1, numbers)


def report(
    folder: Path,
    random: int | None,
    seed: int,
    json_path: Path | None,
    *,
    preset: Preset | None = None,
    runs: Sequence[Path] = (),
) -> bool:
    """Writes networks that are not there yet, compares those that have results, and prints.

    Args:
        folder: folder with a folder for each network; gets results.csv.
        random: number of networks to draw; None: the existing ones.
        seed: seed of the draw.
        json_path: file that gets the same figures, by network and controller.
        preset: preset instead of the scenarios' own; flows are then compared by deviations, and not exactly.
        runs: folders of runs, whose flows become networks.

    Returns:
        Whether all flows that were compared agree; always true under another preset.

    Raises:
        ScenarioError: the folder has other networks than these, none, or an invalid result; a run used
            a feature that the published simulator lacks.
        SimulatorError: the simulator failed.
    """
    out = new_console()
    if random is not None:
        write_networks([draw_network(seed, i) for i in range(random)], folder)
    if runs:
        write_networks([network_of(run) for run in runs], folder)
    networks = networks_in(folder)
    waiting = [path for path in networks if not any(path.glob("*.fct.txt"))]
    agreements: dict[str, dict[str, Agreement]] = {}
    with Simulator() as simulator:
        scenarios = [path for path in networks if path not in waiting]
        for path in track(scenarios, "simulating", console=out, transient=True):
            agreements[path.name] = dict(compare_network(path, simulator, preset))
    every = {f"{name} under {who}": x for name, by in agreements.items() for who, x in by.items()}
    differ = {} if preset else {place: x for place, x in every.items() if x.first is not None}
    if agreements and preset is not None:
        table.print_table(render_deviations(agreements), out)
    elif agreements:
        table.print_table(render_exact(agreements), out)
        for place, x in differ.items():
            out.print(
                f"{place}: flows that differ: {x.flows - x.exact}, by at most {100 * x.worst:.3g} %; "
                f"the first is flow {x.first}",
                soft_wrap=True,
            )
        if hung := sum(x.hung for x in every.values()):
            out.print(f"flows that never ended there, and end here by a timeout after the others: {hung}")
    if waiting:
        out.print(
            f"{len(waiting)} of {len(networks)} networks wait for results of the published simulator: in its "
            f"folder, `sh {folder.absolute() / RUN_ALL}` (docs/against-the-published-simulator.md)",
            soft_wrap=True,
        )
    write_rows(folder, (row for name, by in agreements.items() for row in _rows(name, by)))
    if json_path is not None:
        table.write_json(
            json_path, {n: {c: asdict(x) for c, x in by.items()} for n, by in agreements.items()}
        )
    return not differ
