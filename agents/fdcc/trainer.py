# SPDX-License-Identifier: GPL-2.0-or-later
"""Trainer of FDCC: makes it from a run's configuration, on any clock, and exports its actor."""

from __future__ import annotations

from collections.abc import Sequence

import torch as th

from ns3_env.agents.fdcc.algorithm import FDCC
from ns3_env.agents.fdcc.config import FdccConfig
from ns3_env.agents.fdcc.policy import RecurrentTD3Policy
from ns3_env.agents.training.learned import start_tensors
from ns3_env.agents.training.policy_tensors import Exported
from ns3_env.agents.training.trainer import Trainer
from ns3_env.policies.header import Network
from ns3_env.policies.tensors import Tensors


class FdccTrainer(Trainer):
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
        model.stopwatch = self.stopwatch
        if agent.start is not None:
            begin_as(model.policy, agent.start, env.fields)
        return model

    def begin_episodes(self) -> None:
        assert isinstance(self.model, FDCC)
        self.model.begin_episodes()

    def network(self) -> Exported:
        assert isinstance(self.model, FDCC)
        return read_fdcc_policy(self.model.policy)


def begin_as(policy: RecurrentTD3Policy, start: str, fields: Sequence[str]) -> None:
    """Gives actor and target actor the network of a policy's file.

    Args:
        policy: policy whose actor and target actor are set.
        start: name of a released policy, or a file's path.
        fields: fields that the actor reads.

    Raises:
        ConfigError: it reads something else, or its network has another shape.
    """
    tensors = start_tensors(start, read_fdcc_policy(policy), fields)
    stack = policy.actor.stack
    with th.no_grad():
        for part in ("weight_ih", "weight_hh"):
            stack.lstms[0].get_parameter(f"{part}_l0").copy_(tensors[f"lstm.{part}"])
        stack.lstms[0].get_parameter("bias_ih_l0").copy_(tensors["lstm.bias"])
        stack.lstms[0].get_parameter("bias_hh_l0").zero_()
        for n, (weight, bias) in enumerate(zip(stack.weights, stack.biases, strict=True)):
            place = "shortcut" if n == 0 else f"layers.{n - 1}"
            weight[0].copy_(tensors[f"{place}.weight"])
            bias[0, 0].copy_(tensors[f"{place}.bias"])
    policy.actor_target.load_state_dict(policy.actor.state_dict())


def read_fdcc_policy(policy: RecurrentTD3Policy) -> Exported:
    """The actor. Its two biases of the LSTM are added: only their sum acts."""
    stack = policy.actor.stack
    lstm = {name: value.detach().cpu() for name, value in stack.lstms[0].named_parameters()}
    shortcut, *layers = [
        (weight[0].detach().cpu().numpy(), bias[0, 0].detach().cpu().numpy())
        for weight, bias in zip(stack.weights, stack.biases, strict=True)
    ]
    tensors: Tensors = {
        "lstm.weight_ih": lstm["weight_ih_l0"].numpy().copy(),
        "lstm.weight_hh": lstm["weight_hh_l0"].numpy().copy(),
        "lstm.bias": (lstm["bias_ih_l0"] + lstm["bias_hh_l0"]).numpy(),
    }
    for place, (weight, bias) in [
        ("shortcut", shortcut),
        *((f"layers.{n}", x) for n, x in enumerate(layers)),
    ]:
        tensors |= {f"{place}.weight": weight.copy(), f"{place}.bias": bias.copy()}
    return Exported(
        Network(kind="lstm", hidden_activation="relu", output_activation="tanh"),
        tensors,
        history=policy.history_length,
        transform="symlog",
        appended=("last_action",) if policy.append_last_action else (),
    )
