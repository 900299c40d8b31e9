# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a run's configuration become FDCC? On any clock, with the configured parameters."""

from __future__ import annotations

from agents.fdcc.algorithm import FDCC
from agents.fdcc.config import FdccConfig
from agents.training.trainer import GradientTrainer


class FdccTrainer(GradientTrainer):
    """FDCC, by gradient."""

    def _make(self) -> FDCC:
        agent, env = self.config.agent, self.config.env
        assert isinstance(agent, FdccConfig)
        return FDCC(
            "LstmPolicy",
            self.env,
            agent,
            fields=env.fields,
            action_map=env.action.name,
            seed=self.config.seed,
        )

    def begin_episodes(self) -> None:
        """See ``Trainer``."""
        assert isinstance(self.model, FDCC)
        self.model.begin_episodes()
