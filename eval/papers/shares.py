# SPDX-License-Identifier: GPL-2.0-or-later
"""Each flow's share of a link over time, counted frame by frame in a capture of a port."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ns3_env.errors import SimulatorError
from ns3_env.eval.episodes.flow_series import flow_colours
from ns3_env.eval.output.plots import time_unit
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.seen import Port
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats, Results, flow_column

#: Kept of a frame: up to its queue pair, and less than the shortest one, so that all records are alike.
_SNAP = 50
_RECORD = np.dtype(
    [("s", "<u4"), ("ns", "<u4"), ("kept", "<u4"), ("length", "<u4"), ("frame", "u1", (_SNAP,))]
)
_FILE_HEADER_BYTES = 24
#: Read at a time.
_CHUNK = 1_000_000
#: Headers of a captured data frame, places in it, opcodes of RC SENDs (docs/decisions/0006-pcap.md).
_CAPTURED_HEADERS = 58
_ETHERTYPE, _OPCODE, _QUEUE_PAIR = 12, 42, 47
_SENDS = (0, 1, 2, 4)
#: A flow's queue pair is its number and this.
_FIRST_QUEUE_PAIR = 2
_Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shares:
    """One run, and each flow's share of a link over time.

    Attributes:
        results: the simulator's.
        share: of the link's rate, bytes on the wire: (flows, bins) from time 0 on; the last bin may be cut.
        bin_ns: length of a bin.
    """

    results: Results
    share: Floats
    bin_ns: int

    def between(self, begin_ns: float, end_ns: float) -> Floats:
        """Shares in the whole bins of an interval: (flows, bins)."""
        return self.share[:, -(-round(begin_ns) // self.bin_ns) : int(end_ns // self.bin_ns)]


def shares_of(simulator: Simulator, scenario: Scenario, port: Port, bin_ns: int, rate_bps: float) -> Shares:
    """Plays a scenario and counts the data frames that a port sends.

    Args:
        simulator: plays it.
        scenario: as it is, but for the capture.
        port: whose frames are counted.
        bin_ns: length of a bin.
        rate_bps: of the port's link.

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
        for times, owners, payload in _data_frames(Path(folder, f"port-{port[0]}-{port[1]}.pcap")):
            np.add.at(counted, (owners, times // bin_ns), payload + overhead[owners])
    return Shares(results, counted * 8e9 / (bin_ns * rate_bps), bin_ns)


def _data_frames(file: Path) -> Iterator[tuple[_Integers, _Integers, _Integers]]:
    """(time in ns, flow, payload bytes) of the data frames, a chunk at a time."""
    with file.open("rb") as stream:
        stream.seek(_FILE_HEADER_BYTES)
        while len(records := np.fromfile(stream, _RECORD, _CHUNK)):
            if (records["kept"] != _SNAP).any():
                raise SimulatorError(f"{file.name}: a frame shorter than {_SNAP} B, or another byte order")
            frames = records["frame"]
            roce = (frames[:, _ETHERTYPE] == 0x08) & (frames[:, _ETHERTYPE + 1] == 0x00)
            data = roce & np.isin(frames[:, _OPCODE], _SENDS)
            own = records[data]
            pairs = own["frame"][:, _QUEUE_PAIR : _QUEUE_PAIR + 3].astype(np.int64) @ (65536, 256, 1)
            yield (
                own["s"].astype(np.int64) * 10**9 + own["ns"],
                pairs - _FIRST_QUEUE_PAIR,
                own["length"].astype(np.int64) - _CAPTURED_HEADERS,
            )


def draw_shares(
    runs: Mapping[str, Shares],
    until_ns: float,
    names: Sequence[str],
    title: str = "{}",
    together: int = 1,
    height: float = 2.3,
    width: float = 1.1,
) -> bytes:
    """Each flow's share of the link up to an instant, a panel for each run.

    Args:
        runs: by name.
        until_ns: end of the axes.
        names: of the flows.
        title: of a panel; {} is the run's name.
        together: so many bins are drawn as their mean.
        height: of a row of panels, inches.
        width: of the lines, points.
    """
    unit, word = time_unit(until_ns)
    figure, several = panels([title.format(name.upper()) for name in runs], 2, height)
    for axes, run in zip(several, runs.values(), strict=True):
        bins = min(run.share.shape[1] - 1, int(until_ns // run.bin_ns)) // together  # the last may be cut
        kept = run.share[: len(names), : bins * together].reshape(len(names), bins, together).mean(axis=2)
        middles = (np.arange(bins) + 0.5) * together * run.bin_ns / unit
        for share, colour, name in zip(kept, flow_colours(len(names)), names, strict=True):
            axes.plot(middles, share, color=colour, linewidth=width, label=name)
        axes.set(
            xlabel=f"time ({word})", ylabel="share of the link", xlim=(0, until_ns / unit), ylim=(0, 1.05)
        )
    return finished(figure, several[0])


def shares_csv(runs: Mapping[str, Shares]) -> str:
    """All shares as CSV."""
    flows = max(len(run.share) for run in runs.values())
    rows = [
        (name, k * run.bin_ns, *(round(float(x), 5) for x in own))
        for name, run in runs.items()
        for k, own in enumerate(run.share.T)
    ]
    return csv_text(("controller", "t_ns", *(f"flow_{i}" for i in range(flows))), rows)
