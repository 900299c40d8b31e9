# SPDX-License-Identifier: GPL-2.0-or-later
"""A network's files for the published simulator and for this one, and the published one's results.

The formats: docs/sources/published-simulator.md, "Files".
"""

from __future__ import annotations

import re
from collections import Counter
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

_RUN_ALL = """\
#!/bin/sh
# In the folder of the published simulator, which is built: sh DIR/run.sh. What has a result is left alone.
networks=$(cd "$(dirname "$0")" && pwd)
if ! output=$(./waf build 2>&1); then
  echo "./waf does not work in $(pwd): $(echo "$output" | tail -n 1)" >&2
  exit 2
fi
failures=0
for config in "$networks"/*/*.config.txt; do
  run="${config%.config.txt}"
  [ -e "$run.fct.txt" ] && continue
  echo "$config"
  ./waf --run "scratch/third $config" > "$run.log" 2>&1 &&
    mv "$run.fct.txt.part" "$run.fct.txt" 2>> "$run.log" && continue
  failures=$((failures + 1))
  echo "failed: $config; $run.log ends with:" >&2
  tail -n 5 "$run.log" >&2
done
[ "$failures" -eq 0 ] && exit
echo "failed runs: $failures" >&2
exit 1
"""


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
    write_file(folder / RUN_ALL, _RUN_ALL)


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

    def by_rate(per_gbps: float) -> str:
        return " ".join([str(len(rates)), *(f"{rate}000000000 {per_gbps * rate:.0f}" for rate in rates)])

    values: dict[str, object] = {
        "ENABLE_QCN": 1,
        "USE_DYNAMIC_PFC_THRESHOLD": 1,
        "PACKET_PAYLOAD_SIZE": 1000,
        "TOPOLOGY_FILE": folder / "topology.txt",
        "FLOW_FILE": folder / "flow.txt",
        "TRACE_FILE": folder / "trace.txt",
        "TRACE_OUTPUT_FILE": folder / f"{controller}.tr",
        "FCT_OUTPUT_FILE": folder / f"{controller}.fct.txt.part",
        "PFC_OUTPUT_FILE": folder / f"{controller}.pfc.txt",
        "SIMULATOR_STOP_TIME": STOP_S,
        "CC_MODE": mode,
        "ALPHA_RESUME_INTERVAL": 1,
        "RATE_DECREASE_INTERVAL": 4,
        "CLAMP_TARGET_RATE": 0,
        "RP_TIMER": 300,
        "EWMA_GAIN": gain,
        "FAST_RECOVERY_TIMES": 1,
        "RATE_AI": f"{increase * host:.0f}Mb/s",
        "RATE_HAI": f"{hyper * host:.0f}Mb/s",
        "MIN_RATE": f"{_MIN_RATE_BPS / 1e6:.0f}Mb/s",
        "DCTCP_RATE_AI": f"{_DCTCP_INCREASE_BPS / 1e6:.0f}Mb/s",
        "ERROR_RATE_PER_LINK": 0,
        "L2_CHUNK_SIZE": 4000,
        "L2_ACK_INTERVAL": 1,
        "L2_BACK_TO_ZERO": 0,
        "HAS_WIN": window,
        "GLOBAL_T": 1,
        "VAR_WIN": window,
        "FAST_REACT": fast,
        "U_TARGET": 0.95,
        "MI_THRESH": 0,
        "INT_MULTI": host // 25 if controller == "hpcc" else 1,
        "MULTI_RATE": 0,
        "SAMPLE_FEEDBACK": 0,
        "PINT_LOG_BASE": 1.01,
        "PINT_PROB": 1,
        "RATE_BOUND": 1,
        "ACK_HIGH_PRIO": acks_first,
        "LINK_DOWN": "0 0 0",
        "ENABLE_TRACE": 0,
        "KMAX_MAP": by_rate(kmax),
        "KMIN_MAP": by_rate(kmin),
        "PMAX_MAP": " ".join([str(len(rates)), *(f"{rate}000000000 {pmax}" for rate in rates)]),
        "BUFFER_SIZE": network.buffer_mib,
        "QLEN_MON_FILE": folder / f"{controller}.qlen.txt",
        "QLEN_MON_START": (STOP_S + 1) * 10**9,
        "QLEN_MON_END": (STOP_S + 1) * 10**9,
    }
    return "".join(f"{key} {value}\n" for key, value in values.items())


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
