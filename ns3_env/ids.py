# SPDX-License-Identifier: GPL-2.0-or-later
"""Versions of the tasks: one goes up with each change that moves a score."""

from __future__ import annotations

#: By the task's name. Gymnasium's ids are made of them before any task is drawn.
VERSIONS: dict[str, int] = {
    "Incast": 1,
    "Joining": 1,
    "LongShort": 1,
    "WebSearch": 1,
    "Hadoop": 1,
    "Bursts": 1,
    "LeafSpine": 1,
    "ParkingLot": 1,
    "Mixed": 1,
    "Shallow": 1,
    "Rates": 1,
    "AllReduce": 1,
    "Layer2": 1,
    "Tcp": 1,
}

#: What moved a task's scores, by its name and the version from then on; its first version needs no word.
CHANGES: dict[tuple[str, int], str] = {}


def id_of(name: str) -> str:
    """Returns the id under which Gymnasium registers the task."""
    return f"ns3_env/{name}-v{VERSIONS[name]}"
