# SPDX-License-Identifier: GPL-2.0-or-later
"""Ids of the environments, as Gymnasium registers them, and versions of the tasks."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

#: ``max_episode_steps`` of each id, far above the number that the tests' longest time limit (200 ms) and
#: shortest round trip (4 µs) allow, so that an episode ends by itself.
MAX_EPISODE_STEPS = 10_000_000

_FAIR_SHARE = "its action scales a fair share, it pays the gain on sharing, and flows decide once per RTT"
_AT_ONCE = "a decision takes effect at once, where the packet that waited kept the gap of the rate before"
_TOLD = "policies that read fairness_weight are told to seek equal shares, and it pays those of rates"
_FIRST_WINDOW = (
    "flows decide before their first packet, then each 0.4 RTT, over 0.01 to 100 fair shares, know what "
    "shorter flows have left, and fewer packets carry telemetry"
)
_OF_FLOWS = (_FAIR_SHARE, _AT_ONCE, _FIRST_WINDOW)
_OF_SHARES = (_FAIR_SHARE, _AT_ONCE, _TOLD, _FIRST_WINDOW)
_OF_JOBS = (_AT_ONCE, _FIRST_WINDOW)

#: Reasons for each version of a task after the first, by its name: each changed scores of agents.
CHANGES: dict[str, tuple[str, ...]] = {
    "Incast": _OF_FLOWS,
    "Joining": _OF_SHARES,
    "LongShort": _OF_FLOWS,
    "WebSearch": _OF_FLOWS,
    "Hadoop": _OF_FLOWS,
    "Bursts": _OF_FLOWS,
    "LeafSpine": _OF_FLOWS,
    "ParkingLot": _OF_SHARES,
    "Mixed": _OF_FLOWS,
    "Shallow": _OF_FLOWS,
    "Rates": _OF_FLOWS,
    "AllReduce": _OF_FLOWS,
    "Layer2": (_AT_ONCE,),
    "Tcp": (_AT_ONCE,),
    "Variable": (),
    "Training": _OF_JOBS,
    "SharedCluster": _OF_JOBS,
    "Thresholds": (),
}

#: By the task's name; a version goes up with each change that moves a score. Gymnasium's ids are made of them
#: before any task is drawn.
VERSIONS: dict[str, int] = {name: 1 + len(reasons) for name, reasons in CHANGES.items()}


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
