# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a scenario file under controllers and policies, with a folder of results for each."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ns3_env.config.bounds import MAX_TIME_NS, WHY_TIME, excess
from ns3_env.config.command_line import new_console
from ns3_env.config.files import write_files
from ns3_env.config.folders import refuse_foreign, replace_folder
from ns3_env.errors import ScenarioError
from ns3_env.eval.episodes import critical_path
from ns3_env.eval.episodes.arguments import Attributes, Given, read_scenario
from ns3_env.eval.episodes.critical_path import CriticalPath
from ns3_env.eval.episodes.entry import Entry, named_entries, results_of, trained_entries, under
from ns3_env.eval.episodes.recording import recorded, series_files
from ns3_env.eval.episodes.results import FILES, METRICS_FILE, result_files
from ns3_env.eval.metrics import by_group, line, load_metrics, mean, measure, own_metrics, without_nan
from ns3_env.eval.output import table
from ns3_env.eval.output.progress import progress_lines
from ns3_env.eval.output.results import Row, rows_of, write_rows
from ns3_env.policies.released import named_controller
from ns3_env.scenario import AGENT, Record, Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.results import Results

#: Interval between updates of the progress display, s.
_TICK_S = 0.2
#: Number of queue samples above which a message states the expected number.
_MANY_SAMPLES = 1_000_000


class Extra(Protocol):
    """Additional files in a run's folder: those of a trace, of a film."""

    @property
    def files(self) -> Sequence[str]:
        """Names of files and folders."""
        ...

    def write(self, folder: Path, results: Results, title: str) -> None:
        """Writes them."""
        ...


@dataclass(frozen=True)
class _Done:
    """Summary of an episode whose files are written.

    Attributes:
        metrics: all metrics of the episode.
        row: row of the table.
        groups: rows of the groups' tables, by name.
        flows: number of flows.
        seconds: wall time, s.
        paths: critical path of each job's slowest iteration.
        busiest_port: description of the busiest port.
        deadlock: message about pauses that wait for each other in a circle; None: there is no such circle.
    """

    metrics: dict[str, float]
    row: dict[str, float]
    groups: dict[str, dict[str, float]]
    flows: int
    seconds: float
    paths: list[CriticalPath]
    busiest_port: str
    deadlock: str | None


@dataclass(frozen=True)
class _Play:
    """An episode that writes its folder: a job of this machine.

    Attributes:
        folder: path below ``out``.
        entry: the controller or policy; None: the scenario's own controllers.
        scenario: the scenario, with its seed.
        record: the recordings to make.
        extras: writers of further files.
        title: title of a trace's figure.
        home: the folder's final path; None without captures.
        metrics: the user's metrics, ``pkg.module:name``.
        into: folder for the files until they are complete and moved into place.
    """

    folder: str
    entry: Entry | None
    scenario: Scenario
    record: Record
    extras: tuple[Extra, ...]
    title: str
    home: Path | None
    metrics: tuple[str, ...]
    into: Path = Path()

    def run(self, simulator: Simulator) -> _Done:
        """Runs the episode and writes its results. Raises ScenarioError, SimulatorError, OSError."""
        start_s = time.monotonic()
        load_metrics(self.metrics)
        entry_scenario, trained = (
            (self.scenario, None) if self.entry is None else under(self.entry, self.scenario)
        )
        recorded_scenario = entry_scenario.model_copy(update={"record": self.record})
        captured = recorded_scenario
        if self.home is not None:
            (self.into / "pcap").mkdir()
            captured, recorded_scenario = (
                _capturing(recorded_scenario, self.into),
                _capturing(recorded_scenario, self.home),
            )
        results = results_of(captured, trained, simulator)
        who, seed = self.folder.partition("/")[0], recorded_scenario.seed
        of_episode = {"scenario": self.title, "controller": who, "seed": seed}
        metrics = measure(results)
        content = {**of_episode, "metrics": without_nan(metrics)}
        files = {**result_files(recorded_scenario, results), **series_files(results)}
        write_files(self.into, {**files, METRICS_FILE: json.dumps(content, indent=1, allow_nan=False)})
        title = f"{self.title} under {who}, seed {seed}"
        for extra in self.extras:
            extra.write(self.into, results, title + recorded_scenario.measured_text())
        flows = len(results["flows"]["src"])
        return _Done(
            metrics=metrics,
            row=line(results),
            groups=by_group(results, line),
            flows=flows,
            seconds=time.monotonic() - start_s,
            paths=critical_path.slowest(critical_path.read_critical_paths(self.into / critical_path.FILE)),
            busiest_port=critical_path.busiest_port(results),
            deadlock=results.get("pause_circle", {}).get("text"),
        )


