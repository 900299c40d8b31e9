# SPDX-License-Identifier: GPL-2.0-or-later
"""Record of a run: columns of its results, and each flow's share of a link over time."""

from __future__ import annotations

import math
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ns3_env.errors import SimulatorError
from ns3_env.eval.episodes.flow_series import flow_colours
from ns3_env.eval.output.plots import time_unit
from ns3_env.eval.papers.panels import Drawing, Panel, labels
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats, Results, flow_column, flow_ends

#: (node, port).
Port = tuple[int, int]
#: Bytes of a frame that a capture has: up to its queue pair, and less than the shortest one, so that all
#: blocks have the same length.
_SNAP = 50
#: Enhanced Packet Block of pcapng with such a frame; behind it padding, options and the length once more.
_BLOCK = np.dtype(
    [
        *((name, "<u4") for name in ("type", "size", "interface", "high", "low", "kept", "length")),
        ("frame", "u1", (_SNAP,)),
        ("rest", "u1", (18,)),
    ]
)
_PACKET = 6
#: Blocks ahead of the first packet's, with one interface: of the section, and of the interface.
_HEADERS = 2
#: Blocks read at a time.
_CHUNK = 1_000_000
#: Headers of a captured data frame, places in it, opcodes of RC SENDs (docs/decisions/0006).
_CAPTURED_HEADERS = 58
_ETHERTYPE, _OPCODE, _QUEUE_PAIR = 12, 42, 47
_SENDS = (0, 1, 2, 4)
#: A flow's queue pair is its number and this.
_FIRST_QUEUE_PAIR = 2
_Integers = npt.NDArray[np.int64]


class Run:
    """One run; columns of the results as arrays.

    Attributes:
        flows: columns, (n,) each.
        ports: the ports' records without their series.
        lengths: queues' samples, bytes, by port.
        times_ns: times of the samples, the same for all ports.
        changes: (changes, 3) time (ns), flow, bit/s of each change of a rate.
        rtt, totals, losses: sections of the results.
        span_ns: length of the measurement window; NaN without one.
    """

    def __init__(self, results: Results) -> None:
        self.flows = {name: np.asarray(item, dtype=np.float64) for name, item in results["flows"].items()}
        queues = {(port["node"], port["port"]): port for port in results["queues"]}
        self.ports = {key: {**port, "series": None} for key, port in queues.items()}
        series = {key: port["series"] for key, port in queues.items() if "series" in port}
        self.lengths = {key: np.asarray(item["bytes"], dtype=np.float64) for key, item in series.items()}
        self.times_ns = np.asarray(next(iter(series.values()))["t_ns"] if series else [], dtype=np.float64)
        rates = [(t, flow, rate) for t, flow, _, rate in results.get("windows", ()) if rate is not None]
        self.changes = np.array(rates, dtype=np.float64).reshape(-1, 3)
        self.rtt, self.totals, self.losses = results.get("rtt", {}), results["totals"], results["losses"]
        window = results.get("measurement")
        self.span_ns = float(np.diff(window["interval_ns"])[0]) if window else math.nan
        self.flow_ends_ns = flow_ends(results) if "end_ns" in self.flows else np.zeros(0)
        self.end_ns = float(self.totals["end_ns"])

    @property
    def fcts_ms(self) -> Floats:
        """Completion times; NaN of flows that did not finish: (n,)."""
        return np.where(self.flows["fct_ns"] < 0, np.nan, self.flows["fct_ns"]) / 1e6

    @property
    def timeouts(self) -> int:
        """Number of timeouts of all flows."""
        return int(self.flows["timeouts"].sum())

    @property
    def lost(self) -> int:
        """Number of packets lost anywhere."""
        return int(self.totals["dropped_packets"])

    @cached_property
    def step_ns(self) -> float:
        """Time from sample to sample of the queues."""
        return float(self.times_ns[1] - self.times_ns[0])

    def queue(self, port: Port, begin_ns: float, end_ns: float, each_ns: float = 0.0) -> Floats:
        """A queue in an interval, bytes: each ``each_ns``, or as finely as it was sampled from time 0 on."""
        item = self.lengths[port][round(begin_ns / self.step_ns) : round(end_ns / self.step_ns)]
        return item[:: max(1, round(each_ns / self.step_ns))]

    def used(self, port: Port) -> float:
        """Share of a port's rate that it sent at in the measurement window."""
        item = self.ports[port]
        return float(item.get("window_tx_bytes", 0) * 8e9 / (item["rate_bps"] * self.span_ns))

    def rates_at(self, times_ns: Floats, below_bps: float = math.inf) -> Floats:
        """Sending rates at ascending times, bit/s: (flows, times); 0 before a flow's first change.

        Changes to rates that are not below ``below_bps`` do not count: the simulator shows the rate of the
        host's link for a flow that is not paced.
        """
        changes = self.changes[self.changes[:, 2] < below_bps]
        rates = np.zeros((len(self.flows["src"]), len(times_ns)))
        for flow in range(len(rates)):
            item = changes[changes[:, 1] == flow]
            steps = np.concatenate([[0.0], item[:, 2]])
            rates[flow] = steps[np.searchsorted(item[:, 0], times_ns, side="right")]
        return rates

    def mean_rates(self, begin_ns: float, end_ns: float, moments: int = 2000) -> Floats:
        """Each flow's sending rate in an interval, the mean over this number of moments, bit/s: (flows,)."""
        means: Floats = self.rates_at(np.linspace(begin_ns, end_ns, moments)).mean(axis=1)
        return means


