# SPDX-License-Identifier: GPL-2.0-or-later
"""Action maps by name: from an agent's actions to windows and pacing rates.

An action outside its space's box is cut to the box: -1 or 1 if it is relative, and so is its echo. One
that is NaN, an infinite one outside the box, or a window below 0, is refused.

The arithmetic is the simulator's own (``rdma/policy/action-map.cc``), so an action means the same to the last
bit wherever the policy is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from numpy.typing import NDArray

from ns3_env import _native
from ns3_env.config.gone import refuse
from ns3_env.config.imports import is_code, made_by
from ns3_env.decision.observations import column


def _default(name: str, setting: str) -> Any:
    """The simulator's default of a setting of a map."""
    return _native.ACTIONS[name][0][setting][0]


class ActionMap(Protocol):
    """Turns actions into the values that the simulator applies.

    It may have ``fields``, the names of fields that it reads and that a policy must therefore observe.
    """

    @property
    def space(self) -> Space[Any]:
        """Space of one flow's action: a Box of shape (A,), or a choice."""
        ...

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        """Maps actions (m, A) on records (m, fields) to (m, 3): window (B), pacing rate (bit/s), echo.

        The echo, in [-1, 1], comes back as the field ``last_action``.
        """
        ...


class _InTheSimulator:
    """A map that the simulator knows by ``name``; its settings are the fields of the dataclass."""

    name: ClassVar[str]

    __slots__ = ("_compiled",)  # not a setting: ``vars`` and pickles omit it
    _compiled: _native.ActionMap

    def __post_init__(self) -> None:
        self.simulated()  # settings out of range are refused here

    def simulated(self) -> _native.ActionMap:
        """The simulator's map with these settings. Raises ValueError if it refuses them."""
        try:
            return self._compiled
        except AttributeError:
            text = json.dumps({"name": self.name, **asdict(self)})  # type: ignore[call-overload]
            object.__setattr__(self, "_compiled", _native.ActionMap(text))
            return self._compiled

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.simulated()(np.asarray(actions, np.float64).reshape(len(records)), records)


class _Relative(_InTheSimulator):
    """One number in [-1, 1]."""

    @property
    def space(self) -> Box:
        """[-1, 1], float32."""
        return Box(-1.0, 1.0, shape=(1,), dtype=np.float32)


@dataclass(frozen=True)
class MultiplicativeWindow(_Relative):
    """One number in [-1, 1] scales the window (Zhang 2023, section 4.2).

    The factor is 1 + alpha a for a >= 0 and 1 / (1 - alpha a) below; the window is floored to whole packets
    and kept in [1 packet, BDP]; the pacing rate is window / base RTT, at most the rate of the sender's link.
    Whole packets are counted by their payload, as bytes in flight are.
    A flow that has not decided yet has no window: it counts as one BDP.

    Zhang 2023 prints a recursion of the factor itself, which is :class:`RecursiveWindow`; this map is its
    reading without memory. ``alpha`` is 0.5 by the text; the range [0.5, 2] of its Table 3.1 needs 1 here.

    ``rounding``: "floor" keeps whole packets. With alpha < 1 it has an absorbing state, for one packet times
    1.5 is floored to one packet again. "progress" floors too, unless that would undo a growing window's
    growth; "none" keeps fractions.
    """

    name: ClassVar[str] = "multiplicative_window"

    alpha: float = _default(name, "alpha")
    rounding: Literal["floor", "progress", "none"] = _default(name, "rounding")


@dataclass(frozen=True)
class RecursiveWindow(_Relative):
    """One number in [-1, 1] scales the factor by which each decision multiplies the window.

    This is Zhang 2023, section 4.2, as printed: action_{t+1} = action_t (1 + alpha a) for a >= 0 and
    action_t / (1 - alpha a) below, WIN_{t+1} = WIN_t action_{t+1}. The first factor is 1. A factor stays in
    [1 / ``most_factor``, ``most_factor``], [0.5, 2] in Table 3.1; a window is floored to whole packets and
    kept in [1 packet, BDP], counted as in :class:`MultiplicativeWindow`. The echo, the field
    ``last_action``, is log(factor) / log(``most_factor``).
    """

    name: ClassVar[str] = "recursive_window"

    alpha: float = _default(name, "alpha")
    most_factor: float = _default(name, "most_factor")


