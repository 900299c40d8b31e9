# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's flows as a list for the published simulator.

That simulator has no flows that wait for other flows. A list of their recorded start times is the same
traffic, as long as nothing else is changed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ns3_env.errors import ScenarioError
from ns3_env.eval.episodes.arguments import read_scenario
from ns3_env.eval.papers.published.published_files import (
    SCENARIO,
    STOP_S,
    NetworkFlow,
    NetworkLink,
    PublishedNetwork,
    write_networks,
)
from ns3_env.eval.papers.published.published_scenarios import CONTROLLERS
from ns3_env.scenario import Scenario
from ns3_env.simulator import default_attributes

#: Keys in which a list may differ from the run: its flows, and its records.
_FREE = {
    "flows",
    "dependencies",
    "jobs",
    "time_limit_ns",
    "record",
    "clock",
    "decision_quantum_ns",
    "controllers",
}


def network_of(run: Path) -> PublishedNetwork:
    """The network and the flows of a run's folder, with the starts that they had.

    Raises:
        ScenarioError: it is no run's folder, or the run used a feature that the published simulator lacks.
    """
    scenario = read_scenario(run / "config.yaml", (), ()).scenario
    network = scenario.topology.build()
    rates = {link.rate_bps for link in network.access.values()}
    buffer = scenario.to_simulator_json()["switch"]["buffer_bytes"]
    if len(rates) > 1 or any(link.rate_bps % 1e9 for link in network.links) or buffer % 2**20:
        raise ScenarioError(
            f"{run}: the published simulator knows one rate of hosts, whole Gb/s, and buffers of whole MiB"
        )
    published = PublishedNetwork(
        name="-".join(run.absolute().parts[-2:]),
        nodes=len(network.nodes),
        switches=[node for node, kind in enumerate(network.nodes) if kind == "switch"],
        links=[NetworkLink(x.a, x.b, int(x.rate_bps / 1e9), f"{x.delay_ns}ns") for x in network.links],
        flows=_flows(run / "flows.csv"),
        host_rate_gbps=int(rates.pop() / 1e9),
        buffer_mib=buffer // 2**20,
    )
    with TemporaryDirectory() as folder:
        write_networks([published], Path(folder))
        replay = Scenario.load(Path(folder) / published.name / SCENARIO)
    if other := list(_differences(scenario, replay)):
        raise ScenarioError(
            f"{run}: the published simulator cannot play it so: {'; '.join(other)}. Play the scenario with "
            "preset=published, seed=1 and without these"
        )
    return published


def _flows(path: Path) -> list[NetworkFlow]:
    """Flows in the order of their starts, as the published simulator reads them."""
    if not path.is_file():
        raise ScenarioError(f"{path}: there is no such file; give a folder of `eval run`")
    with path.open(newline="", encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        try:
            flows = [
                (rows.line_num, _flow(row), float(row["start_ns"]), row["finished"] == "1") for row in rows
            ]
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            why = f"has no column {error}" if isinstance(error, KeyError) else str(error)
            raise ScenarioError(f"{path}:{rows.line_num}: is no flows.csv of `eval run`: {why}") from None
    late = [flow for flow in flows if not flow[3] or flow[2] >= STOP_S * 1e9]
    if late:
        raise ScenarioError(
            f"{path}: {len(late)} of {len(flows)} flows did not end, or began after the {STOP_S} s that the "
            "published simulator is given; raise time_limit_ns, or play less"
        )
    if empty := [line for line, flow, _, _ in flows if flow.size_bytes < 1]:
        raise ScenarioError(f"{path}:{empty[0]}: size_bytes is below 1")
    return [flow for _, flow, _, _ in sorted(flows, key=lambda flow: flow[2])]


def _flow(row: Mapping[str, str]) -> NetworkFlow:
    return NetworkFlow(int(row["src"]), int(row["dst"]), int(row["size_bytes"]), _seconds(row["start_ns"]))


def _seconds(start_ns: str) -> str:
    """Half a nanosecond more than the start: truncation then removes that half, not a nanosecond."""
    whole = int(float(start_ns))
    return f"{whole // 10**9}.{whole % 10**9:09d}5"


def _differences(run_scenario: Scenario, replay: Scenario) -> Iterator[str]:
    """Yields each difference between the run and its list, as "key: value"."""
    controllers = [x.name for x in run_scenario.controllers]
    if len(controllers) > 1 or controllers[0] not in CONTROLLERS:
        yield f"controllers: {', '.join(controllers)} (it has {', '.join(CONTROLLERS)}, one in a run)"
        return
    had, has = run_scenario.to_simulator_json(), replay.under(controllers[0]).to_simulator_json()
    for key in sorted({*had, *has} - _FREE):
        yield from _unlike(key, had.get(key), has.get(key))
    default = default_attributes(controllers[0], run_scenario.transport)
    run_attributes, replay_attributes = ({**default, **x["controllers"][0]["attributes"]} for x in (had, has))
    yield from _unlike(controllers[0], run_attributes, replay_attributes)


def _unlike(key: str, had: Any, has: Any) -> Iterator[str]:
    """The innermost keys under which two values differ."""
    if isinstance(had, Mapping) and isinstance(has, Mapping):
        for name in sorted({*had, *has}):
            yield from _unlike(f"{key}.{name}", had.get(name), has.get(name))
    elif had != has:
        yield f"{key}: {str(had)[:60]}"
