# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own code for trainings: a reward, an action map, fields, a sampler, a callback."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml
from gymnasium.spaces import Box
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback

from ns3_env.decision.actions import AbsoluteWindow
from ns3_env.decision.observations import column

#: A run of TD3, tiny, and its curriculum.
CONFIG: dict[str, Any] = {
    "name": "own",
    "agent": {"name": "td3", "options": {"learning_starts": 20, "policy_kwargs": {"net_arch": [8]}}},
    "env": {"fields": ["rtt"], "clock": {"name": "synchronous", "interval_ns": 5000}},
    "train": {"decisions": 120},
    "evaluation": {
        "controllers": ["hpcc"],
        "scenario": {
            "topology": {"kind": "dumbbell", "senders": 2},
            "traffic": {"kind": "incast", "size_bytes": 20000},
            "time_limit_ns": 100000,
        },
    },
}
TWO = """
time_limit_ns: 100000
topology: {kind: dumbbell, senders: 2}
traffic: {kind: incast, size_bytes: 50000}
"""
STAGES = {"stages": [{"name": "two", "scenario": yaml.safe_load(TWO)}]}

FIELDS = ("rtt", "qlen", "ecn_fraction")


class Gentle:
    """A reward: throughput, minus a cost of the queue."""

    def __init__(self, cost: float = 1.0) -> None:
        self.cost = cost

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        """See ``Reward``."""
        return column(records, "throughput") - self.cost * column(records, "qlen")


class Share:
    """An action map: the window as a share of ``most`` BDPs."""

    def __init__(self, most: float = 1.0) -> None:
        self.most = most
        self.space = Box(-1.0, 1.0, shape=(1,), dtype=np.float32)

    def __call__(self, actions: NDArray[Any], records: NDArray[np.float64]) -> NDArray[np.float64]:
        """See ``ActionMap``."""
        share = 0.05 + 0.95 * (np.asarray(actions, np.float64).reshape(len(records)) + 1) / 2
        return AbsoluteWindow()(share * self.most * column(records, "bdp_bytes"), records)


class Senders:
    """A sampler: from 1 to ``most_flows`` senders, more of them as returns rise."""

    def __init__(self, most_flows: int = 3) -> None:
        self.most_flows = most_flows
        self.returns: list[float] = []

    def __call__(self, episode: int, random: np.random.Generator) -> Mapping[str, Any]:
        """See ``ScenarioSampler``."""
        return {
            "time_limit_ns": 60_000,
            "topology": {"kind": "dumbbell", "senders": int(random.integers(1, self.most_flows + 1))},
            "traffic": {"kind": "incast", "size_bytes": 30_000},
        }

    def record(self, mean_return: float) -> None:
        """An episode has ended."""
        self.returns.append(mean_return)

    def state(self) -> dict[str, Any]:
        """Returns the state for a checkpoint."""
        return {"returns": self.returns}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restores the state from a checkpoint."""
        self.returns = list(state["returns"])


class Lines(BaseCallback):
    """A logger: a line for each call into a file."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file

    def _on_step(self) -> bool:
        with open(self.file, "a", encoding="utf-8") as lines:
            lines.write(f"{self.model.num_timesteps}\n")
        return True


NOTHING = 3
