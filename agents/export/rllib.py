# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of RLlib's PPO and SAC modules to a policy's file: the Gaussian's mean, layer by layer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch as th
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.algorithms.sac.torch.default_sac_torch_rl_module import DefaultSACTorchRLModule
from ray.rllib.core.models.torch.encoder import TorchMLPEncoder
from ray.rllib.core.models.torch.heads import TorchFreeLogStdMLPHead, TorchMLPHead
from ray.rllib.core.rl_module.rl_module import RLModule
from torch import nn

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.configuration.run_folder import versions
from ns3_env.agents.training.policy_tensors import Exported, mlp
from ns3_env.agents.training.trainer import policy_file
from ns3_env.errors import ConfigError
from ns3_env.policies.file import write_policy
from ns3_env.policies.header import Training


def write_rllib_policy(path: Path, algorithm: Algorithm, module_id: str, env: EnvConfig) -> None:
    """Writes the policy of an algorithm as it is now.

    Args:
        path: the file, "*.safetensors".
        algorithm: the algorithm, which may still be in training.
        module_id: id of the module whose policy all flows share.
        env: its training environment: fields, action map, reward and clock.

    Raises:
        ConfigError: there is no such module, or the format does not know something in it.
        OSError: the file cannot be written.
    """
    module = algorithm.get_module(module_id)
    if module is None:
        raise ConfigError(f"module_id: the algorithm has no module {module_id!r}")
    where_from = Training(
        agent=f"RLlib's {type(algorithm).__name__}",
        decisions=_decisions(algorithm, module_id),
        seed=algorithm.config.seed if algorithm.config is not None else None,
        versions=versions(),
    )
    write_policy(path, policy_file(read_rllib_module(module), env, where_from))


def _decisions(algorithm: Algorithm, module_id: str) -> int:
    """Returns the decisions that the module has learned from so far."""
    counted = ("env_runners", "num_module_steps_sampled_lifetime", module_id)
    return 0 if algorithm.metrics is None else int(algorithm.metrics.peek(counted, default=0))


def read_rllib_module(module: RLModule) -> Exported:
    """The deterministic action of the default module of PPO or SAC, for actions in [-1, 1].

    Of SAC that is the tanh of the mean, the centre of its exploration; RLlib itself leaves the tanh out
    if it does not explore (Ray 2.60). A stage before the module (a connector that normalises
    observations) is no part of it.

    Raises:
        ConfigError: naming the part that the format does not know.
    """
    inner: Any = module  # DefaultPPOTorchRLModule and its like declare their parts as Any
    if isinstance(module, DefaultPPOTorchRLModule):
        encoder = getattr(inner.encoder, "actor_encoder", None) or inner.encoder.encoder
        squash: list[nn.Module] = []
    elif isinstance(module, DefaultSACTorchRLModule):
        encoder, squash = inner.pi_encoder, [nn.Tanh()]
    else:
        name = type(module).__name__
        raise ConfigError(f"{name} has no place in a policy's file; the default modules of PPO and SAC have")
    if type(encoder) is not TorchMLPEncoder:
        raise ConfigError(
            f"encoder: {type(encoder).__name__} has no place in a policy's file: only layers of "
            "fcnet_hiddens (no LSTM, no convolutions)"
        )
    head = inner.pi
    if type(head) not in (TorchMLPHead, TorchFreeLogStdMLPHead):
        raise ConfigError(f"pi: {type(head).__name__} has no place in a policy's file")
    *hidden, last = head.net.mlp
    return mlp([*encoder.net.mlp, *hidden, _mean(last, type(head) is TorchMLPHead), *squash], "pi")


def _mean(layer: nn.Module, with_deviation: bool) -> nn.Module:
    """The layer's outputs for the mean; the second half of its outputs is the deviation's logarithm."""
    if type(layer) is not nn.Linear:
        return layer  # refused by its name
    count = layer.out_features // 2 if with_deviation else layer.out_features
    if count != 1:
        raise ConfigError(f"pi: has {count} actions; a policy's file has one, in [-1, 1]")
    mean_layer = nn.Linear(layer.in_features, 1, bias=layer.bias is not None, device="meta").to_empty(
        device="cpu"
    )
    with th.no_grad():
        mean_layer.weight.copy_(layer.weight[:1])
        if layer.bias is not None:
            mean_layer.bias.copy_(layer.bias[:1])
    return mean_layer
