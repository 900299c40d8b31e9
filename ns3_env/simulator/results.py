# SPDX-License-Identifier: GPL-2.0-or-later
"""Results that the simulator returns at an episode's end, and readers of their columns.

``results`` is a mapping:

``flows``
    columns of equal length: src, dst, size_bytes, start_ns, end_ns, fct_ns (both −1 if a flow did not
    finish), standalone_ns (ideal completion time on an idle network), base_rtt_ns (of one full packet on the
    flow's path; 0 for a flow that never started), payload_bytes and header_bytes (of a full data packet;
    headers include in-band telemetry), acked_bytes, retransmitted_bytes, pause_ns, timeouts. If flows
    never end there is a column ``endless`` (1: this one); their size_bytes is 0, standalone_ns −1 once they
    have started. With selective repeat, or ``record.reordering``, there are columns out_of_order_packets
    (data packets that came before an earlier one of the flow) and duplicate_bytes (payload that came though
    its receiver had it).
    If the scenario has groups, or traffic classes, there are ``group`` ("" of none) and ``class``, names.
    Under TCP there are columns rtt_samples (how many), rtt_mean_ns, rtt_p50_ns, rtt_p99_ns, rtt_max_ns: of
    the flow's data segments as its sender measures them; −1 if there was no sample.
    In a branch that its horizon cuts (:meth:`ns3_env.simulator.Simulator.branch`) there is left_ns: the time
    that the rest of the flow would need if its links were shared equally from then on and no flow joined, the
    longest of them counting (−1: it is done, has not started, or has no end).
    If flows wait for other flows there is delivered_ns: when the receiver had the last byte (−1: never).
    start_ns is then when they started; a flow that waited in vain has the run's end.
``steps``
    if flows wait for other flows: columns start_ns and end_ns of the computations, −1 if one never ran.
``jobs``
    if the scenario has training jobs: names and parts (collectives, "compute"), and columns over all flows
    and then all steps: job and part (indices, −1 of none), iteration, rank (that sends or computes), peer
    (that receives, −1 of a step).
``reordering``
    with those columns: the sums of either over all flows.
``rtt``
    under TCP: samples, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns over all flows' samples; −1 if
    there was none. ``percentiles_ns``: the 1 % to the 99 % point, a distribution to draw; empty without
    samples.
``streams``
    if the scenario has background of a constant rate: columns src, dst, rate_bps (on the wire), start_ns,
    stop_ns (−1: never), sent_bytes, received_bytes, lost_bytes (payload; the rest was on its way at the end).
    Streams are no flows: no other column has them, but queues, losses and totals count their packets.
``queues``
    one record for each switch port that sent anything; lengths in bytes, weighted by time. With traffic
    classes ``classes`` has a record for each: name, lengths, tx_bytes, paused_ns, pause_frames. With a PFC
    watchdog: pause_storms, and pause_storm_ns, their duration (of classes: the sum).
``losses``
    one record for each port (hosts' ones included) and cause that lost packets: node, port, peer, cause,
    packets (data, ACKs and NACKs), payload_bytes (of data packets). Causes: "buffer_full", a switch had no
    room for a packet that was to leave by this port; "link", lost on the link that the port sends on;
    "failure", on its way or waiting when that link failed, or sent to it while it was down; of packets that a
    switch had no route for, the port is the one that they came in by; "pause_storm", dropped by the port's
    PFC watchdog; "trimmed", the payload only, as there was no room for it: the header went on.
``paths``
    if the scenario has load balancing or failures: arrived_packets (data packets at receivers, of all
    flows), reordered_packets (of these: after one that was sent later, RFC 4737), reorder_distance (the most
    packets between one and the first that overtook it), outages (of single links). The flows then have
    columns reordered_packets and reorder_distance.
``all_active``
    ``interval_ns``: [start, end] of the time in which every flow was active, [0, 0] if they never were
    together; ``received_bytes``: in-order payload that each flow's receiver got in it, (n,) or empty.
``measurement``
    if the scenario has a measurement window: ``interval_ns``, its [start, end], and ``received_bytes``:
    in-order payload that each flow's receiver got in it, (n,). The flows then have a column ``counted`` (1:
    the flow starts within the window), the queues ``window_tx_bytes``, and queue lengths are those within it.
``pause_circle``
    only if PFC pauses wait for each other in a circle at the end, a deadlock: ``ports`` (node, port, and
    the peer that pauses it), each of which waits for the next; ``others``, the number of ports that wait for
    these; ``text``, a sentence.
``totals``
    sums over the network.
``film``
    with ``record.film_ns``: t_ns, samples' times; ports (node, port, peer, rate_bps), hosts' ones too; and
    samples of ports, flows, losses and ways (``ns3_env.eval.film.recording``).

Of TCP's flows ``pause_ns`` is 0, and so are all PFC counters of queues and totals.

``windows``, ``marks``, ``pauses`` and the queues' ``series`` exist if the scenario records them; the
first and the last may be arrays (:mod:`ns3_env.simulator.results`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Results = Mapping[str, Any]
Floats = npt.NDArray[np.float64]


def flow_column(results: Results, name: str) -> Floats:
    """A column of the results' flows: (n,)."""
    return np.asarray(results["flows"][name], dtype=np.float64)


