# SPDX-License-Identifier: GPL-2.0-or-later
"""Updates of PPO and TRPO with written gradients, against autograd and Stable-Baselines3's own update."""

from typing import Any

import numpy as np
import pytest
import torch as th
from sb3_contrib import TRPO
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from torch.distributions import kl_divergence

from ns3_env.agents.sb3.layers import has_plain_layers
from ns3_env.agents.sb3.ppo import EpisodePPO
from ns3_env.agents.sb3.surrogate import Rows, Update
from ns3_env.agents.sb3.trpo import EpisodeTRPO, Fisher
from ns3_env.agents.training.rollout_env import SpacesOnly

ROWS = 300
CASES: list[dict[str, Any]] = [
    {},
    {"clip_range_vf": 0.3, "ent_coef": 0.1},
    {"policy_kwargs": {"bounded": True, "net_arch": {"pi": [7], "vf": [5, 6]}}},
    {"policy_kwargs": {"log_std_init": -2.5, "net_arch": []}, "normalize_advantage": False},  # many unlikely
    {"target_kl": 1e-3, "max_grad_norm": 0.01},
]


def filled(changes: dict[str, Any], dtype: Any = np.float32) -> EpisodePPO:
    """PPO with a buffer of random decisions, some of whose actions are at either bound."""
    options = {"n_steps": ROWS, "batch_size": 128, "n_epochs": 4, "learning_rate": 0.003, "seed": 1}
    policy_options = {"net_arch": [8, 8], "log_std_init": -0.5, **changes.get("policy_kwargs", {})}
    spaces = SpacesOnly(["rtt", "goodput", "last_action"], "multiplicative_window", 1)
    model = EpisodePPO("MlpPolicy", spaces, **{**options, **changes, "policy_kwargs": policy_options})
    model.set_logger(Logger(None, []))
    model.policy.to(th.float64 if dtype is np.float64 else th.float32)
    random, buffer = np.random.default_rng(2), model.rollout_buffer
    buffer.buffer_size = buffer.pos = ROWS
    buffer.full, buffer.generator_ready = True, False
    buffer.observations = random.normal(size=(ROWS, 1, 3)).astype(dtype)
    buffer.actions = random.normal(scale=0.8, size=(ROWS, 1, 1)).clip(-1, 1).astype(dtype)
    with th.no_grad():
        values, likely, _ = evaluated(model)
    # As after some steps: neither ratios nor values are those of the policy any more.
    buffer.values = values.numpy() + random.normal(scale=0.3, size=(ROWS, 1)).astype(dtype)
    buffer.log_probs = likely.numpy()[:, None] + random.normal(scale=0.3, size=(ROWS, 1)).astype(dtype)
    buffer.advantages, buffer.returns = random.normal(size=(2, ROWS, 1)).astype(dtype)
    return model


def evaluated(model: EpisodePPO) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
    """``evaluate_actions`` of the buffer's rows, which in Stable-Baselines3 is of float32."""
    policy, buffer = model.policy, model.rollout_buffer
    actor, critic = policy.mlp_extractor(policy.features_extractor(th.from_numpy(buffer.observations[:, 0])))
    distribution = policy._get_action_dist_from_latent(actor)
    likely = distribution.log_prob(th.from_numpy(buffer.actions[:, 0]))
    entropy = distribution.entropy()
    assert entropy is not None
    return policy.value_net(critic), likely, entropy


def loss_of(model: EpisodePPO, update: Update, rows: Rows) -> th.Tensor:
    """Schulman et al. 2017, eq. 9, of all rows, as Stable-Baselines3 writes it."""
    values, likely, entropy = evaluated(model)
    advantages = rows.advantages
    if model.normalize_advantage:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = th.exp(likely - rows.likely)
    clipped = ratio.clamp(1 - update.clip, 1 + update.clip)
    values = values.flatten()
    if update.value_clip is not None:
        values = rows.values + (values - rows.values).clamp(-update.value_clip, update.value_clip)
    policy_loss = -th.min(advantages * ratio, advantages * clipped).mean()
    value_loss = th.nn.functional.mse_loss(rows.returns, values)
    return policy_loss - model.ent_coef * entropy.mean() + model.vf_coef * value_loss


@pytest.mark.parametrize("changes", CASES)
def test_written_gradients_are_autograds(changes: dict[str, Any]) -> None:
    model = filled(changes, np.float64)
    policy = model.policy
    assert has_plain_layers(policy)
    with th.no_grad():
        update = Update(model, policy)
        rows = Rows.of(model.rollout_buffer, policy)
        update.losses(rows)
    expected = th.autograd.grad(loss_of(model, update, rows), [*policy.parameters()])
    for parameter, gradient in zip(policy.parameters(), expected, strict=True):
        assert parameter.grad is not None
        assert th.allclose(parameter.grad, gradient, rtol=1e-9, atol=1e-12)
        assert bool(gradient.any())


@pytest.mark.parametrize("changes", CASES)
def test_an_update_is_stable_baselines3s_but_for_rounding(changes: dict[str, Any]) -> None:
    written, recorded = filled(changes), filled(changes)
    np.random.seed(7)  # noqa: NPY002, what draws minibatches
    written.train()
    np.random.seed(7)  # noqa: NPY002
    PPO.train(recorded)
    for one, other in zip(written.policy.parameters(), recorded.policy.parameters(), strict=True):
        assert th.allclose(one, other, rtol=1e-3, atol=1e-4)
    assert written._n_updates == recorded._n_updates
    logged, expected = (model.logger.name_to_value for model in (written, recorded))
    assert logged.keys() == expected.keys()
    for key, value in expected.items():
        assert logged[key] == pytest.approx(value, rel=1e-3, abs=1e-4), key


def test_other_networks_learn_as_stable_baselines3_has_it() -> None:
    model = filled({"policy_kwargs": {"activation_fn": th.nn.ReLU}})
    assert not has_plain_layers(model.policy)
    before = model.policy.value_net.weight.clone()
    model.train()
    assert not th.equal(before, model.policy.value_net.weight)


@pytest.mark.parametrize("bounded", [False, True])
def test_products_with_trpos_fisher_information_are_autograds(bounded: bool) -> None:
    spaces = SpacesOnly(["rtt", "goodput"], "multiplicative_window", 1)
    options = {"net_arch": {"pi": [6, 5], "vf": [4]}, "bounded": bounded, "log_std_init": -0.7}
    model = EpisodeTRPO("MlpPolicy", spaces, seed=1, policy_kwargs=options)
    policy = model.policy.double()
    assert has_plain_layers(policy)
    features = th.from_numpy(np.random.default_rng(3).normal(size=(40, 2)))
    now = policy._get_action_dist_from_latent(policy.mlp_extractor.forward_actor(features)).distribution
    before = type(now)(now.mean.detach(), now.stddev.detach())
    parameters = [*policy.actor_parameters()]
    slopes = th.autograd.grad(kl_divergence(now, before).sum(1).mean(), parameters, create_graph=True)
    flat = th.cat([slope.flatten() for slope in slopes])
    vector = th.from_numpy(np.random.default_rng(4).normal(size=len(flat)))
    expected = TRPO.hessian_vector_product(model, parameters, flat, vector)
    model._fisher = Fisher(policy, features)
    assert th.allclose(
        model.hessian_vector_product(parameters, flat, vector), expected, rtol=1e-9, atol=1e-12
    )
