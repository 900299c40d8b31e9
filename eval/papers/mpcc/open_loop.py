# SPDX-License-Identifier: GPL-2.0-or-later
"""Open-loop runs, and the thesis's model of a queue (Zheng 2024, eq. 3.4 and Table 3.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ns3_env.decision.observations import column
from ns3_env.eval.papers.seen import Seen
from ns3_env.scenario import AGENT, Controller, Record, Scenario, Switch, Synchronous
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import DecisionBatch, Simulator
from ns3_env.simulator.results import Floats

SENDERS, RATE_BPS = 4, 1e9
#: (node, port) between the dumbbell's switches, switch 1's egress queue in the thesis (Fig. 3.1): hosts come
#: first, then switch 1, whose ports are in the order of its links.
BOTTLENECK = (SENDERS + 1, SENDERS)
#: A window that never binds, bytes.
NO_WINDOW = 1e12
#: More than any of these runs can send, bytes.
_ENDLESS = 10**12
#: Tells neither what a queue at line rate may grow to nor when PFC would stop it.
_ROOM = 1 << 30


@dataclass(frozen=True)
class Bottleneck:
    """One egress queue and the flows through it.

    Attributes:
        flows: N.
        rate_in_bps: R_in,max, of each sender's link.
        rate_out_bps: R_link, of the link that the queue empties into.
        bdp_bytes: P_BD,max (eq. 2.3).
    """

    flows: int
    rate_in_bps: float
    rate_out_bps: float
    bdp_bytes: float

    @property
    def fair_window_bytes(self) -> float:
        """W* = R_out · P_BD,max / (R_in,max · N), at which a queue stands still (eq. 3.4)."""
        return self.rate_out_bps * self.bdp_bytes / (self.rate_in_bps * self.flows)

    def gain(self, interval_ns: float) -> float:
        """B = Δt · N · R_in,max / (8 · P_BD,max), bytes of queue per byte of window (eq. 3.5)."""
        return interval_ns / 1e9 * self.flows * self.rate_in_bps / (8 * self.bdp_bytes)

    def queue(self, windows_bytes: npt.ArrayLike, interval_ns: float, bound_bytes: float = np.inf) -> Floats:
        """Q(k + 1) = Q(k) + B · (W(k) − W*), from Q(0) = 0 (eq. 3.4).

        An empty queue under less than W* stays empty: its R_out is what comes in (Table 3.1). No more than
        ``bound_bytes`` can wait where windows limit what is under way (eq. 4.3).

        Args:
            windows_bytes: W(0), ..., W(n − 1), each in [0, P_BD,max]: a sender is no faster than its link.
            interval_ns: Δt.
            bound_bytes: upper bound of the queue.

        Returns:
            (n + 1,) bytes.
        """
        steps = self.gain(interval_ns) * (
            np.asarray(windows_bytes, dtype=np.float64) - self.fair_window_bytes
        )
        lengths = np.zeros(len(steps) + 1)
        for k, step in enumerate(steps):
            lengths[k + 1] = min(max(lengths[k] + step, 0.0), bound_bytes)
        return lengths


def slope_bps(times_ns: npt.ArrayLike, lengths_bytes: npt.ArrayLike) -> float:
    """The least-squares slope of a queue, bit/s; NaN of fewer than two instants."""
    times, lengths = np.asarray(times_ns, dtype=np.float64), np.asarray(lengths_bytes, dtype=np.float64)
    if len(times) < 2:
        return float("nan")
    centred = times - times.mean()
    return float(8e9 * (centred @ lengths) / (centred @ centred))


@dataclass(frozen=True)
class Response:
    """Queues over time; time 0 is when the senders begin.

    Attributes:
        times_ns: (n,).
        switch_bytes: (n,) at the bottleneck's egress port.
        seen_ns: (m,) when sender 0 was asked.
        seen_bytes: (m,) the queue in the telemetry of its last ACK; 0 before the first.
        bottleneck: with the BDP that the simulator computes for the path.
    """

    times_ns: Floats
    switch_bytes: Floats
    seen_ns: Floats
    seen_bytes: Floats
    bottleneck: Bottleneck


def scenario(delay_ns: int, interval_ns: int, until_ns: int, sample_ns: int) -> Scenario:
    """Four endless flows over a dumbbell of 1 Gb/s links (Zheng 2024, Fig. 3.1), asked every ``interval_ns``.

    They start a nanosecond before the first question, so that the first answer rules from the first packet
    on. No PFC, and no telemetry on the wire: neither is in the model.

    Args:
        delay_ns: of each link.
        interval_ns: between two questions.
        until_ns: end, counted from the first question.
        sample_ns: interval of the queue's samples.
    """
    start = interval_ns - 1
    return Scenario(
        topology=Dumbbell(senders=SENDERS, rate_bps=RATE_BPS, delay_ns=delay_ns),
        traffic=FlowList(
            flows=[Flow(src=i, dst=SENDERS, size_bytes=_ENDLESS, start_ns=start) for i in range(SENDERS)]
        ),
        switch=Switch(pfc=False, buffer_bytes=_ROOM, ecn=None),
        controllers=[Controller(name=AGENT, attributes={"TelemetryBytes": 0, "InitialWindow": False})],
        clock=Synchronous(interval_ns=interval_ns),
        retransmission_timeout_ns=10**12,  # a queue of seconds is no loss
        time_limit_ns=interval_ns + until_ns,
        record=Record(queue_series_ns=sample_ns),
    )


def respond(simulator: Simulator, played: Scenario, window: Callable[[int, float], float]) -> Response:
    """Plays a scenario of :func:`scenario` under ``window``.

    Whatever the window, the senders send at line rate while it lets them; a window of 0 stops them.

    Args:
        simulator: plays it.
        played: the scenario.
        window: bytes, of the question's number (0, 1, ...) and the path's BDP (bytes).

    Raises:
        SimulatorError: the simulator failed.
    """
    assert isinstance(played.clock, Synchronous)
    origin = played.clock.interval_ns
    seen: list[tuple[float, float]] = []
    bdp = float("nan")
    simulator.send_reset(played)
    while isinstance(message := simulator.receive(), DecisionBatch):
        records = message.records[message.due]
        if len(records):
            number = round(message.time_ns / origin) - 1
            bdp = float(column(records, "bdp_bytes")[0])
            seen.append((message.time_ns - origin, float(column(records, "state_queue_bytes")[0])))
        actions = np.zeros((len(records), 3))
        if len(records):
            actions[:] = window(number, bdp), RATE_BPS, 0.0
        simulator.send_actions(actions)
    run, moments = Seen(message.results), np.array(seen).reshape(-1, 2)
    return Response(
        run.times_ns - origin,
        run.lengths[BOTTLENECK],
        moments[:, 0],
        moments[:, 1],
        Bottleneck(SENDERS, RATE_BPS, RATE_BPS, bdp),
    )
