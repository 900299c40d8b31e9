# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of actors to a policy's file: PPO's and RecurrentPPO's mean, TD3's actor, SAC's mode."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch as th
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.sac.policies import Actor as SacActor
from stable_baselines3.td3.policies import Actor as Td3Actor
from stable_baselines3.td3.policies import TD3Policy
from torch import nn

from ns3_env.agents.sb3.censored import CensoredPolicy, Symlog
from ns3_env.agents.training.policy_tensors import Exported, head, lstm, mlp
from ns3_env.errors import ConfigError
from ns3_env.policies.header import Network


def of_sb3(policy: BasePolicy) -> Exported:
    """The deterministic action of an MlpPolicy of PPO, SAC, TD3 or DDPG, or an MlpLstmPolicy of RecurrentPPO.

    Raises:
        ConfigError: naming the policy, or the layer, that the format does not know.
    """
    if type(policy) in (ActorCriticPolicy, CensoredPolicy):
        assert isinstance(policy, ActorCriticPolicy)
        bounded = policy.squash_output or (isinstance(policy, CensoredPolicy) and policy.bounded)
        layers = [*policy.mlp_extractor.policy_net, policy.action_net, *([nn.Tanh()] if bounded else [])]
        return _behind(policy.features_extractor, mlp(layers, "policy.action_net"))
    if _is_of_recurrent_ppo(policy):
        return _behind(policy.features_extractor, _recurrent(policy))
    if type(policy) is TD3Policy and type(policy.actor) is Td3Actor:
        return _behind(policy.actor.features_extractor, mlp(policy.actor.mu, "actor.mu"))
    actor: Any = getattr(policy, "actor", None)
    if _is_of_sac(actor):
        last = actor.mu
        mean = _without_clip(last) if isinstance(last, nn.Sequential) else [last]
        return _behind(actor.features_extractor, mlp([*actor.latent_pi, *mean, nn.Tanh()], "actor.mu"))
    raise ConfigError(f"agent.policy: {type(policy).__name__} has no place in a policy's file; MlpPolicy has")


def _is_of_recurrent_ppo(policy: BasePolicy) -> bool:
    """An MlpLstmPolicy; sb3-contrib need not be installed."""
    policy_class = type(policy)
    return (
        policy_class.__module__.startswith("sb3_contrib.")
        and policy_class.__name__ == "RecurrentActorCriticPolicy"
    )


def _recurrent(policy: Any) -> Exported:
    """The actor's LSTM and its layers; parts shared with the critic are ignored. Raises ConfigError."""
    squash = [nn.Tanh()] if policy.squash_output else []
    layers = [*policy.mlp_extractor.policy_net, policy.action_net, *squash]
    tensors, hidden, output = head(layers, "policy.action_net")
    network = Network(kind="lstm", memory="carried", hidden_activation=hidden, output_activation=output)
    return Exported(network, {**lstm(policy.lstm_actor, "policy.lstm_actor"), **tensors})


def _is_of_sac(actor: object) -> bool:
    """Returns whether it is an actor of SAC, or of an algorithm with the same one (TQC)."""
    return type(actor) is SacActor or (
        type(actor).__module__.startswith("sb3_contrib.")
        and hasattr(actor, "latent_pi")
        and hasattr(actor, "mu")
    )


def _behind(extractor: nn.Module, network: Exported) -> Exported:
    """The network behind an identity or a compression of the observation. Raises ConfigError."""
    if type(extractor) is Symlog:
        return replace(network, transform="symlog")
    if type(extractor) is not FlattenExtractor:
        raise ConfigError(f"features_extractor: {type(extractor).__name__} has no place in a policy's file")
    return network


def _without_clip(last: nn.Sequential) -> Iterable[nn.Module]:
    """SAC's mean under state-dependent noise, cut to [low, high], with layers that the format knows.

    With one output, clip(x) = relu(x - low) - relu(x - high) + low.
    """
    layer, clip = last
    if type(layer) is not nn.Linear or type(clip) is not nn.Hardtanh or layer.out_features != 1:
        return last
    # Initialising weights would change a run's random numbers after its checkpoint.
    both = nn.Linear(layer.in_features, 2, device="meta").to_empty(device="cpu")
    out = nn.Linear(2, 1, device="meta").to_empty(device="cpu")
    with th.no_grad():
        both.weight.copy_(layer.weight.expand(2, -1))
        both.bias.copy_(layer.bias - th.tensor([clip.min_val, clip.max_val]))
        out.weight.copy_(th.tensor([[1.0, -1.0]]))
        out.bias.fill_(clip.min_val)
    return [both, nn.ReLU(), out]
