# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of subjects whose points are networks: played and saved as policy files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from ns3_env.agents.search.subject import Point
from ns3_env.agents.trainer.layout import controller_layout, write_layout
from ns3_env.policies.file import POLICY_FILE, PolicyFile, write_policy
from ns3_env.scenario import NETWORK, Controller


class NetworkFiles(ABC):
    """What subjects have in common whose points are networks."""

    @abstractmethod
    def policy(self, point: Point) -> PolicyFile:
        """The policy that a point stands for."""

    def controller(self, point: Point, folder: Path) -> Controller:
        """See ``Subject``; the file's name tells its weights, so that equal ones share a file."""
        policy = self.policy(point)
        path = folder / f"{policy.sha256}.safetensors"
        if not path.exists():
            write_policy(path, policy)
        return Controller(name=NETWORK, attributes={"File": str(path)})

    def save(self, point: Point, folder: Path) -> None:
        """See ``Subject``."""
        write_policy(folder / POLICY_FILE, self.policy(point))
        write_layout(folder, controller_layout(Controller(name=NETWORK)))