def counted(results: Results) -> npt.NDArray[np.bool_]:
    """Returns which flows' completion times count: all, or those that start within the measurement window:
    (n,)."""
    flows = results["flows"]
    return np.asarray(flows.get("counted", np.ones(len(flows["fct_ns"]))), dtype=np.bool_)


def endless(results: Results) -> npt.NDArray[np.bool_]:
    """Returns which flows have no end to reach: they are not unfinished: (n,)."""
    flows = results["flows"]
    return np.asarray(flows.get("endless", np.zeros(len(flows["fct_ns"]))), dtype=np.bool_)


def groups_of(results: Results) -> list[str]:
    """Names of the groups that flows are in, in the order of their first flows; none without groups."""
    return [name for name in dict.fromkeys(results["flows"].get("group", ())) if name]


def of_group(results: Results, name: str) -> Results:
    """The results with only the flows of one group.

    Queues, losses, streams and totals are the network's, but for ``unfinished``. Other results by flow
    number (windows, marks, states of controllers) is left out.

    Raises KeyError if there is no such group.
    """
    flows = results["flows"]
    indices = [i for i, group in enumerate(flows.get("group", ())) if group == name]
    if not indices:
        raise KeyError(f"no flows of group {name!r}; there are {', '.join(groups_of(results)) or 'none'}")
    group_results = {key: results[key] for key in ("queues", "losses", "streams", "totals") if key in results}
    group_results["flows"] = {key: [column[i] for i in indices] for key, column in flows.items()}
    for key in ("all_active", "measurement"):
        if key in results:
            received = results[key]["received_bytes"]
            group_results[key] = {
                **results[key],
                "received_bytes": [received[i] for i in indices] if received else [],
            }
    ended, ends = group_results["flows"]["fct_ns"], ~endless(group_results)
    group_results["totals"] = {
        **group_results["totals"],
        "unfinished": sum(x < 0 for x in np.asarray(ended)[ends]),
    }
    counters = results.get("flow_counters", {})
    group_results["flow_counters"] = {key: [column[i] for i in indices] for key, column in counters.items()}
    return group_results


def flow_ends(results: Results) -> Floats:
    """Returns when each flow ended, ns; the episode's end if it did not, or never does: (n,)."""
    end = flow_column(results, "end_ns")
    return np.where(end < 0, float(results["totals"]["end_ns"]), end)


def charged_slowdowns(results: Results) -> Floats:
    """Slowdown of each flow as the reward "slowdown" charges it: (n,).

    A truncated flow has lived for a number of ideal completion times, and is charged the share of its bytes
    that is left; at a branch's horizon (``left_ns``) the time that these would need were its links shared
    equally. NaN of flows that do not count, never end or have not started.
    """
    start, fct = flow_column(results, "start_ns"), flow_column(results, "fct_ns")
    lived = np.where(fct >= 0, fct, flow_ends(results) - start)
    size = flow_column(results, "size_bytes")
    charged = counted(results) & ~endless(results) & (lived > 0)
    slowdowns = np.full(len(size), np.nan)
    np.divide(lived, flow_column(results, "standalone_ns"), out=slowdowns, where=charged)
    remaining = np.zeros(len(size))
    if "left_ns" in results["flows"]:
        np.divide(
            flow_column(results, "left_ns"),
            flow_column(results, "standalone_ns"),
            out=remaining,
            where=charged,
        )
    else:
        np.divide(size - flow_column(results, "acked_bytes"), size, out=remaining, where=charged)
    return np.where(fct >= 0, slowdowns, slowdowns + remaining)


