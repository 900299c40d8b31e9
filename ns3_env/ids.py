# SPDX-License-Identifier: GPL-2.0-or-later
"""Ids of the environments, as Gymnasium registers them, and versions of the tasks."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

#: ``max_episode_steps`` of each id, far above what the tests' longest time limit (200 ms) and shortest round
#: trip (4 µs) allow, so that an episode ends by itself.
MAX_EPISODE_STEPS = 10_000_000

#: By the task's name; a version goes up with each change that moves a score. Gymnasium's ids are made of them
#: before any task is drawn.
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


def register(name: str, environment: str, vector: str | None = None, **settings: Any) -> None:
    """Registers an environment with Gymnasium under an id, unless it is registered.

    Args:
        name: the id.
        environment: its class, as ``pkg.module:Class``.
        vector: the class of many of them.
        settings: of ``gymnasium.register``.
    """
    if name not in gym.registry:
        # Gymnasium's passive checker fails after an interrupt in the first reset or step; tests run it whole.
        usual = {"disable_env_checker": True, "max_episode_steps": MAX_EPISODE_STEPS}
        gym.register(name, environment, vector_entry_point=vector, **{**usual, **settings})


def register_task(name: str) -> None:
    """Registers a task with Gymnasium; one that is not of this package has version 0."""
    VERSIONS.setdefault(name, 0)
    front_ends = "ns3_env.tasks.front_ends"
    register(id_of(name), f"{front_ends}:TaskEnv", f"{front_ends}:TaskVectorEnv", kwargs={"task": name})
