# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of the tasks: one goes up with each change that moves a score."""

from __future__ import annotations

#: By the task's name. Gymnasium's ids are made of them before any task is drawn.
VERSIONS: dict[str, int] = {
    "Incast": 3,
    "Joining": 3,
    "LongShort": 3,
    "WebSearch": 3,
    "Hadoop": 3,
    "Bursts": 3,
    "LeafSpine": 3,
    "ParkingLot": 3,
    "Mixed": 3,
    "Shallow": 3,
    "Rates": 3,
    "AllReduce": 3,
    "Layer2": 2,
    "Tcp": 2,
    "Training": 2,
    "SharedCluster": 2,
}

_FAIR_SHARE = "its action scales a fair share, it pays the gain on sharing, and flows decide once per RTT"
_AT_ONCE = "a decision takes effect at once, where the packet that waited kept the gap of the rate before"

#: What moved a task's scores, by its name and the version from then on; its first version needs no word.
CHANGES: dict[tuple[str, int], str] = {
    **{(name, 2): _FAIR_SHARE for name, version in VERSIONS.items() if version == 3},
    **dict.fromkeys(VERSIONS.items(), _AT_ONCE),
}


def id_of(name: str) -> str:
    """Returns the id under which Gymnasium registers the task."""
    return f"ns3_env/{name}-v{VERSIONS[name]}"