def _play_all(plays: Sequence[_Play], out: Path, console: Console) -> dict[str, _Done]:
    """Runs the episodes, one per core at a time, and reports those that are done."""
    done: dict[str, _Done] = {}
    at_once = min(len(plays), len(os.sched_getaffinity(0)))
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task("", total=None)

    def state() -> str:
        running = [play.folder for future, play in under_way.items() if future.running()]
        return f"{', '.join(running)} ({len(done)} of {len(plays)} played)"

    def put(play: _Play) -> _Done:
        results: list[_Done] = []
        replace_folder(
            out / play.folder, lambda into: results.append(pool.submit(replace(play, into=into)).result())
        )
        return results[0]

    # An exception, or Ctrl-C, ends the pool first: the code that waits for it cleans up.
    with ThreadPoolExecutor(at_once) as threads, LocalPool(at_once) as pool:
        under_way = {threads.submit(put, play): play for play in plays}
        with progress, progress_lines(console, state):
            while under_way:
                progress.update(task, description=state())
                for future in wait(under_way, _TICK_S, FIRST_COMPLETED).done:
                    play = under_way.pop(future)
                    done[play.folder] = future.result()
                    traced = any("trace.png" in extra.files for extra in play.extras)
                    target = out / play.folder / "trace.png" if traced else out / play.folder
                    progress.console.print(f"{target}: {done[play.folder].seconds:.1f} s", highlight=False)
    return done