def mean(values: Iterable[float]) -> float:
    """The mean of some numbers."""
    return float(np.mean(list(values)))


def finished_ns(results: Results) -> float:
    """Time (ns) at which the last receiver had all of its flow, with jobs; NaN if one did not finish."""
    ends = flow_column(results, "delivered_ns")
    return math.nan if (ends < 0).any() else float(ends.max())


def first(times: Floats, where: npt.NDArray[np.bool_]) -> float:
    """The first of these times at which ``where`` is true; NaN if it never is."""
    places = np.flatnonzero(where)
    return float(times[places[0]]) if len(places) else math.nan


def distribution(values: Floats) -> tuple[Floats, Floats]:
    """Values in order, and the share of all that are no larger."""
    return np.sort(values), np.arange(1, len(values) + 1) / len(values)


@dataclass(frozen=True)
class Shares:
    """One run, and each flow's share of a link over time.

    Attributes:
        results: results of the simulator.
        share: (flows, bins) shares of the link's rate, bytes on the wire, from time 0 on; the last bin may be
            cut.
        bin_ns: length of a bin.
    """

    results: Results
    share: Floats
    bin_ns: int

    def between(self, begin_ns: float, end_ns: float) -> Floats:
        """Shares in the whole bins of an interval: (flows, bins)."""
        return self.share[:, -(-round(begin_ns) // self.bin_ns) : int(end_ns // self.bin_ns)]


def count_shares(simulator: Simulator, scenario: Scenario, port: Port, bin_ns: int) -> Shares:
    """Runs a scenario and counts the data frames that a port sends, as shares of the rate of its link.

    Raises:
        ScenarioError: the simulator refuses the scenario.
        SimulatorError: it failed, or wrote another kind of capture.
    """
    with tempfile.TemporaryDirectory() as folder:
        update = {"pcap": f"{folder}/port", "pcap_ports": [port], "pcap_snaplen": _SNAP}
        record = scenario.record.model_copy(update=update)
        results = simulator.play(scenario.model_copy(update={"record": record}))
        counted = np.zeros((len(results["flows"]["src"]), int(results["totals"]["end_ns"] // bin_ns) + 1))
        overhead = flow_column(results, "header_bytes")
        for times, owners, payload in _data_frames(Path(folder, "port.pcapng")):
            np.add.at(counted, (owners, times // bin_ns), payload + overhead[owners])
    rate_bps = next(x["rate_bps"] for x in results["queues"] if (x["node"], x["port"]) == port)
    return Shares(results, counted * 8e9 / (bin_ns * rate_bps), bin_ns)


def _data_frames(file: Path) -> Iterator[tuple[_Integers, _Integers, _Integers]]:
    """(time in ns, flow, payload bytes) of the data frames, a chunk at a time."""
    with file.open("rb") as stream:
        for _ in range(_HEADERS):
            _, size = struct.unpack("<II", stream.read(8))
            stream.seek(size - 8, os.SEEK_CUR)
        while len(blocks := np.fromfile(stream, _BLOCK, _CHUNK)):
            if (blocks["type"] != _PACKET).any() or (blocks["kept"] != _SNAP).any():
                raise SimulatorError(f"{file.name}: a frame shorter than {_SNAP} B, or another byte order")
            frames = blocks["frame"]
            roce = (frames[:, _ETHERTYPE] == 0x08) & (frames[:, _ETHERTYPE + 1] == 0x00)
            item = blocks[roce & np.isin(frames[:, _OPCODE], _SENDS)]
            pairs = item["frame"][:, _QUEUE_PAIR : _QUEUE_PAIR + 3].astype(np.int64) @ (65536, 256, 1)
            yield (
                (item["high"].astype(np.int64) << 32) + item["low"],
                pairs - _FIRST_QUEUE_PAIR,
                item["length"].astype(np.int64) - _CAPTURED_HEADERS,
            )


def draw_shares(
    runs: Mapping[str, Shares],
    until_ns: float,
    names: Sequence[str],
    title: str = "{}",
    together: int = 1,
    height: float = 2.3,
    width: float = 1.1,
) -> Drawing:
    """Each flow's share of the link up to an instant, a panel for each run, whose name is {} in ``title``.

    Every ``together`` bins are drawn as their mean; ``height`` of a row of panels is in inches, ``width``
    of lines in points.
    """
    unit, word = time_unit(until_ns)
    axes = labels(f"time ({word})", "share of the link", xlim=(0, until_ns / unit), ylim=(0, 1.05))
    several = []
    for name, run in runs.items():
        bins = min(run.share.shape[1] - 1, int(until_ns // run.bin_ns)) // together  # the last may be cut
        means = run.share[: len(names), : bins * together].reshape(len(names), bins, together).mean(axis=2)
        middles = (np.arange(bins) + 0.5) * together * run.bin_ns / unit
        curves = [
            (middles, share, flow, {"color": colour, "linewidth": width})
            for share, colour, flow in zip(means, flow_colours(len(names)), names, strict=True)
        ]
        several.append(Panel(title.format(name.upper()), curves, axes))
    return Drawing(several, height=height)
