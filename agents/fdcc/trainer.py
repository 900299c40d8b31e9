# SPDX-License-Identifier: GPL-2.0-or-later
"""Trainer of FDCC: makes it from a run's configuration, on any clock."""

from __future__ import annotations

from ns3_env.agents.fdcc.algorithm import FDCC
from ns3_env.agents.fdcc.config import FdccConfig
from ns3_env.agents.fdcc.export import of_fdcc
from ns3_env.agents.trainer.describe import policy_file
from ns3_env.agents.trainer.policy_tensors import Exported
from ns3_env.agents.trainer.trainer import GradientTrainer
from ns3_env.policies.file import policy_bytes
from ns3_env.policies.header import Training
from ns3_env.policies.history import Floats, Ints


class FdccTrainer(GradientTrainer):
    """FDCC, by gradient."""

    def _make(self) -> FDCC:
        agent, env = self.config.agent, self.config.env
        assert isinstance(agent, FdccConfig)
        model = FDCC(
            "LstmPolicy",
            self.env,
            agent,
            fields=env.fields,
            action_map=env.action.name,
            seed=self.config.seed,
        )
        # Of the model, not of self: it is asked for before there is a self.model, and by nobody who has no
        # simulators.
        model.snapshot = lambda: policy_bytes(policy_file(of_fdcc(model.policy), env, Training()))
        model.stopwatch = self.stopwatch
        return model

    def begin_episodes(self) -> None:
        """See ``Trainer``."""
        assert isinstance(self.model, FDCC)
        self.model.begin_episodes()

    def network(self) -> Exported:
        """See ``Trainer``."""
        assert isinstance(self.model, FDCC)
        return of_fdcc(self.model.policy)

    def act(self, histories: Floats, lengths: Ints) -> Floats:
        """See ``GradientTrainer``."""
        assert isinstance(self.model, FDCC)
        return self.model.policy.act_on(histories, lengths)
