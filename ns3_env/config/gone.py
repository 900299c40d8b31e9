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


#: Keys that have another name since 0.3, by their model.
RENAMED: dict[str, dict[str, str]] = {"NetworkConfig": {"history": "history_length"}}


def current(model: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a section under the keys of now, and warns of removed keys with the value that holds now and of
    earlier names. Raises ValueError for another value, and for both names of a key."""
    gone, renamed = KEYS.get(model, {}), RENAMED.get(model, {})
    if (gone.keys() | renamed.keys()).isdisjoint(data):
        return data
    content = dict(data)
    for key in gone.keys() & data.keys():
        if content.pop(key) != gone[key]:
            value = "null" if gone[key] is None else gone[key]
            raise ValueError(f"key {key!r} went in 0.3: it is {value} now, leave it out")
        warnings.warn(f"key {key!r} went in 0.3: leave it out, 0.4 refuses it", FutureWarning, stacklevel=2)
    for key in renamed.keys() & data.keys():
        if renamed[key] in data:
            raise ValueError(f"key {key!r} is {renamed[key]!r} since 0.3: leave {key!r} out")
        content[renamed[key]] = content.pop(key)
        warnings.warn(f"key {key!r} is {renamed[key]!r} since 0.3", FutureWarning, stacklevel=2)
    return content


def farewell(kind: str, name: str) -> str | None:
    """Returns the sentence on a removed name; None for any other."""
    instead = GONE[kind].get(name)
    return None if instead is None else f"the {kind} {name!r} went in 0.3: use {instead}"


def refuse(kind: str, name: str) -> None:
    """Raises ConfigError for a removed name."""
    if (sentence := farewell(kind, name)) is not None:
        raise ConfigError(sentence)
