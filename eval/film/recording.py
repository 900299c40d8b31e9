# SPDX-License-Identifier: GPL-2.0-or-later
"""Samples of a run's ports and flows: out of the results, into a folder's film.npz and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env.config.files import write_file
from ns3_env.errors import ScenarioError

Results = Mapping[str, Any]
Array = npt.NDArray[Any]

FILE = "film.npz"
#: Columns of the flows' table that the film has.
_FLOW_COLUMNS = ("src", "dst", "size_bytes", "start_ns", "end_ns", "base_rtt_ns", "acked_bytes")
#: Columns of each table, () if it is a row of numbers.
_WIDTHS = {
    "t_ns": (),
    "ports": (4,),
    "port_rows": (5,),
    "flow_rows": (7,),
    "losses": (5,),
    "hops": (3,),
    "flows": (len(_FLOW_COLUMNS),),
}
CAUSES = ("buffer_full", "link", "failure", "pause_storm", "trimmed")


@dataclass(frozen=True)
class Recording:
    """Samples of a run: times in ns, sizes in bytes, rates in bit/s.

    Attributes:
        t_ns: (n,) times of the samples: at a fixed interval, and at the run's end.
        ports: (p, 4): node, port, peer, rate; switches' and hosts' ports.
        port_rows: (m, 5): sample, port (a row of ``ports``), queue's length, bytes sent and ns paused since
            the sample before. Unchanged ports have no row.
        flow_rows: (k, 7): sample, flow, bytes acknowledged, bytes sent (the next sequence number), window,
            rate (both infinite: none), last RTT in ns (-1: not measured).
        losses: (l, 5): sample, node, port, packets, cause (a place in ``CAUSES``).
        hops: (h, 3): flow, node, port of each link of its path.
        flows: (f, 7): src, dst, size, start, end (-1: unfinished), base RTT, bytes acknowledged.
    """

    t_ns: Array
    ports: Array
    port_rows: Array
    flow_rows: Array
    losses: Array
    hops: Array
    flows: Array

    @classmethod
    def of(cls, results: Results) -> Recording:
        """Out of the results of a scenario with ``record.film_ns``."""
        film = results["film"]
        ports = film["ports"]
        losses = [(*row[:3], row[4], CAUSES.index(row[3])) for row in film["losses"]]
        hops = [(flow, node, port) for flow, route in film["routes"] for node, port in route]
        return cls(
            t_ns=np.asarray(film["t_ns"], np.float64),
            ports=_table([ports[name] for name in ("node", "port", "peer", "rate_bps")], 4),
            port_rows=np.frombuffer(base64.b64decode(film["port_rows"]), "<u4").reshape(-1, 5),
            flow_rows=np.frombuffer(base64.b64decode(film["flow_rows"]), "<f8").reshape(-1, 7),
            losses=np.asarray(losses, np.int64).reshape(-1, 5),
            hops=np.asarray(hops, np.int64).reshape(-1, 3),
            flows=_table([results["flows"][name] for name in _FLOW_COLUMNS], len(_FLOW_COLUMNS)),
        )

    def packed(self) -> bytes:
        """The content of film.npz."""
        file = BytesIO()
        np.savez_compressed(file, **vars(self))
        return file.getvalue()

    @classmethod
    def read(cls, folder: Path) -> Recording:
        """Reads a run's folder. Raises ScenarioError if it has no film, or a damaged one."""
        try:
            with np.load(folder / FILE, allow_pickle=False) as file:
                arrays = {name: file[name] for name in cls.__dataclass_fields__}
            for name, array in arrays.items():
                _check(name, array)
            return cls(**arrays)
        except Exception as error:  # zipfile and NumPy raise various errors on damaged files
            why = " ".join(str(error).split())[:200] or type(error).__name__
            raise ScenarioError(f"{folder / FILE}: cannot be read: {why}; run --watch writes it") from None


def _check(name: str, array: Array) -> None:
    """Raises ValueError for anything but a table of numbers of this name's width."""
    if array.dtype.kind not in "iuf" or array.shape[1:] != _WIDTHS[name] or array.ndim == 0:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, no table as --watch writes it")
    if name == "t_ns" and not (len(array) and np.isfinite(array).all()):
        raise ValueError("there are no samples")


def _table(columns: Sequence[Sequence[float]], width: int) -> Array:
    table: Array = np.array(columns, np.float64).T.reshape(-1, width)
    return table


@dataclass(frozen=True)
class FilmFiles:
    """Files of a film in a run's folder."""

    files: Sequence[str] = (FILE,)

    def write(self, folder: Path, results: Results, title: str) -> None:
        """Writes film.npz into a run's folder."""
        write_file(folder / FILE, Recording.of(results).packed())
