# SPDX-License-Identifier: GPL-2.0-or-later
"""A network's files for the published simulator and for this one, and the published one's results.

The formats: docs/sources/published-simulator.md, "Files".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ns3_env.config.files import write_file
from ns3_env.errors import ScenarioError
from ns3_env.eval.papers.published.published_scenarios import CONTROLLERS
from ns3_env.scenario.traffic.kind import DATA_GROUP
from ns3_env.scenario.traffic.published import DESTINATION_PORT

#: Rates of links (Gb/s) that the published HPCC knows.
HPCC_RATES = (25, 50, 100, 200, 400)
SCENARIO = "scenario.yaml"
RUN_ALL = "run.sh"

_FIRST_SOURCE_PORT = 10_000
_MIN_RATE_BPS = 1e9
_DCTCP_INCREASE_BPS = 615e6
#: Seconds that it is given.
STOP_S = 4
#: Completion time and standalone time of a flow, ns.
Completion = tuple[float, float]
_ROW = re.compile(r"[0-9a-f]{8} [0-9a-f]{8}( [0-9]+){6}")
#: Texts of files: the script, and a controller's configuration with places for values.
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class NetworkLink:
    """A link of topology.txt: ``delay`` with its unit."""

    a: int
    b: int
    rate_gbps: int
    delay: str


@dataclass(frozen=True)
class NetworkFlow:
    """A flow of flow.txt: ``start`` in seconds."""

    src: int
    dst: int
    size_bytes: int
    start: str


@dataclass(frozen=True)
class PublishedNetwork:
    """A network with its traffic. Node ids are 0 to ``nodes`` - 1, switches anywhere among them."""

    name: str
    nodes: int
    switches: list[int]
    links: list[NetworkLink]
    flows: list[NetworkFlow]
    host_rate_gbps: int
    buffer_mib: int


#: The differences between the published presets (docs/sources/published-simulator.md, "Controllers" and
#: "Switch"); rates in Mb/s and thresholds in kB are per Gb/s of a link.
_PRESETS = {
    # mode, increase, hyper-increase, gain, kmin, kmax, pmax, window, reacts to each ACK, ACKs come first
    "dcqcn": (1, 0.2, 2.0, 0.00390625, 4, 16, 0.2, 0, 0, 1),
    "hpcc": (3, 0.4, 0.4, 0.00390625, 4, 16, 0.2, 1, 1, 0),
    "timely": (7, 1.0, 5.0, 0.00390625, 4, 16, 0.2, 0, 0, 1),
    "dctcp": (8, 0.1, 0.1, 0.0625, 3, 3, 1.0, 1, 0, 0),
}


def network_files(network: PublishedNetwork, folder: Path) -> dict[str, str]:
    """Texts by file name, for ``folder``, whose path is in the files that the published simulator reads."""
    files = {
        "topology.txt": _topology(network),
        "flow.txt": _flow(network),
        "trace.txt": "0\n",
        SCENARIO: _scenario(network),
    }
    for controller in CONTROLLERS:
        files[f"{controller}.config.txt"] = _config(network, controller, folder.absolute())
    return files


def write_networks(networks: list[PublishedNetwork], folder: Path) -> None:
    """A folder for each network, and a script that has the published simulator run them all.

    Existing files stay if their content is the same.

    Raises:
        ScenarioError: an existing file has other content; or a path that the published simulator cannot read.
    """
    if re.search(r"\s", str(folder.absolute())):
        raise ScenarioError(f"{folder}: the published simulator cannot read paths with spaces in them")
    for network in networks:
        record = folder / network.name
        record.mkdir(parents=True, exist_ok=True)
        for name, text in network_files(network, record).items():
            path = record / name
            if not path.exists():
                write_file(path, text)
            elif not name.endswith(".config.txt") and path.read_text(encoding="utf-8") != text:
                raise ScenarioError(
                    f"{path}: another one than is to be written; name another folder, or remove it"
                )
    write_file(folder / RUN_ALL, (_HERE / RUN_ALL).read_text(encoding="utf-8"))


def _topology(network: PublishedNetwork) -> str:
    rows = [f"{x.a} {x.b} {x.rate_gbps}Gbps {x.delay} 0" for x in network.links]
    head = f"{network.nodes} {len(network.switches)} {len(rows)}"
    return "\n".join([head, " ".join(map(str, network.switches)), *rows, ""])


def _flow(network: PublishedNetwork) -> str:
    rows = [
        f"{x.src} {x.dst} {DATA_GROUP} {DESTINATION_PORT} {x.size_bytes} {x.start}" for x in network.flows
    ]
    return "\n".join([str(len(rows)), *rows, ""])


def _scenario(network: PublishedNetwork) -> str:
    increase = _DCTCP_INCREASE_BPS / (network.host_rate_gbps * 1e9)
    return f"""\
