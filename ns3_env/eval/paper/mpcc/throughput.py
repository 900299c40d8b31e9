# SPDX-License-Identifier: GPL-2.0-or-later
"""Each flow's throughput over time, counted frame by frame in a capture of a port."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env.errors import SimulatorError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats, flow_column

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


def measured(
    simulator: Simulator, scenario: Scenario, port: tuple[int, int], bin_ns: int
) -> tuple[dict[str, Any], Floats]:
    """Plays a scenario and counts the data frames that a port sends.

    Args:
        simulator: plays it.
        scenario: as it is, but for the capture.
        port: (node, port).
        bin_ns: length of a bin.

    Returns:
        The results, and each flow's wire bytes in each bin from time 0 on: (flows, bins). The last bin may
        be cut by the end.

    Raises:
        ScenarioError: the simulator refuses the scenario.
        SimulatorError: it failed, or wrote another kind of capture.
    """
    with tempfile.TemporaryDirectory() as folder:
        record = scenario.record.model_copy(
            update={"pcap": f"{folder}/port", "pcap_ports": [port], "pcap_snaplen": _SNAP}
        )
        results = simulator.play(scenario.model_copy(update={"record": record}))
        flows = len(results["flows"]["src"])
        counted = np.zeros((flows, int(results["totals"]["end_ns"] // bin_ns) + 1))
        overhead = flow_column(results, "header_bytes")
        file = Path(folder, f"port-{port[0]}-{port[1]}.pcap")
        for times, owners, payload in _data_frames(file):
            np.add.at(counted, (owners, times // bin_ns), payload + overhead[owners])
    return results, counted


def shares(counted: Floats, bin_ns: int, rate_bps: float) -> Floats:
    """Shares of the link's rate, of wire bytes in bins: the thesis's normalised throughput (section 5.2)."""
    found: Floats = counted * 8e9 / (bin_ns * rate_bps)
    return found


def _data_frames(
    file: Path,
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
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
