# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains TD3 built of TorchRL's collector, buffer, loss and targets.

    python examples/torchrl_td3.py --steps 20000

The environment is an incast with one controlled flow, the rest are under HPCC. Each step is a decision of
that flow, whenever its clock is due: nothing needs a mask. Its return is minus its slowdown; one that is cut
has paid for what is left. The discount is per base RTT, by the key that TorchRL has for steps of n.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Composite, LazyTensorStorage, TensorDictReplayBuffer, Unbounded
from torchrl.envs import DoubleToFloat, ExplorationType, GymWrapper, TransformedEnv, set_exploration_type
from torchrl.envs.gym_like import BaseInfoDictReader
from torchrl.modules import MLP, AdditiveGaussianModule, TanhModule, ValueOperator
from torchrl.objectives import SoftUpdate, TD3Loss

import ns3_env  # noqa: F401 (registers the ids)
from ns3_env.decision.actions import LogarithmicWindow
from ns3_env.envs import incast_scenario

#: Observation of the flow: its RTT, and the most congested hop's queue, rate and own share.
FIELDS = ["rtt", "qlen", "switch_rate", "goodput", "pacing_rate", "last_action"]
FRAMES = 200  # decisions between two visits to the learner
BATCH = 128
RANDOM_FRAMES = 600  # random steps at the start


class Elapsed(BaseInfoDictReader):
    """Reads the duration of each decision in base RTTs."""

    info_spec = Composite(elapsed=Unbounded(()))

    def __call__(self, info_dict: dict[str, Any], tensordict: TensorDict) -> TensorDict:
        """Adds "elapsed" to the observation."""
        return tensordict.set("elapsed", torch.tensor(info_dict["elapsed"]))


def make(flows: int = 4) -> TransformedEnv:
    """Makes a TorchRL environment: one learning flow and competing flows."""
    env = GymWrapper(
        gym.make(
            "ns3_env/RdmaIncast-v1",
            scenario=incast_scenario(flows),
            fields=FIELDS,
            action=LogarithmicWindow(),
            reward="slowdown",
        )
    )
    env.set_info_dict_reader(Elapsed())
    return TransformedEnv(env, DoubleToFloat())


class Learner:
    """TD3 (Fujimoto et al. 2018) of TorchRL's parts."""

    def __init__(self, env: TransformedEnv, gamma_per_rtt: float = 0.99) -> None:
        space = env.action_spec_unbatched
        inputs, outputs = env.observation_spec["observation"].shape[-1], space.shape[-1]
        network = MLP(inputs, outputs, num_cells=[64, 64], activation_class=nn.ReLU)
        self.actor = TensorDictSequential(
            TensorDictModule(network, in_keys=["observation"], out_keys=["param"]),
            TanhModule(in_keys=["param"], out_keys=["action"], spec=space),
        )
        self.noise = AdditiveGaussianModule(
            spec=space, sigma_init=0.3, sigma_end=0.1, annealing_num_steps=20_000
        )
        self.explorer = TensorDictSequential(self.actor, self.noise)
        critic = ValueOperator(
            MLP(inputs + outputs, 1, num_cells=[64, 64], activation_class=nn.ReLU),
            in_keys=["observation", "action"],
        )
        self.loss = TD3Loss(self.actor, critic, action_spec=space, num_qvalue_nets=2)
        self.loss.make_value_estimator(gamma=gamma_per_rtt)
        self.targets = SoftUpdate(self.loss, tau=0.005)
        critic_parameters = list(self.loss.qvalue_network_params.flatten_keys().values())
        actor_parameters = list(self.loss.actor_network_params.flatten_keys().values())
        self.critic_optimiser = torch.optim.Adam(critic_parameters, lr=1e-3)
        self.actor_optimiser = torch.optim.Adam(actor_parameters, lr=1e-3)
        self.updates = 0

    def learn(self, batch: TensorDict) -> None:
        """One step of the critics, and of the actor every second time."""
        value_loss, _ = self.loss.value_loss(batch)
        descend(self.critic_optimiser, value_loss)
        self.updates += 1
        if self.updates % 2 == 0:
            actor_loss, _ = self.loss.actor_loss(batch)
            descend(self.actor_optimiser, actor_loss)
            self.targets.step()


def descend(optimiser: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    """One step down the loss."""
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


@torch.no_grad()
def mean_slowdown(learner: Learner, episodes: int = 4) -> float:
    """Minus the mean return, without exploration, on episodes that are the same each time."""
    env = make()
    env.set_seed(1_000)
    with set_exploration_type(ExplorationType.DETERMINISTIC):
        returns = [env.rollout(100_000, learner.actor)["next", "reward"].sum() for _ in range(episodes)]
    env.close()
    return -float(torch.stack(returns).mean())


def main() -> None:
    """Learns, and prints the result."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--steps", type=int, default=20_000, help="decisions")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    torch.set_num_threads(1)  # the networks are small
    torch.manual_seed(given.seed)

    env = make()
    env.set_seed(given.seed)
    learner = Learner(env)
    before = mean_slowdown(learner)
    frames = max(FRAMES, given.steps // FRAMES * FRAMES)
    collector = Collector(
        env,
        learner.explorer,
        frames_per_batch=FRAMES,
        total_frames=frames,
        init_random_frames=min(RANDOM_FRAMES, frames // 2),
        exploration_type=ExplorationType.RANDOM,
        auto_register_policy_transforms=True,
    )
    memory = TensorDictReplayBuffer(storage=LazyTensorStorage(100_000), batch_size=BATCH)
    for batch in collector:
        batch["steps_to_next_obs"] = batch["next", "elapsed"].unsqueeze(-1)
        batch["next", "terminated"] = batch["next", "done"].clone()
        memory.extend(batch.reshape(-1))
        learner.noise.step(batch.numel())
        for _ in range(FRAMES // 2):
            learner.learn(memory.sample())
    collector.shutdown()
    after = mean_slowdown(learner)
    print(f"mean slowdown: {before:.3f} before, {after:.3f} after {frames} steps")


if __name__ == "__main__":
    main()
