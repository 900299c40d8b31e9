# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains one PPO for all flows by PettingZoo and SuperSuit, without rows of padding.

    python examples/pettingzoo_supersuit.py --steps 40000

``FlowParallelEnv`` has an agent per flow. SuperSuit's ``black_death_v3`` keeps rows for all of them all the
time: a flow that has not started or has ended observes zeros and earns nothing. It also hides who ended: it
reports only the ends of whole episodes. ``Flows`` puts both right from infos' "due", in the words
that ``ns3_env.envs.sb3_buffers`` understands; a custom learner drops rows where ``mask.outcomes()`` is
False.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import supersuit
import torch as th
from numpy.typing import NDArray
from pettingzoo.utils.wrappers import BaseParallelWrapper
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.sb3_buffers import masked
from ns3_env.envs.slots import Mask
from ns3_env.scenario import Scenario, Synchronous
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast


class TellsEnds(BaseParallelWrapper):  # type: ignore[misc]
    """Adds to infos what ``black_death_v3`` hides: the flow that ended, and its last observation."""

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """See ParallelEnv."""
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        for agent, info in infos.items():
            if terminated[agent] or truncated[agent]:
                info["ended"] = observations[agent]
                info["TimeLimit.truncated"] = False  # a truncated flow was already penalised for its rest
        return observations, rewards, terminated, truncated, infos


class Flows(VecEnvWrapper):
    """SuperSuit's rows as flows: each is done when its flow is, and ``mask`` knows which rows are decisions.

    Attributes:
        mask: rows of the last step that were decisions.
        due: (num_envs,) rows that decide next.
    """

    def __init__(self, venv: VecEnv) -> None:
        super().__init__(venv)
        self.mask = Mask(self.num_envs)
        self.due = np.zeros(self.num_envs, dtype=np.bool_)
        self._seed: int | None = None

    @property
    def unwrapped(self) -> VecEnv:
        """This, whose mask ``masked()`` looks for."""
        return self

    def reset(self) -> NDArray[np.float32]:
        """See VecEnv."""
        rows = self.venv.venv  # type: ignore[attr-defined] (SuperSuit's wrapper would drop the seed)
        observations: NDArray[np.float32]
        observations, self.reset_infos = rows.reset(seed=self._seed)
        self._seed = None
        self.due = due_rows(self.reset_infos)
        self._returns, self._lengths = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=int)
        return observations

    def step_async(self, actions: NDArray[np.float32]) -> None:
        """Raises PaddingError if rows wait and the learner does not read the mask."""
        self.mask.before_step(self.due)
        super().step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """See VecEnv."""
        observations, rewards, _, infos = self.venv.step_wait()
        decided, self.due = self.due, due_rows(infos)
        dones = np.array(["ended" in info for info in infos])
        self._returns += rewards
        self._lengths += decided
        for row in np.flatnonzero(dones):
            infos[row]["terminal_observation"] = infos[row].pop("ended")
            infos[row]["episode"] = {"r": self._returns[row], "l": self._lengths[row], "t": 0.0}
            self._returns[row] = self._lengths[row] = 0
        dones |= self.due & ~decided  # a flow starts: its row's waiting time is no part of it
        elapsed = np.array([info.get("elapsed", 0.0) for info in infos])
        self.mask.after_step(self.due, dones, elapsed)
        return observations, rewards, dones, infos

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Sets the seed of the next reset."""
        self._seed = seed
        return [seed] * self.num_envs

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """See VecEnv: rows share their attributes."""
        return [getattr(self.venv, attr_name)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Rows report complete flows in infos' "episode", as Monitor does."""
        return [wrapper_class is Monitor] * self.num_envs


def due_rows(infos: list[dict[str, Any]]) -> NDArray[np.bool_]:
    """Rows that decide next; rows added by ``black_death_v3`` have no such entry."""
    return np.array([info.get("due", False) for info in infos], dtype=np.bool_)


def make(copies: int = 2) -> Flows:
    """Copies of a 4-to-1 incast whose flows start up to 100 µs apart; a row each."""
    scenario = Scenario(
        topology=Dumbbell(senders=4),
        traffic=Incast(size_bytes=1_000_000, spread_ns=100_000),
        clock=Synchronous(interval_ns=10_000),
    )
    env = supersuit.black_death_v3(TellsEnds(FlowParallelEnv(scenario)))
    rows = supersuit.pettingzoo_env_to_vec_env_v1(env)
    return Flows(supersuit.concat_vec_envs_v1(rows, copies, base_class="stable_baselines3"))


def mean_slowdown(model: PPO) -> float:
    """Mean slowdown of 16 flows without exploration: minus their mean return."""
    env = make(1)
    env.seed(1_000)
    env.mask.acknowledge()  # evaluation sums a flow's rewards: rows that wait have none
    returns, _ = evaluate_policy(model, env, n_eval_episodes=16, return_episode_rewards=True)
    env.close()
    return -float(np.mean(returns))


def main() -> None:
    """Learns, and prints the result."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument(
        "--steps", type=int, default=40_000, help="rows of experience, waiting ones included"
    )
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    th.set_num_threads(1)  # the networks are small

    env = make()
    model = PPO("MlpPolicy", env, learning_rate=1e-3, n_steps=128, batch_size=128, seed=given.seed)
    model = masked(model)  # gamma, 0.99, is per base RTT then
    before = mean_slowdown(model)
    model.learn(given.steps)
    after = mean_slowdown(model)
    print(f"mean slowdown: {before:.3f} before, {after:.3f} after {model.num_timesteps} steps")
    decided = model.rollout_buffer.decided  # type: ignore[attr-defined]
    print(f"{decided.mean():.0%} of the last {decided.size} rows were decisions; the others taught nothing")
    env.close()


if __name__ == "__main__":
    main()
