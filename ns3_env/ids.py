# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of the tasks: one goes up with each change that moves a score."""

from __future__ import annotations

#: By the task's name. Gymnasium's ids are made of them before any task is drawn.
VERSIONS: dict[str, int] = {
    "Incast": 2,
    "Joining": 2,
    "LongShort": 2,
    "WebSearch": 2,
    "Hadoop": 2,
    "Bursts": 2,
    "LeafSpine": 2,
    "ParkingLot": 2,
    "Mixed": 2,
    "Shallow": 2,
    "Rates": 2,
    "AllReduce": 2,
    "Layer2": 1,
    "Tcp": 1,
    "Training": 1,
    "SharedCluster": 1,
}

#: What moved a task's scores, by its name and the version from then on; its first version needs no word.
CHANGES: dict[tuple[str, int], str] = {
    (name, 2): "its action scales a fair share, it pays the gain on sharing, and flows decide once per RTT"
    for name, version in VERSIONS.items()
    if version == 2
}


def id_of(name: str) -> str:
    """Returns the id under which Gymnasium registers the task."""
    return f"ns3_env/{name}-v{VERSIONS[name]}"