def run(
    scenario_file: Path,
    names: Sequence[str],
    out: Path,
    json_file: Path | None = None,
    console: Console | None = None,
    *,
    seeds: Sequence[int] = (),
    trace: Extra | None = None,
    film: Extra | None = None,
    queue_series_ns: int | None = None,
    pcap: bool = False,
    policies: Sequence[str] = (),
    checkpoints: Sequence[str] = (),
    overrides: Sequence[str] = (),
    allow_imports: bool = False,
) -> list[str]:
    """Simulates the scenario under each controller, writes ``out``/NAME for each and ``results.csv`` (with
    pandas and pyarrow ``results.parquet``), and prints the table.

    Args:
        scenario_file: the scenario's YAML, or the config.yaml of a benchmark's cell.
        names: the simulator's controllers, and released policies; without these and checkpoints, the
            scenario's own ``controllers`` run jointly in one folder, ``out``/A+B for A and B; for a cell,
            its own controller.
        out: parent of the folders; those of an earlier run are replaced, and no further ones are allowed.
        json_file: JSON file that also gets the table's numbers.
        console: console for the table.
        seeds: seeds instead of the scenario's; with several seeds each has a folder, ``out``/NAME/seed-S.
        trace: writer of traces; everything is then recorded over time, and it writes files into each folder.
        film: writer of films; ports and flows are sampled together, and it writes them into each folder.
        queue_series_ns: sampling interval of ``queue_series.csv`` and the film, ns; None: the scenario's; for
            a trace or a film without one, a benchmark's.
        policies: "NAME=pkg.module:factory" of policies in Python.
        checkpoints: "NAME=PATH" of trained policies; the simulator runs them like its controllers.
        overrides: "key=value" of the scenario's keys, dotted, and "NAME.ATTRIBUTE=value" of controllers.
        pcap: true to add a folder ``pcap``, with a capture of every port, to each controller's folder.
        allow_imports: true to permit a policy in a cell's file to run its module's code.

    Returns:
        Names of the entries, in their order.

    Raises:
        ScenarioError: the scenario, an option, or the name of a controller, is wrong.
        SimulatorError: the simulator failed.
    """
    arguments = read_scenario(scenario_file, names, overrides)
    _check_cell(arguments, names, allow_imports)
    scenario = arguments.scenario
    record = _record(scenario, queue_series_ns, pcap, trace is not None, film is not None)
    extras = tuple(extra for extra in (trace, film) if extra is not None)
    in_python = named_entries("policy", policies, names)
    others = [*names, *(entry.name for entry in in_python)]
    trained = trained_entries(checkpoints, others)
    players = [*_players(arguments, names, [*trained, *in_python])]
    common = partial(_Play, record=record, extras=extras, title=arguments.title, metrics=own_metrics())
    plays = [
        common(folder, entry, seeded, home=out / folder if pcap else None)
        for folder, entry, seeded in _plays(scenario, players, arguments.attributes, seeds)
    ]
    out.mkdir(parents=True, exist_ok=True)
    extra_files = [name for extra in extras for name in extra.files]
    for play in plays:  # reports an error in any before the first has run for hours
        (play.scenario if play.entry is None else under(play.entry, play.scenario)[0]).to_simulator_json()
        refuse_foreign(out / play.folder, {*FILES, *extra_files}, "run's folder")
    _refuse_another_run(out, plays)
    console = console or new_console()
    samples = _queue_samples(scenario.model_copy(update={"record": record}))
    if samples > _MANY_SAMPLES:
        console.print(
            f"queue series: up to {samples / 1e6:,.1f} million samples under each controller, one per "
            f"switch port every {record.queue_series_ns} ns until {scenario.time_limit_ns / 1e6:g} ms"
        )
    done = _play_all(plays, out, console)
    write_rows(out, (row for play in plays for row in _rows(play, done[play.folder])))
    rows = {play.folder: done[play.folder].row for play in plays}
    flows = done[plays[-1].folder].flows
    by_entry: dict[str, list[dict[str, float]]] = {}
    for folder, row in rows.items():
        by_entry.setdefault(folder.partition("/")[0], []).append(row)
    title = f"{flows} flows, {scenario.topology.kind} ({scenario_file}){scenario.measured_text()}"
    if len(seeds) > 1:
        title += f"; means over {len(seeds)} seeds"
    table.show(title, {name: mean(of_seeds) for name, of_seeds in by_entry.items()}, console)
    if of_groups := {f"{folder} {name}": x for folder in rows for name, x in done[folder].groups.items()}:
        table.show("by group: of its flows alone, queues of the whole network", of_groups, console)
    if paths := {folder: done[folder].paths for folder in rows if done[folder].paths}:
        critical_path.show(paths, {folder: done[folder].busiest_port for folder in paths}, console)
    stuck = [f"{play.folder}: {text}" for play in plays if (text := done[play.folder].deadlock)]
    for warning in stuck:
        console.print(f"warning: {warning}", highlight=False, soft_wrap=True)
    if json_file is not None:
        table.write_json(json_file, {name: without_nan(metrics) for name, metrics in rows.items()})
    return list(by_entry)


def _rows(play: _Play, done: _Done) -> Iterator[Row]:
    """Yields the rows of an episode and of its groups."""
    whose = (play.folder.partition("/")[0], play.title, play.scenario.seed)
    yield from rows_of(*whose, done.metrics)
    for name, metrics in done.groups.items():
        yield from rows_of(*whose, metrics, f"group {name}")


def _refuse_another_run(out: Path, plays: Sequence[_Play]) -> None:
    """Raises ScenarioError if the folder has results of an earlier run that these episodes do not replace."""
    folders = {play.folder for play in plays}
    for config in sorted((*out.glob("*/config.yaml"), *out.glob("*/seed-*/config.yaml"))):
        if (folder := str(config.parent.relative_to(out))) not in folders:
            raise ScenarioError(
                f"--out: {out} has {folder} of an earlier run: name another folder, or remove {config.parent}"
            )


def _check_cell(arguments: Given, names: Sequence[str], allow_imports: bool) -> None:
    """Raises ScenarioError if the cell's own policy would run code without permission."""
    cell = arguments.cell
    if (
        cell is not None
        and cell.policy is not None
        and (not names or cell.name in names)
        and not allow_imports
    ):
        raise ScenarioError(
            f"{arguments.scenario.source}: controller: policy: would run the code of {cell.policy!r}; "
            "if you trust it: --allow-imports"
        )