preset: published
time_limit_ns: {STOP_S * 10**9}
topology: {{kind: published, file: topology.txt}}
traffic: {{kind: published, file: flow.txt}}
min_rate_bps: {_MIN_RATE_BPS}
switch: {{buffer_bytes: {network.buffer_mib * 2**20}}}
controllers:
- name: dctcp
  attributes: {{AdditiveIncrease: {increase:.12g}}}
"""


def _config(network: PublishedNetwork, controller: str, folder: Path) -> str:
    mode, increase, hyper, gain, kmin, kmax, pmax, window, fast, acks_first = _PRESETS[controller]
    host = network.host_rate_gbps
    rates = sorted({link.rate_gbps for link in network.links})

    def by_rate(value: Callable[[int], str]) -> str:
        return " ".join([str(len(rates)), *(f"{rate}000000000 {value(rate)}" for rate in rates)])

    template = (_HERE / "config.txt").read_text(encoding="utf-8")
    return template.format(
        controller=controller,
        folder=folder,
        buffer_mib=network.buffer_mib,
        stop_s=STOP_S,
        after_ns=(STOP_S + 1) * 10**9,
        mode=mode,
        increase=increase * host,
        hyper=hyper * host,
        gain=gain,
        min_mbps=_MIN_RATE_BPS / 1e6,
        dctcp_mbps=_DCTCP_INCREASE_BPS / 1e6,
        int_multi=host // 25 if controller == "hpcc" else 1,
        window=window,
        fast=fast,
        acks_first=acks_first,
        kmin=by_rate(lambda rate: f"{kmin * rate:.0f}"),
        kmax=by_rate(lambda rate: f"{kmax * rate:.0f}"),
        pmax=by_rate(lambda rate: str(pmax)),
    )


def read_completions(path: Path, src: list[int], dst: list[int]) -> list[Completion | None]:
    """The published completion times of a scenario's flows, in their order; None for an unfinished flow.

    Args:
        path: a row for each flow that ended: addresses and ports of both ends, bytes, start, completion time,
            standalone time (ns).
        src, dst: hosts of the scenario's flows.

    Raises:
        ScenarioError: a row is invalid, or not of one of these flows.
    """
    number: dict[tuple[int, int, int], int] = {}
    before: Counter[tuple[int, int]] = Counter()
    for flow, pair in enumerate(zip(src, dst, strict=True)):
        number[pair[0], pair[1], _FIRST_SOURCE_PORT + before[pair]] = flow
        before[pair] += 1
    results: list[Completion | None] = [None] * len(src)
    for line, row in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not _ROW.fullmatch(row):
            raise ScenarioError(f"{path}:{line}: no row of completion times: {row[:80]!r}")
        source, destination, port, _, _, _, fct, standalone = row.split(" ")
        flow_of = number.get((_host(source), _host(destination), int(port)))
        if flow_of is None:
            raise ScenarioError(f"{path}:{line}: the scenario has no such flow: {row}")
        results[flow_of] = int(fct), int(standalone)
    return results


def _host(address: str) -> int:
    """The node of an address: 11.0.0.1 is node 0's, 11.0.1.1 node 1's."""
    return int(address, 16) >> 8 & 0xFFFF