@dataclass(frozen=True)
class ExponentialWindow(_Relative):
    """One number in [-1, 1] scales the window by exp(alpha a), up and down alike.

    The window is kept in [``least_packets`` packets, BDP]; below one packet the simulator paces the flow. The
    pacing rate is window / base RTT, at most the rate of the sender's link.
    """

    name: ClassVar[str] = "exponential_window"

    alpha: float = _default(name, "alpha")
    least_packets: float = _default(name, "least_packets")


@dataclass(frozen=True)
class LogarithmicWindow(_Relative):
    """One number in [-1, 1] is the window, whatever it was before: BDP (least / BDP)^((1 - a) / 2).

    1 is one BDP, -1 ``least_packets`` packets, 0 their geometric mean. A policy that explores by noise and
    its own mean then behave alike; if actions scale the window, noise piles up at its bounds. The pacing rate
    is window / base RTT, at most the rate of the sender's link.
    """

    name: ClassVar[str] = "logarithmic_window"

    least_packets: float = _default(name, "least_packets")


@dataclass(frozen=True)
class FairShareWindow(_Relative):
    """One number in [-1, 1] scales the flow's fair share of a BDP by exp(alpha a).

    The window is BDP * ``fair_share`` * exp(alpha a), whatever it was before. The field ``fair_share``, which
    the policy has to observe, is the least rate / flows of the path's hops, over the rate of the sender's
    link; until a hop has reported it, it counts as 1. Flows that all answer 0 share a full link equally, with
    one BDP in flight (docs/decisions/0018-rewards-and-actions.md).

    The window is kept in [``least_packets`` packets, BDP]; below one packet the simulator paces the flow. The
    pacing rate is window / base RTT, at most the rate of the sender's link.
    """

    name: ClassVar[str] = "fair_share_window"
    fields: ClassVar[tuple[str, ...]] = _native.ACTIONS[name][1]

    alpha: float = _default(name, "alpha")
    least_packets: float = _default(name, "least_packets")


@dataclass(frozen=True)
class MultiplicativeRate(_Relative):
    """One number in [-1, 1] scales the pacing rate (Tessler et al. 2022).

    The factor is 1 + alpha a for a >= 0 and 1 / (1 - alpha a) below; the rate is kept between
    ``least_packets`` packets per base RTT and the rate of the sender's link.

    ``window``: "bdp", as Zhang 2023, sec. 5.3, gives it to every controller that has none, or "none", as a
    reaction point of layer 2 sends.
    """

    name: ClassVar[str] = "multiplicative_rate"

    alpha: float = _default(name, "alpha")
    least_packets: float = _default(name, "least_packets")
    window: Literal["bdp", "none"] = _default(name, "window")


@dataclass(frozen=True)
class AbsoluteWindow(_InTheSimulator):
    """The action is the window itself, in bytes (what MPCC computes: Zheng 2024, section 4.3).

    The pacing rate is window / base RTT, at most the rate of the sender's link, as the in-simulator
    controller ``mpcc`` sets it; windows under one packet are paced by the simulator. The echo is the
    window / BDP, cut at 1.
    """

    name: ClassVar[str] = "absolute_window"

    @property
    def space(self) -> Box:
        """[0, inf) bytes, float64."""
        return Box(0.0, np.inf, shape=(1,), dtype=np.float64)

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        window = np.asarray(actions, dtype=np.float64).reshape(len(records))
        if not np.all(window >= 0):
            raise ValueError(f"windows must be numbers >= 0: {window[~(window >= 0)]}")
        return self.simulated()(window, records, infinite=True)


Map = (
    MultiplicativeWindow
    | RecursiveWindow
    | ExponentialWindow
    | LogarithmicWindow
    | FairShareWindow
    | MultiplicativeRate
    | AbsoluteWindow
)

#: ACC's scale of thresholds, E(n) = 20 kB 2^n (Yan et al. 2021).
ACC_BYTES: tuple[float, ...] = tuple(20e3 * 2**n for n in range(10))
#: Kmin E(0) to E(4), Kmax twice or eight times as much, Pmax 1, 10 or 100 %; first DCQCN's of the published
#: simulator.
ACC_TABLE: tuple[tuple[float, float, float], ...] = (
    (100e3, 400e3, 0.2),
    *(
        (ACC_BYTES[n], ACC_BYTES[n + more], pmax)
        for n in range(5)
        for more in (1, 3)
        for pmax in (0.01, 0.1, 1.0)
    ),
)