def _players(arguments: Given, names: Sequence[str], others: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the players in the order of the command line."""
    if arguments.cell is not None and not (names or others):
        yield arguments.cell
    for name in names:
        if arguments.cell is not None and name == arguments.cell.name:
            yield arguments.cell
            continue
        controller = named_controller(name)
        attributes = {**controller.attributes, **arguments.attributes.get(name, {})}
        yield Entry(name=name, controller=controller.name, attributes=attributes)
    yield from others


def _plays(
    scenario: Scenario, players: Sequence[Entry], attributes: Attributes, seeds: Sequence[int]
) -> Iterator[tuple[str, Entry | None, Scenario]]:
    """Each episode's folder, player and scenario: player by player, seed by seed."""
    several = len(seeds) > 1
    for entry in players or (None,):
        name = _together(scenario) if entry is None else entry.name
        entry_scenario = _as_it_stands(scenario, attributes) if entry is None else scenario
        for seed in seeds or (scenario.seed,):
            folder = f"{name}/seed-{seed}" if several else name
            yield folder, entry, entry_scenario.with_seed(seed) if seeds else entry_scenario


def _together(scenario: Scenario) -> str:
    """The name of a run with the scenario's own controllers. Raises ScenarioError without any."""
    names = [controller.name for controller in scenario.controllers]
    if AGENT in names:
        raise ScenarioError(
            "--controllers: name one, or a --checkpoint NAME=PATH; the scenario itself leaves flows to a "
            f"policy ({scenario.source}: controllers: {', '.join(names)})"
        )
    return "+".join(names)


def _as_it_stands(scenario: Scenario, attributes: Attributes) -> Scenario:
    """Each flow under the controller that the scenario gives it."""
    controllers = [
        x.model_copy(update={"attributes": {**x.attributes, **attributes.get(x.name, {})}})
        for x in scenario.controllers
    ]
    return scenario.model_copy(update={"controllers": controllers})


def _record(scenario: Scenario, queue_series_ns: int | None, pcap: bool, trace: bool, film: bool) -> Record:
    """Returns the record of each controller: the scenario's, with the options' and the queues."""
    if queue_series_ns is not None and queue_series_ns <= 0:
        raise ScenarioError(f"--queue-series: {queue_series_ns} ns is no interval")
    if queue_series_ns is not None and (text := excess(queue_series_ns, MAX_TIME_NS, WHY_TIME)) is not None:
        raise ScenarioError(f"--queue-series: {text}")
    if scenario.record.pcap is not None:
        raise ScenarioError(
            f"{scenario.source}: record.pcap: the controllers would write the same files; "
            "--pcap gives each its own"
        )
    update: dict[str, Any] = {"queues": True}
    if trace:
        update |= {"windows": True, "events": True, "controller_state": True}
        update["queue_series_ns"] = recorded(scenario).record.queue_series_ns
    if film:
        update["film_ns"] = (
            queue_series_ns or scenario.record.film_ns or recorded(scenario).record.queue_series_ns
        )
    if queue_series_ns is not None:
        update["queue_series_ns"] = queue_series_ns
    if not pcap:
        update["pcap_ports"] = None
    return scenario.record.model_copy(update=update)


def _queue_samples(scenario: Scenario) -> int:
    """Maximum number of samples of all queue series together: fewer if flows end before the time limit."""
    if not scenario.record.queue_series_ns:
        return 0
    network = scenario.topology.build()
    ports = sum(network.nodes[end] == "switch" for link in network.links for end in (link.a, link.b))
    return ports * (scenario.time_limit_ns // scenario.record.queue_series_ns + 1)


def _capturing(scenario: Scenario, folder: Path) -> Scenario:
    """The scenario with a capture of its ports in the folder: FOLDER/pcap/CONTROLLER.pcapng."""
    prefix = folder.absolute() / "pcap" / scenario.controllers[0].name
    return scenario.model_copy(update={"record": scenario.record.model_copy(update={"pcap": str(prefix)})})
