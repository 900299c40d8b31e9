# SPDX-License-Identifier: GPL-2.0-or-later
"""How good was a flow's last interval? Rewards by name, each a function of telemetry records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ns3_env.telemetry import column


class Reward(Protocol):
    """Maps records (k, fields), one per flow at the end of an interval, to rewards (k,)."""

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]: ...


def _inverse_rtt(records: NDArray[np.float64]) -> NDArray[np.float64]:
    """Base RTT / RTT; 0 before the first ACK."""
    rtt = column(records, "rtt")
    return np.divide(1.0, rtt, out=np.zeros_like(rtt), where=rtt > 0)


@dataclass(frozen=True)
class Staged:
    """Drain the queue first, then share the link (Zhang 2023, Algorithm 1).

    If SWITCHRATE + QLEN - 1 > ``threshold``: -RTT; else THROUGHPUT + 1/RTT - (THROUGHPUT - 1/N)^2, with the
    RTT in base RTTs, QLEN in BDPs, rates in shares of the most congested hop, N the flows there.
    """

    threshold: float = 0.5

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :class:`Reward`."""
        throughput = column(records, "throughput")
        share = 1.0 / np.maximum(column(records, "flow_count"), 1.0)
        probing = throughput + _inverse_rtt(records) - (throughput - share) ** 2
        congested = column(records, "switch_rate") + column(records, "qlen") - 1.0 > self.threshold
        return np.where(congested, -column(records, "rtt"), probing)


@dataclass(frozen=True)
class Power:
    """Kleinrock's power, per flow: (throughput x N) / RTT, so that a fair share at the base RTT gives 1."""

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :class:`Reward`."""
        share = column(records, "throughput") * np.maximum(column(records, "flow_count"), 1.0)
        return share * _inverse_rtt(records)


@dataclass(frozen=True)
class RttTarget:
    """Distance to a target of RTT x sqrt(rate), as NVIDIA's RL-CC has it (docs/sources/baselines.md).

    Its quantity max(RTT / ``base_ns`` - 1.5, 0) sqrt(pacing rate), less ``target``, negated and squared.
    """

    base_ns: float = 8192.0
    target: float = 0.064

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :class:`Reward`."""
        excess = np.maximum(column(records, "rtt_ns") / self.base_ns - 1.5, 0.0)
        return -((excess * np.sqrt(column(records, "pacing_rate")) - self.target) ** 2)


REWARDS: dict[str, Callable[..., Reward]] = {"staged": Staged, "power": Power, "rtt_target": RttTarget}


def make_reward(name: str, **settings: Any) -> Reward:
    """The reward of that name. Raises KeyError for an unknown name."""
    if name not in REWARDS:
        raise KeyError(f"unknown reward {name!r}; known: {', '.join(sorted(REWARDS))}")
    return REWARDS[name](**settings)
