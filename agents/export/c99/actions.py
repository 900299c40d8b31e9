# SPDX-License-Identifier: GPL-2.0-or-later
"""Action maps in C: a network's output to a window in 1/256 B and a rate in 1/256 kbit/s."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ns3_env.errors import ConfigError

_WINDOW = """\
    const uint64_t most = (uint64_t)s->bdp_bytes << 8;
    const uint64_t asked = ((uint64_t)s->path.packet_bytes * {least}U) >> 8;
    const uint64_t least = asked < most ? asked : most;
    uint64_t window = {window};
    window = window < least ? least : window > most ? most : window;
    s->window_q8 = window;
    s->rate_q8 = rate_of(s, window);
    action->window_bytes = (uint32_t)((window + 128U) >> 8);"""
_RATE = """\
    const uint64_t most = (uint64_t)s->path.host_rate_kbps << 8;
    const uint64_t least = rate_of(s, ((uint64_t)s->path.packet_bytes * {least}U) >> 8);
    uint64_t rate = factored(s->rate_q8, a, {alpha}U);
    rate = rate > most ? most : rate;
    s->rate_q8 = rate < least ? least : rate;
    action->window_bytes = {window};"""


@dataclass(frozen=True)
class Applied:
    """An action map in C.

    Attributes:
        body: of the function that applies the output ``a``.
        pieces: of pieces.c.
        meaning: for the file's first comment.
    """

    body: str
    pieces: frozenset[str]
    meaning: str


def action_of(source: str, settings: dict[str, Any]) -> Applied:
    """An action map with its settings. Raises ConfigError for one that has no form in integers."""
    name = settings["name"]
    alpha = round(65536 * settings.get("alpha", 0))
    least = max(round(65536 * settings.get("least_packets", 1.0)), 1)
    if name == "multiplicative_window":
        if settings["rounding"] != "none":
            raise ConfigError(
                f"{source}: action.rounding is {settings['rounding']!r}: --format c plays 'none' alone, for"
                " a window that is cut to whole packets differs by one where an integer is off by one"
            )
        window, pieces = f"factored(s->window_q8, a, {alpha}U)", {"factored"}
        meaning = f"window x (1 + {settings['alpha']:g} a), below 0 / (1 - {settings['alpha']:g} a)"
    elif name == "exponential_window":
        exponent = f"(int32_t)((int64_t)a * {round(settings['alpha'] * 65536 / math.log(2))} / 65536)"
        window, pieces = f"scaled(s->window_q8, {exponent}, most)", {"scaled"}
        meaning = f"window x exp({settings['alpha']:g} a)"
    elif name == "logarithmic_window":
        exponent = "(int32_t)((int64_t)(log2_q16(least) - log2_q16(most)) * (65536 - a) / 131072)"
        window, pieces = f"scaled(most, {exponent}, most)", {"scaled", "log2"}
        meaning = f"window = BDP x ({settings['least_packets']:g} packets / BDP)^((1 - a) / 2)"
    elif name == "multiplicative_rate":
        none = settings["window"] == "none"
        body = _RATE.format(least=least, alpha=alpha, window="UINT32_MAX" if none else "s->bdp_bytes")
        factor = f"{settings['alpha']:g}"
        meaning = (
            f"rate x (1 + {factor} a), below 0 / (1 - {factor} a); {'no window' if none else 'window 1 BDP'}"
        )
        return Applied(body, frozenset({"factored"}), meaning)
    else:
        raise ConfigError(f"{source}: action.name: --format c does not know {name!r}")
    return Applied(_WINDOW.format(least=least, window=window), frozenset(pieces), meaning)
