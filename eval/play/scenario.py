# SPDX-License-Identifier: GPL-2.0-or-later
"""What do the simulator's controllers do on a scenario file? A folder of flows and queues for each."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from agents.training.run_folder import versions
from eval.metrics import line, without_nan
from eval.play.series import FILES as SERIES_FILES
from eval.play.series import write_series
from eval.show import table
from ns3_env.errors import ScenarioError, SimulatorDied
from ns3_env.scenario import AGENT, Controller, Record, Scenario
from ns3_env.simulator import Decisions, EpisodeEnd, Simulator, find_executable, list_controllers

FLOW_COLUMNS = ("src", "dst", "size_bytes", "start_ns", "fct_ns", "standalone_ns")
QUEUE_COLUMNS = (
    "node",
    "port",
    "peer",
    "rate_bps",
    "mean_bytes",
    "p50_bytes",
    "p95_bytes",
    "p99_bytes",
    "max_bytes",
    "tx_bytes",
    "paused_ns",
    "pause_frames",
)
#: What a controller's folder may hold.
FILES = ("flows.csv", "queues.csv", "counters.csv", "config.yaml", *SERIES_FILES, "pcap")


def run(
    scenario_file: Path,
    names: Sequence[str],
    out: Path,
    json_file: Path | None = None,
    console: Console | None = None,
    *,
    queue_series_ns: int | None = None,
    pcap: bool = False,
) -> dict[str, dict[str, float]]:
    """Plays the scenario under each controller, writes ``out``/NAME for each and prints the table.

    Args:
        scenario_file: the scenario's YAML.
        names: the simulator's controllers.
        out: parent of the folders; one of an earlier run is replaced.
        json_file: where the table's numbers are written too.
        console: where the table is printed.
        queue_series_ns: sampling interval of ``queue_series.csv``; None: the scenario's.
        pcap: each controller's folder gets a folder ``pcap``, with a capture of every port.

    Raises:
        ScenarioError: the scenario, an option, or the name of a controller, is wrong.
        SimulatorError: the simulator failed.
    """
    scenario = Scenario.load(scenario_file)
    check_names(names)
    record = _record(scenario, queue_series_ns, pcap)
    variants = {name: under(scenario, name).model_copy(update={"record": record}) for name in names}
    if pcap:
        variants = {name: _capturing(variant, out / name) for name, variant in variants.items()}
    out.mkdir(parents=True, exist_ok=True)
    for name, variant in variants.items():
        variant.to_simulator_json()  # what is wrong with one is said before the first has run for hours
        _refuse_foreign(out / name)
    console = console or Console()
    rows: dict[str, dict[str, float]] = {}
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with progress, Simulator() as simulator:
        for number, (name, variant) in enumerate(variants.items(), start=1):
            task = progress.add_task(f"{name} ({number} of {len(names)})", total=None)
            began = time.monotonic()
            results: dict[str, Any] = {}

            def write(folder: Path, variant: Scenario = variant, results: dict[str, Any] = results) -> None:
                if pcap:
                    (folder / "pcap").mkdir()
                results.update(play(simulator, _capturing(variant, folder) if pcap else variant))
                write_results(folder, variant, results)
                write_series(folder, results)

            replace_folder(out / name, write)
            rows[name] = line(results)
            progress.remove_task(task)
            progress.console.print(f"{out / name}: {time.monotonic() - began:.1f} s", highlight=False)
    flows = len(results["flows"]["src"])
    table.show(f"{flows} flows, {scenario.topology.kind} ({scenario_file})", rows, console)
    if json_file is not None:
        table.write_json(json_file, {name: without_nan(metrics) for name, metrics in rows.items()})
    return rows


def check_names(names: Sequence[str]) -> None:
    """Raises ScenarioError for a controller that the simulator does not have, or that is there twice."""
    known = [name for name in list_controllers() if name != AGENT]
    for i, name in enumerate(names):
        if name not in known:
            raise ScenarioError(f"--controllers: unknown controller {name!r}; known: {', '.join(known)}")
        if name in names[:i]:
            raise ScenarioError(f"--controllers: {name!r} is there twice")


def under(scenario: Scenario, name: str) -> Scenario:
    """The scenario with its flows under the controller ``name``.

    The controller keeps the attributes that the scenario gives it. Flows that the traffic itself puts under a
    controller stay there.

    Raises:
        ScenarioError: the traffic puts flows under "agent": there is no policy here.
    """
    if AGENT in scenario.traffic.named_controllers():
        raise ScenarioError(
            f"{scenario.source}: traffic.controller: flows under {AGENT!r} need a policy; "
            "name one of the simulator's controllers, or none"
        )
    first = next((c for c in scenario.controllers if c.name == name), Controller(name=name))
    others = [c for c in scenario.controllers if c.name not in (AGENT, name)]
    return scenario.model_copy(update={"controllers": [first, *others], "controlled_flows": None})


def _record(scenario: Scenario, queue_series_ns: int | None, pcap: bool) -> Record:
    """What is recorded under each controller: the scenario's record, the options', and the queues."""
    if queue_series_ns is not None and queue_series_ns <= 0:
        raise ScenarioError(f"--queue-series: {queue_series_ns} ns is no interval")
    if scenario.record.pcap is not None:
        raise ScenarioError(
            f"{scenario.source}: record.pcap: the controllers would write the same files; "
            "--pcap gives each its own"
        )
    update: dict[str, Any] = {"queues": True}
    if queue_series_ns is not None:
        update["queue_series_ns"] = queue_series_ns
    if not pcap:
        update["pcap_ports"] = None
    return scenario.record.model_copy(update=update)


def _capturing(scenario: Scenario, folder: Path) -> Scenario:
    """The scenario with a capture of its ports in the folder: FOLDER/pcap/CONTROLLER-NODE-PORT.pcap."""
    prefix = folder.absolute() / "pcap" / scenario.controllers[0].name
    return scenario.model_copy(update={"record": scenario.record.model_copy(update={"pcap": str(prefix)})})


def play(simulator: Simulator, scenario: Scenario) -> dict[str, Any]:
    """The results of one episode without a policy. Raises ScenarioError, SimulatorError."""
    simulator.send_reset(scenario)
    message: Decisions | EpisodeEnd = simulator.receive()
    if not isinstance(message, EpisodeEnd):
        raise RuntimeError("a controller asked for a decision")
    return message.results


def resolved(scenario: Scenario) -> dict[str, Any]:
    """Every value that the simulator ran with, defaults and attributes of controllers included."""
    sent = scenario.to_simulator_json()
    values = scenario.model_dump(mode="json")
    values["timing"] = sent["timing"]
    values["switch"] = sent["switch"]
    rates = {link.rate_bps for link in scenario.topology.build().access.values()}
    hundredth = rates.pop() / 100 if len(rates) == 1 else None
    values["min_rate_bps"] = sent.get("min_rate_bps", hundredth)
    values["controllers"] = [
        {
            "name": controller.name,
            "attributes": {**default_attributes(controller.name), **controller.attributes},
        }
        for controller in scenario.controllers
    ]
    return values


@functools.cache
def default_attributes(name: str) -> dict[str, str]:
    """A controller's ns-3 attributes and their defaults, as text."""
    command = [str(find_executable()), f"--PrintAttributes=rdma::{name}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise SimulatorDied(f"{' '.join(command)} ended with exit code {done.returncode}:\n{done.stderr}")
    return dict(re.findall(rf"--rdma::{re.escape(name)}::(\w+)=\[(.*)\]", done.stdout))


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Puts what ``write`` writes into a folder in the place of ``folder``, which is complete or not there."""
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        write(partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    if folder.exists():
        shutil.rmtree(folder)
    os.replace(partial, folder)


def write_results(
    folder: Path,
    scenario: Scenario,
    results: dict[str, Any],
    more_columns: Sequence[str] = (),
    used: Mapping[str, Any] | None = None,
) -> None:
    """Writes flows.csv, queues.csv, counters.csv and config.yaml into an existing folder.

    flows.csv: times in ns, ``fct_ns`` −1 and ``finished`` 0 where the time limit came first. queues.csv: a
    row for each switch port that sent anything; lengths are time-weighted. counters.csv, where a controller
    counts something: a row per flow, empty where its controller does not.

    Args:
        folder: where.
        scenario: as it was played.
        results: what came of it.
        more_columns: of flows.csv, beside ``FLOW_COLUMNS``.
        used: keys of config.yaml beside the scenario; versions by default.
    """
    flows = results["flows"]
    names = [*FLOW_COLUMNS, *more_columns]
    rows = [[*row, int(row[4] >= 0)] for row in zip(*(flows[name] for name in names), strict=True)]
    (folder / "flows.csv").write_text(table.csv_text([*names, "finished"], rows), encoding="utf-8")
    rows = [[port[name] for name in QUEUE_COLUMNS] for port in results["queues"]]
    (folder / "queues.csv").write_text(table.csv_text(QUEUE_COLUMNS, rows), encoding="utf-8")
    if counters := results["flow_counters"]:
        rows = [[flow, *row] for flow, row in enumerate(zip(*counters.values(), strict=True))]
        (folder / "counters.csv").write_text(table.csv_text(["flow", *counters], rows), encoding="utf-8")
    config = {
        "source": scenario.source,
        **(used or {"versions": versions()}),
        "scenario": resolved(scenario),
    }
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")


def _refuse_foreign(folder: Path) -> None:
    """Only a folder that this command wrote is replaced."""
    if not folder.exists():
        return
    others = [] if not folder.is_dir() else [p.name for p in folder.iterdir() if p.name not in FILES]
    if others or not folder.is_dir():
        what = f"holds {sorted(others)[0]}" if others else "is a file"
        raise ScenarioError(f"--out: {folder} {what}, so it is no earlier run's folder: name another")
