# SPDX-License-Identifier: GPL-2.0-or-later
"""What does an agent's action do to a flow? Maps from actions to windows and pacing rates, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from ns3_env.telemetry import column


class ActionMap(Protocol):
    """Turns actions into what the simulator applies."""

    @property
    def space(self) -> Box:
        """Space of one flow's action, shape (A,)."""
        ...

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        """Maps actions (m, A) on records (m, fields) to (m, 3): window (B), pacing rate (bit/s), echo.

        The echo, in [-1, 1], comes back as the field ``last_action``.
        """
        ...


@dataclass(frozen=True)
class MultiplicativeWindow:
    """One number in [-1, 1] scales the window (Zhang 2023, section 4.2).

    The factor is 1 + alpha a for a >= 0 and 1 / (1 - alpha a) below; the window is floored to whole packets
    and kept in [1 packet, BDP]; the pacing rate is window / base RTT, at most the rate of the sender's link.

    ``alpha`` is 0.5 by the text of Zhang 2023; the range [0.5, 2] of its Table 3.1 needs 1.

    ``rounding``: "floor" is the rule of Zhang 2023. With alpha < 1 it has an absorbing state, for one packet
    times 1.5 is floored to one packet again. "progress" floors too, unless that would undo a growing window's
    growth; "none" keeps fractions.
    """

    alpha: float = 0.5
    rounding: Literal["floor", "progress", "none"] = "floor"

    def __post_init__(self) -> None:
        if not self.alpha > 0:
            raise ValueError(f"alpha must be positive, not {self.alpha}")
        if self.rounding not in ("floor", "progress", "none"):
            raise ValueError(f"rounding must be 'floor', 'progress' or 'none', not {self.rounding!r}")

    @property
    def space(self) -> Box:
        """[-1, 1], float32."""
        return Box(-1.0, 1.0, shape=(1,), dtype=np.float32)

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :class:`ActionMap`."""
        a = np.clip(np.asarray(actions, dtype=np.float64).reshape(len(records)), -1.0, 1.0)
        packet = column(records, "packet_bytes")
        bdp = np.maximum(column(records, "bdp_bytes"), packet)
        # A flow that has not decided yet has no window: it counts as one BDP.
        old = np.minimum(column(records, "window_bytes"), bdp)
        grown = old * np.where(a >= 0, 1 + self.alpha * a, 1 / (1 - self.alpha * np.minimum(a, 0)))
        window = grown
        if self.rounding != "none":
            # The tolerance keeps a whole number of packets whole through the rounding of a product.
            window = np.floor(grown / packet + 1e-9) * packet
        if self.rounding == "progress":
            window = np.where((a > 0) & (window <= old), grown, window)
        window = np.clip(window, packet, bdp)
        rate = np.minimum(window * 8e9 / column(records, "base_rtt_ns"), column(records, "host_rate_bps"))
        return np.stack([window, rate, a], axis=1)


@dataclass(frozen=True)
class AbsoluteWindow:
    """The action is the window itself, in bytes (what MPCC computes: Zheng 2024, section 4.3).

    The pacing rate is window / base RTT, at most the rate of the sender's link, as the in-simulator
    controller ``mpcc`` sets it; windows under one packet are paced by the simulator.
    """

    @property
    def space(self) -> Box:
        """[0, inf) bytes, float64."""
        return Box(0.0, np.inf, shape=(1,), dtype=np.float64)

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        """See :class:`ActionMap`. The echo is the window / BDP, cut at 1."""
        window = np.asarray(actions, dtype=np.float64).reshape(len(records))
        if not np.all(window >= 0):
            raise ValueError(f"windows must be numbers >= 0: {window[~(window >= 0)]}")
        share = np.minimum(window / np.maximum(column(records, "bdp_bytes"), 1.0), 1.0)
        # In the order of the simulator's own arithmetic: the last bit of a rate moves packets.
        host_rate = column(records, "host_rate_bps")
        rate = np.minimum(host_rate * window / column(records, "bdp_bytes"), host_rate)
        return np.stack([window, rate, share], axis=1)


ACTIONS: dict[str, type[MultiplicativeWindow] | type[AbsoluteWindow]] = {
    "multiplicative_window": MultiplicativeWindow,
    "absolute_window": AbsoluteWindow,
}


def make_action_map(name: str, **settings: Any) -> ActionMap:
    """The action map of that name. Raises KeyError for an unknown name."""
    if name not in ACTIONS:
        raise KeyError(f"unknown action map {name!r}; known: {', '.join(sorted(ACTIONS))}")
    made: ActionMap = ACTIONS[name](**settings)
    return made
