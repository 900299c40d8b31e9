# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of earlier versions that were removed: each is refused until 0.4 with its replacement."""

from __future__ import annotations

from ns3_env.errors import ConfigError

_BRANCH = "Simulator.branch (docs/branching.md)"
#: Kind of name, name, replacement: of those removed in 0.3.
GONE: dict[str, dict[str, str]] = {
    "policy": {"courier": "'dispatcher'", "scout": "'dispatcher'", "fdcc-2": "'fdcc'"},
    "configuration": {"scout": "'dispatcher'", "fdcc-2": "'fdcc'", "difference": "'fdcc'"},
    "law": {"size": "'order'", "delay": "'order'", "sharing": "'order'"},
    "reward": {
        "power": "'proportional'",
        "equal_share": "'proportional'",
        "team_slowdown": "'sharing_gain'",
        "difference": "'sharing_gain'",
    },
    "action": {"residual": "'exponential_window'"},
    "key": {"planner": _BRANCH},
    "option": {"--planner": _BRANCH},
    "command": {"plot values": "FlowStream.branch (docs/branching.md)"},
}


def farewell(kind: str, name: str) -> str | None:
    """Returns the sentence on a removed name; None for any other."""
    instead = GONE[kind].get(name)
    return None if instead is None else f"the {kind} {name!r} went in 0.3: use {instead}"


def refuse(kind: str, name: str) -> None:
    """Raises ConfigError for a removed name."""
    if (sentence := farewell(kind, name)) is not None:
        raise ConfigError(sentence)
