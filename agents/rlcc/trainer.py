# SPDX-License-Identifier: GPL-2.0-or-later
"""Trainer of RL-CC: makes it from a run's configuration, with the fields that it reads."""

from __future__ import annotations

from dataclasses import replace

from ns3_env.agents.rlcc.algorithm import RLCC
from ns3_env.agents.rlcc.config import RlccConfig
from ns3_env.agents.rlcc.policy import fields
from ns3_env.agents.training.policy_tensors import Exported, mlp
from ns3_env.agents.training.rollout_env import SpacesOnly
from ns3_env.agents.training.trainer import Trainer
from ns3_env.decision.rtt_target import RttTarget
from ns3_env.errors import ConfigError
from ns3_env.policies.header import DerivedInput, Input


class RlccTrainer(Trainer):
    """RL-CC, by the analytic gradient."""

    def _make(self) -> RLCC:
        agent, env = self.config.agent, self.config.env
        assert isinstance(agent, RlccConfig)
        assert isinstance(self.env, SpacesOnly)
        needed = list(fields(RttTarget(agent.base_ns)))
        if env.fields != needed:
            raise ConfigError(f"env.fields: rlcc reads {needed}, in this order; found {env.fields}")
        return RLCC(self.env, agent, self.config.seed)

    def network(self) -> Exported:
        assert isinstance(self.model, RLCC)
        policy = self.model.policy
        entries = (Input(field="last_action"), DerivedInput.of(policy.formula))
        return replace(mlp(policy.mu, "policy.mu"), history=policy.history_length, observation=entries)
