# SPDX-License-Identifier: GPL-2.0-or-later
"""RL-CC's distance to a target of RTT x sqrt(rate), used as an input and as a reward.

The arithmetic is the simulator's own (``cpp/policy/observation.h``), to the last bit.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ns3_env import _native


@dataclass(frozen=True)
class RttTarget:
    """r = gain (max(RTT / base - margin, 0) sqrt(rate) - target) (Tessler et al. 2022).

    Above 0 the flow sends too much. Flows that share a bottleneck see the same RTT, so that r = 0 for all of
    them at one and the same rate.

    Attributes:
        base_ns: unit in which RTTs are measured, ns; None: the base RTT of each flow's path.
        margin: RTT, in that unit, up to which only the target counts.
        target: target of the excess RTT times the square root of the rate, a share of the sender's link.
        gain: scales r.
    """

    base_ns: float | None = None
    margin: float = 1.5
    target: float = 0.064
    gain: float = 12.5

    def __post_init__(self) -> None:
        _in_the_simulator(self)  # settings out of range are refused here

    @property
    def fields(self) -> tuple[str, str]:
        """Telemetry fields that it reads: the RTT, and the pacing rate."""
        return ("rtt" if self.base_ns is None else "rtt_ns", "pacing_rate")

    def __call__(self, rtts: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """r of arrays of values of ``fields``, of any shape."""
        return _in_the_simulator(self)(rtts, rates)


@lru_cache(maxsize=64)
def _in_the_simulator(settings: RttTarget) -> _native.RttTarget:
    """The simulator's formula with these settings. Raises ValueError if it refuses them."""
    return _native.RttTarget(json.dumps(asdict(settings)))
