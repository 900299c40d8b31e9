# SPDX-License-Identifier: GPL-2.0-or-later
"""Names and keys of earlier versions that were removed, until 0.4.

A name is refused with its replacement. A key with the value that holds now is accepted with a warning, and
with another value refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

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

#: Keys that were removed in 0.3, by their model, each with the value that holds now.
KEYS: dict[str, dict[str, Any]] = {
    "Advance": {"return_above": None, "window": 20},
    "EvaluationConfig": {"placement": "simulator"},
    "FdccConfig": {"compress": True},
    "Model": {"element_bytes": 2},
    "RlccConfig": {"gamma": 0.99, "difference_weight": 0.5, "step_episodes": 4, "gradient_clip": 0.5},
    "SearchConfig": {"worst_share": 0.0},
    "TrainConfig": {"torch_threads": 1, "log_every_episodes": 16},
    "Training": {"micro_batch": 1},
    "ValidationConfig": {"improvement": 0.03, "decline": 0.5},
}


def without_gone(model: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a section without removed keys that have the value that holds now, and warns of them.

    Raises ValueError for another value.
    """
    gone = KEYS[model]
    for key in gone.keys() & data.keys():
        if data[key] != gone[key]:
            value = "null" if gone[key] is None else gone[key]
            raise ValueError(f"key {key!r} went in 0.3: it is {value} now, leave it out")
        warnings.warn(f"key {key!r} went in 0.3: leave it out, 0.4 refuses it", FutureWarning, stacklevel=2)
    return {key: value for key, value in data.items() if key not in gone}


def farewell(kind: str, name: str) -> str | None:
    """Returns the sentence on a removed name; None for any other."""
    instead = GONE[kind].get(name)
    return None if instead is None else f"the {kind} {name!r} went in 0.3: use {instead}"


def refuse(kind: str, name: str) -> None:
    """Raises ConfigError for a removed name."""
    if (sentence := farewell(kind, name)) is not None:
        raise ConfigError(sentence)