def stream_times(results: Results, into: int | None = None) -> tuple[Floats, Floats]:
    """Returns when streams (to one host, if given) began and stopped, ns, at the latest at the end: (m,),
    (m,)."""
    last = float(results["totals"]["end_ns"])
    starts, stops = (_stream_column(results, name, into) for name in ("start_ns", "stop_ns"))
    return np.minimum(starts, last), np.where(stops < 0, last, np.minimum(stops, last))


def stream_rates_bps(results: Results, into: int | None = None) -> Floats:
    """Rates on the wire of the same streams: (m,)."""
    return _stream_column(results, "rate_bps", into)


def _stream_column(results: Results, name: str, into: int | None) -> Floats:
    streams = results.get("streams", {"dst": [], name: []})
    chosen = [into is None or dst == into for dst in streams["dst"]]
    return np.asarray(streams[name], dtype=np.float64)[np.array(chosen, dtype=np.bool_)]


def packet_bytes(results: Results) -> Floats:
    """A full data packet of each flow on the wire, headers and telemetry included: (n,)."""
    return flow_column(results, "payload_bytes") + flow_column(results, "header_bytes")


def bottleneck(results: Results) -> Mapping[str, Any] | None:
    """The port with the longest time-weighted mean queue (among equals, that sent most); None without."""
    queues = results["queues"]
    if not queues:
        return None
    longest: Mapping[str, Any] = max(queues, key=lambda port: (port["mean_bytes"], port["tx_bytes"]))
    return longest


def decisions_taken(results: Results) -> int:
    """Decisions of policies inside the simulator, in an episode that records ``controller_counters``."""
    return sum(name == "PolicyDecisions" for _, _, name, _ in results.get("controller_counters", ()))


#: Starts a scenario's JSON that asks for them, instead of its first brace.
ASKED = '{"columns":true,'


class Windows(NamedTuple):
    """Windows and rates of flows, a row for each change: (n,) each, in the order of time.

    Attributes:
        time_ns: time of the change.
        flow: index of the flow.
        window: window, bytes; infinite: none.
        rate: rate, bit/s; infinite: any.
    """

    time_ns: Floats
    flow: npt.NDArray[np.int64]
    window: Floats
    rate: Floats

    @classmethod
    def of(cls, results: Mapping[str, Any]) -> Windows:
        """Reads them from either form of results; no rows if none were recorded."""
        rows = results.get("windows", [])
        if isinstance(rows, Windows):
            return rows
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)  # None is NaN
        window, rate = (np.where(np.isnan(column), np.inf, column) for column in table.T[2:])
        return cls(table[:, 0], table[:, 1].astype(np.int64), window, rate)


def results_with_columns(blob: bytes) -> dict[str, Any]:
    """The results of an episode whose scenario starts with ``ASKED``.

    ``windows`` is a :class:`Windows`, a queue's ``series`` {"t_ns": (n,), "bytes": (n,)}. Raises ValueError
    if it is no such blob.
    """
    end = blob.find(b"\0")
    results = json.loads(blob[:end] if end >= 0 else blob)
    if end < 0 or not isinstance(results, dict):
        raise ValueError("no columns behind the results")
    numbers = np.frombuffer(blob, np.float64, offset=end // 8 * 8 + 8)
    position = 0

    def column(rows: int) -> Floats:
        nonlocal position
        position += rows
        return numbers[position - rows : position]

    times: Floats | None = None  # those of all ports
    for port in results["queues"]:
        if (samples := port.get("series")) is not None:
            times = column(samples) if times is None else times
            port["series"] = {"t_ns": times, "bytes": column(samples)}
    if (rows := results.get("windows")) is not None:
        time, flow, window, rate = (column(rows) for _ in range(4))
        results["windows"] = Windows(time, flow.astype(np.int64), window, rate)
    if position != len(numbers):
        raise ValueError(f"{len(numbers)} numbers behind the results, not {position}")
    return results
