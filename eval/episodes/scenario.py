# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays a scenario file under the simulator's controllers, with a folder of results for each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ns3_env.config.bounds import MAX_TIME_NS, WHY_TIME, excess
from ns3_env.config.folders import refuse_foreign, replace_folder
from ns3_env.config.packaged import find_file
from ns3_env.errors import ScenarioError
from ns3_env.eval.episodes.arguments import Attributes, overridden
from ns3_env.eval.episodes.results import FILES, write_results
from ns3_env.eval.episodes.series import write_series
from ns3_env.eval.episodes.trained import trained_policies
from ns3_env.eval.metrics import line, without_nan
from ns3_env.eval.plots import table
from ns3_env.eval.plots.told import told
from ns3_env.policies.released import named_controller
from ns3_env.scenario import AGENT, Record, Scenario
from ns3_env.simulator import Simulator

#: Samples of queues beyond which it is said how many there will be.
_MANY_SAMPLES = 1_000_000


def run(
    scenario_file: Path,
    names: Sequence[str],
    out: Path,
    json_file: Path | None = None,
    console: Console | None = None,
    *,
    queue_series_ns: int | None = None,
    pcap: bool = False,
    checkpoints: Sequence[str] = (),
    overrides: Sequence[str] = (),
    hang_timeout_s: float = 0.9,
) -> dict[str, dict[str, float]]:
    """Plays the scenario under each controller, writes ``out``/NAME for each and prints the table.

    Args:
        scenario_file: the scenario's YAML.
        names: the simulator's controllers, and released policies; none, and no checkpoint: the scenario's own
            ``controllers`` play it as it stands, into one folder, ``out``/A+B for A and B.
        out: parent of the folders; one of an earlier run is replaced.
        json_file: where the table's numbers are written too.
        console: where the table is printed.
        queue_series_ns: sampling interval of ``queue_series.csv``; None: the scenario's.
        checkpoints: "NAME=PATH" of trained policies; the simulator plays them as it does its controllers.
        overrides: "key=value" of the scenario's keys, dotted, and "NAME.ATTRIBUTE=value" of controllers.
        pcap: each controller's folder gets a folder ``pcap``, with a capture of every port.
        hang_timeout_s: see :class:`ns3_env.simulator.Simulator`.

    Raises:
        ScenarioError: the scenario, an option, or the name of a controller, is wrong.
        SimulatorError: the simulator failed.
    """
    file = find_file(scenario_file, "configs/scenarios")
    scenario, attributes = overridden(file, names, overrides)
    policies = trained_policies(checkpoints, names)
    record = _record(scenario, queue_series_ns, pcap)
    variants = {}
    for name in names:
        who = named_controller(name)
        own = {**who.attributes, **attributes.get(name, {})}
        variants[name] = scenario.under(who.name, own).model_copy(update={"record": record})
    for name, policy in policies.items():
        variants[name] = scenario.under(AGENT).playing(policy).model_copy(update={"record": record})
    if not variants:
        variants = {_together(scenario): _as_it_stands(scenario, attributes, record)}
    if pcap:
        variants = {name: _capturing(variant, out / name) for name, variant in variants.items()}
    out.mkdir(parents=True, exist_ok=True)
    for name, variant in variants.items():
        variant.to_simulator_json()  # what is wrong with one is said before the first has run for hours
        refuse_foreign(out / name, FILES, "run's folder")
    console = console or Console()
    samples = _queue_samples(scenario.model_copy(update={"record": record}))
    if samples > _MANY_SAMPLES:
        console.print(
            f"queue series: up to {samples / 1e6:,.1f} million samples under each controller, one per "
            f"switch port every {record.queue_series_ns} ns until {scenario.time_limit_ns / 1e6:g} ms"
        )
    rows: dict[str, dict[str, float]] = {}
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
    with progress, Simulator(hang_timeout_s=hang_timeout_s) as simulator:
        for number, (name, variant) in enumerate(variants.items(), start=1):
            what = f"{name} ({number} of {len(variants)})"
            task = progress.add_task(what, total=None)
            began = time.monotonic()
            results: dict[str, Any] = {}

            def write(folder: Path, variant: Scenario = variant, results: dict[str, Any] = results) -> None:
                if pcap:
                    (folder / "pcap").mkdir()
                results.update(simulator.play(_capturing(variant, folder) if pcap else variant))
                write_results(folder, variant, results)
                write_series(folder, results)

            with told(console, what.__str__):
                replace_folder(out / name, write)
            rows[name] = line(results)
            progress.remove_task(task)
            progress.console.print(
                f"{out / name}: {time.monotonic() - began:.1f} s", highlight=False, markup=False
            )
    flows = len(results["flows"]["src"])
    table.show(
        f"{flows} flows, {scenario.topology.kind} ({scenario_file}){scenario.measured_text()}", rows, console
    )
    for warning in scenario.warnings():
        console.print(f"warning: {warning}", highlight=False, markup=False)
    if json_file is not None:
        table.write_json(json_file, {name: without_nan(metrics) for name, metrics in rows.items()})
    return rows


def _together(scenario: Scenario) -> str:
    """The name under which the scenario's own controllers play it. Raises ScenarioError without any."""
    names = [controller.name for controller in scenario.controllers]
    if AGENT in names:
        raise ScenarioError(
            "--controllers: name one, or a --checkpoint NAME=PATH; the scenario itself leaves flows to a "
            f"policy ({scenario.source}: controllers: {', '.join(names)})"
        )
    return "+".join(names)


def _as_it_stands(scenario: Scenario, attributes: Attributes, record: Record) -> Scenario:
    """Each flow under the controller that the scenario gives it."""
    controllers = [
        x.model_copy(update={"attributes": {**x.attributes, **attributes.get(x.name, {})}})
        for x in scenario.controllers
    ]
    return scenario.model_copy(update={"controllers": controllers, "record": record})


def _record(scenario: Scenario, queue_series_ns: int | None, pcap: bool) -> Record:
    """What is recorded under each controller: the scenario's record, the options', and the queues."""
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
    if queue_series_ns is not None:
        update["queue_series_ns"] = queue_series_ns
    if not pcap:
        update["pcap_ports"] = None
    return scenario.record.model_copy(update=update)


def _queue_samples(scenario: Scenario) -> int:
    """Most samples of all queue series together: fewer where the flows are done before the time limit."""
    if not scenario.record.queue_series_ns:
        return 0
    network = scenario.topology.build()
    ports = sum(network.nodes[end] == "switch" for link in network.links for end in (link.a, link.b))
    return ports * (scenario.time_limit_ns // scenario.record.queue_series_ns + 1)


def _capturing(scenario: Scenario, folder: Path) -> Scenario:
    """The scenario with a capture of its ports in the folder: FOLDER/pcap/CONTROLLER-NODE-PORT.pcap."""
    prefix = folder.absolute() / "pcap" / scenario.controllers[0].name
    return scenario.model_copy(update={"record": scenario.record.model_copy(update={"pcap": str(prefix)})})