@dataclass(frozen=True)
class EcnThresholds:
    """A port's choice from a table of ECN thresholds (Yan et al. 2021, ACC).

    Attributes:
        table: rows of Kmin (B), Kmax (B) and Pmax; the action is a row's index.
        at_rate_bps: link rate that the thresholds are of; they grow with a port's rate, as those of
            ``switch.ecn`` do.

    Raises ValueError for an empty table, or a row that no port can have.
    """

    name: ClassVar[str] = "ecn_thresholds"
    #: Its subjects are ports of switches.
    of_ports: ClassVar[bool] = True

    table: Sequence[Sequence[float]] = ACC_TABLE
    at_rate_bps: float = 25e9

    def __post_init__(self) -> None:
        rows = np.asarray(self.table, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 3 or not len(rows):
            raise ValueError("table: write rows of three numbers, [kmin_bytes, kmax_bytes, pmax]")
        wrong = ~((rows[:, 0] >= 0) & (rows[:, 0] <= rows[:, 1]) & (rows[:, 2] >= 0) & (rows[:, 2] <= 1))
        wrong |= ~np.isfinite(rows).all(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"table[{row}]: {rows[row].tolist()}: needs 0 <= kmin_bytes <= kmax_bytes and 0 <= pmax <= 1"
            )
        if not self.at_rate_bps > 0:
            raise ValueError(f"at_rate_bps: must be above 0, is {self.at_rate_bps}")

    @property
    def space(self) -> Discrete:
        """Index of a row of the table."""
        return Discrete(len(self.table))

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        """Thresholds (m, 3) of m ports: Kmin (B), Kmax (B), Pmax. Raises ValueError for no row's index."""
        chosen = np.asarray(actions, dtype=np.float64).reshape(len(records))
        if not np.isin(chosen, np.arange(len(self.table))).all():
            raise ValueError(f"actions of ports are rows of the table, 0 to {len(self.table) - 1}: {chosen}")
        table: NDArray[np.float64] = np.asarray(self.table, dtype=np.float64)
        rows: NDArray[np.float64] = table[chosen.astype(int)]
        rows[:, :2] *= (column(records, "port_rate_bps") / self.at_rate_bps)[:, None]
        return rows


#: The maps of flows' actions, by name.
ACTIONS: dict[str, type[Map]] = {
    kind.name: kind
    for kind in (
        MultiplicativeWindow,
        RecursiveWindow,
        ExponentialWindow,
        LogarithmicWindow,
        FairShareWindow,
        MultiplicativeRate,
        AbsoluteWindow,
    )
}


def make_action_map(name: str, **settings: Any) -> ActionMap:
    """The action map of that name, or of ``pkg.module:name``: a class or function that gives an ActionMap.

    Raises:
        KeyError: an unknown name.
        ConfigError: a removed map, or see :func:`ns3_env.config.imports.named_code`.
    """
    if is_code(name):
        custom_map: ActionMap = made_by(
            name,
            settings,
            lambda value: callable(value) and isinstance(getattr(value, "space", None), Box),
            "an ActionMap, with a Box 'space' and a call",
        )
        return custom_map
    maps = {**ACTIONS, EcnThresholds.name: EcnThresholds}
    if name not in maps:
        refuse("action", name)
        raise KeyError(f"unknown action map {name!r}; known: {', '.join(sorted(maps))}")
    action_map: ActionMap = maps[name](**settings)
    return action_map


def unobserved(action: ActionMap, fields: Sequence[str]) -> str | None:
    """Describes fields that the action map reads and the policy does not observe; None without any."""
    lacking = [name for name in getattr(action, "fields", ()) if name not in fields]
    if not lacking:
        return None
    names = " and ".join(map(repr, lacking))
    return f"the action map reads {names}: add it to the observed fields, or take another action"


def nearest_actions(
    action: Map, applied: NDArray[np.float64], records: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Actions (m, 1) under ``action`` that come nearest to another map's effect.

    A target beyond one action's reach is approached: the action is then -1 or 1.

    Args:
        action: the action map.
        applied: (m, 2 or more) windows (B) and pacing rates (bit/s) that the other map set.
        records: (m, fields) telemetry of the decisions.
    """
    nearest: NDArray[np.float64] = action.simulated().nearest(np.ascontiguousarray(applied), records)[:, None]
    return nearest
