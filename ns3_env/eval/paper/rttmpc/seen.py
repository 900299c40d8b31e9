# SPDX-License-Identifier: GPL-2.0-or-later
"""Record of a run: rates and RTTs over time at one bottleneck, and its losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env.eval.paper.rttmpc.path import RATE

Floats = npt.NDArray[np.float64]
#: The link's rate is reached where all together send so much of it, for so long: ten RTTs of 25 ms.
REACHED, HELD_S = 0.95, 0.25


@dataclass(frozen=True)
class Seen:
    """One run.

    Attributes:
        times_s: of looks, (m,).
        rates: pacing rates in the paper's unit, of which the link has 40: (flows, m).
        rtts_ms: of a packet that joins the queue then: (flows, m).
        goodputs: acknowledged over the whole run, in the same unit: (flows,).
        lost: share of packets that the bottleneck had no room for.
        packets: sent through it.
        timeouts: of all flows.
    """

    times_s: Floats
    rates: Floats
    rtts_ms: Floats
    goodputs: Floats
    lost: float
    packets: int
    timeouts: int

    def after(self, begin_s: float) -> Seen:
        """The same from a moment on; what is counted stays the whole run's."""
        late = self.times_s >= begin_s
        return Seen(
            self.times_s[late],
            self.rates[:, late],
            self.rtts_ms[:, late],
            self.goodputs,
            self.lost,
            self.packets,
            self.timeouts,
        )

    @property
    def combined(self) -> Floats:
        """The flows' rates together: (m,)."""
        together: Floats = self.rates.sum(axis=0)
        return together

    @property
    def mean_rtts_ms(self) -> Floats:
        """The RTT as a mean over the flows, as Figs. 6 has it: (m,)."""
        means: Floats = self.rtts_ms.mean(axis=0)
        return means

    @property
    def reached_s(self) -> float:
        """Until all together send at 95 % of the link's rate, and do for ten RTTs: an overshoot at the start
        does not count. NaN where they never do."""
        length = max(1, round(HELD_S / float(np.diff(self.times_s[:2])[0])))
        there = np.convolve(self.combined >= REACHED * RATE, np.ones(length), "valid")
        first = np.flatnonzero(there > length - 0.5)
        return float(self.times_s[first[0]]) if len(first) else float("nan")


def seen(results: Mapping[str, Any]) -> Seen:
    """What is kept of a run's results.

    A packet's RTT is its path's, alone, and the time that the bottleneck needs for what waits before it: by
    that, every moment has one, as data points have in the paper's model.
    """
    flows, ports = results["flows"], results["queues"]
    # Data and ACKs cross the slowest link in opposite directions.
    slowest = min(ports, key=lambda port: (port["rate_bps"], -port["tx_bytes"]))
    link_bps, place = slowest["rate_bps"], (slowest["node"], slowest["port"])
    frame = flows["payload_bytes"][0] + flows["header_bytes"][0]
    times = np.asarray(slowest["series"]["t_ns"], dtype=np.float64)
    waits_ms = np.asarray(slowest["series"]["bytes"], dtype=np.float64) * 8e3 / link_bps
    base_ms = np.asarray(flows["base_rtt_ns"], dtype=np.float64)[:, None] / 1e6
    end_s = results["totals"]["end_ns"] / 1e9
    bits = np.asarray(flows["acked_bytes"], dtype=np.float64) * 8 * frame / flows["payload_bytes"][0]
    lost = sum(x["packets"] for x in results["losses"] if (x["node"], x["port"]) == place)
    passed = round(slowest["tx_bytes"] / frame)
    return Seen(
        times / 1e9,
        _rates(results, times, max(port["rate_bps"] for port in ports)) * RATE / link_bps,
        base_ms + waits_ms,
        bits / end_s * (RATE / link_bps),
        lost / max(1, lost + passed),
        passed,
        int(sum(flows["timeouts"])),
    )


def _rates(results: Mapping[str, Any], times_ns: Floats, host_bps: float) -> Floats:
    """Pacing rates at ascending times, bit/s on the wire: (flows, times).

    0 before a flow's first change of its rate, and of a law that does not pace: the simulator then shows the
    rate of the host's link.
    """
    count = len(results["flows"]["src"])
    found = np.zeros((count, len(times_ns)))
    windows = results.get("windows", ())
    changes = np.array(
        [(t, flow, rate) for t, flow, _, rate in windows if rate is not None and rate < host_bps]
    )
    for flow in range(count if len(changes) else 0):
        own = changes[changes[:, 1] == flow]
        rates = np.concatenate([[0.0], own[:, 2]])
        found[flow] = rates[np.searchsorted(own[:, 0], times_ns, side="right")]
    return found
