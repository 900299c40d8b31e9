# SPDX-License-Identifier: GPL-2.0-or-later
"""Ids of the environments, as Gymnasium registers them, and versions of the tasks."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

#: ``max_episode_steps`` of each id, far above the number that the tests' longest time limit (200 ms) and
#: shortest round trip (4 µs) allow, so that an episode ends by itself.
MAX_EPISODE_STEPS = 10_000_000

#: By the task's name; a version goes up with each change that moves a score. Gymnasium's ids are made of them
#: before any task is drawn.
VERSIONS: dict[str, int] = {
    "Incast": 3,
    "Joining": 4,
    "LongShort": 3,
    "WebSearch": 3,
    "Hadoop": 3,
    "Bursts": 3,
    "LeafSpine": 3,
    "ParkingLot": 4,
    "Mixed": 3,
    "Shallow": 3,
    "Rates": 3,
    "AllReduce": 3,
    "Layer2": 2,
    "Tcp": 2,
    "Variable": 1,
    "Training": 2,
    "SharedCluster": 2,
    "Thresholds": 1,
}

_FAIR_SHARE = "its action scales a fair share, it pays the gain on sharing, and flows decide once per RTT"
_AT_ONCE = "a decision takes effect at once, where the packet that waited kept the gap of the rate before"
_TOLD = "policies that read fairness_weight are told to seek equal shares, and it pays those of rates"

#: Reasons for changes of a task's scores, by its name and new version; the first version needs none.
CHANGES: dict[tuple[str, int], str] = {
    **{(name, 2): _FAIR_SHARE for name, version in VERSIONS.items() if version >= 3},
    **{(name, min(version, 3)): _AT_ONCE for name, version in VERSIONS.items() if version > 1},
    **{(name, 4): _TOLD for name, version in VERSIONS.items() if version == 4},
}


def id_of(name: str) -> str:
    """Returns the id under which Gymnasium registers the task."""
    return f"ns3_env/{name}-v{VERSIONS[name]}"


def register(name: str, environment: str, vector: str | None = None, **settings: Any) -> None:
    """Registers an environment with Gymnasium under an id, unless it is registered.

    Args:
        name: the id.
        environment: class of the environment, ``pkg.module:Class``.
        vector: class of the vector environment, if any.
        settings: further arguments of ``gymnasium.register``.
    """
    if name not in gym.registry:
        # Gymnasium's passive checker fails after an interrupt in the first reset or step; tests run it whole.
        usual = {"disable_env_checker": True, "max_episode_steps": MAX_EPISODE_STEPS}
        gym.register(name, environment, vector_entry_point=vector, **{**usual, **settings})


#: Tasks of this package whose agents are at ports of switches.
OF_PORTS = ("Thresholds",)


def register_task(name: str) -> None:
    """Registers a task with Gymnasium; one that is not of this package has version 0."""
    VERSIONS.setdefault(name, 0)
    kind = "ns3_env.tasks.front_ends:" + ("PortTask" if name in OF_PORTS else "Task")
    register(id_of(name), f"{kind}Env", f"{kind}VectorEnv", kwargs={"task": name})
