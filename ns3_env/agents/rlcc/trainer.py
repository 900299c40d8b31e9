# SPDX-License-Identifier: GPL-2.0-or-later
"""Trainer of RL-CC: makes it from a run's configuration, with the fields that it reads."""

from __future__ import annotations

from dataclasses import replace

from ns3_env.agents.rlcc.algorithm import RLCC
from ns3_env.agents.rlcc.config import RlccConfig
from ns3_env.agents.rlcc.policy import RlccPolicy, fields
from ns3_env.agents.trainer.policy_tensors import Exported, mlp
from ns3_env.agents.trainer.spaces_only import SpacesOnly
from ns3_env.agents.trainer.trainer import GradientTrainer, policy_file
from ns3_env.errors import ConfigError
from ns3_env.policies.file import policy_bytes
from ns3_env.policies.header import DerivedInput, Input, Training
from ns3_env.policies.history import Floats, Ints
from ns3_env.task.rtt_target import RttTarget


def of_rlcc(policy: RlccPolicy) -> Exported:
    """The network as a policy's file holds it. Raises ConfigError."""
    seen = (Input(field="last_action"), DerivedInput.of(policy.formula))
    return replace(mlp(policy.mu, "policy.mu"), history=policy.history_length, observation=seen)


class RlccTrainer(GradientTrainer):
    """RL-CC, by the analytic gradient."""

    def _make(self) -> RLCC:
        agent, env = self.config.agent, self.config.env
        assert isinstance(agent, RlccConfig)
        assert isinstance(self.env, SpacesOnly)
        needed = list(fields(RttTarget(agent.base_ns)))
        if env.fields != needed:
            raise ConfigError(f"env.fields: rlcc reads {needed}, in this order; found {env.fields}")
        model = RLCC(self.env, agent, self.config.seed)
        # Of the model, not of self: it is asked for before there is a self.model.
        model.snapshot = lambda: policy_bytes(policy_file(of_rlcc(model.policy), env, Training()))
        return model

    def network(self) -> Exported:
        """See ``Trainer``."""
        assert isinstance(self.model, RLCC)
        return of_rlcc(self.model.policy)

    def act(self, histories: Floats, lengths: Ints) -> Floats:
        """See ``GradientTrainer``."""
        assert isinstance(self.model, RLCC)
        return self.model.policy.act_on(histories, lengths)
