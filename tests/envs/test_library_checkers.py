# SPDX-License-Identifier: GPL-2.0-or-later
"""Each learning library's own checker passes on every registered id."""

import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers
from pettingzoo.test import parallel_api_test, parallel_seed_test  # type: ignore[import-untyped]
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import ns3_env  # noqa: F401 (registers the ids)
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.ids import VERSIONS, id_of
from ns3_env.scenario import Synchronous
from ns3_env.tasks import make

_BASE = ("ns3_env/RdmaIncast-v1", "ns3_env/TcpBottleneck-v0")
_TASKS = {id_of(name): name for name in VERSIONS}
_SHORT = incast_scenario(3, 300_000).model_copy(update={"clock": Synchronous()})
#: Tasks of either transport, which every library checks; of all other tasks Gymnasium alone does each time.
_EACH_TIME = (*_BASE, id_of("Incast"), id_of("Tcp"))
#: Networks of GPUs, whose episodes take seconds.
_LARGE = (id_of("Training"), id_of("SharedCluster"))


def _torchrl(name: str) -> None:
    envs = pytest.importorskip("torchrl.envs")
    env = envs.GymWrapper(gym.make(name))
    envs.check_env_specs(env)
    env.close()


def _vectors(name: str) -> None:
    """Gymnasium's wrappers of vectors."""
    for mode in AutoresetMode:
        vector: Any = gym.make_vec(name, num_envs=2, autoreset_mode=mode)
        vector = wrappers.RecordEpisodeStatistics(vector)
        vector = wrappers.NormalizeReward(vector)
        if mode is AutoresetMode.NEXT_STEP:
            vector = wrappers.NormalizeObservation(vector)
        vector = wrappers.DictInfoToList(wrappers.ClipReward(vector, -1, 1))
        vector.reset(seed=1)
        vector.action_space.seed(1)
        for _ in range(30):
            observations, rewards, terminated, truncated, _ = vector.step(vector.action_space.sample())
            assert np.isfinite(observations).all()
            assert np.isfinite(rewards).all()
            if mode is AutoresetMode.DISABLED and (over := terminated | truncated).any():
                vector.reset(options={"reset_mask": over})
        vector.close()


def _agents(name: str, **more: Any) -> Any:
    return make(_TASKS[name], "pettingzoo", **more) if name in _TASKS else FlowParallelEnv(_SHORT, **more)


def _pettingzoo(name: str) -> None:
    parallel_api_test(_agents(name), num_cycles=20)
    parallel_seed_test(lambda: _agents(name), num_cycles=4)


def _torchrl_agents(name: str) -> None:
    envs = pytest.importorskip("torchrl.envs")
    env = envs.PettingZooWrapper(_agents(name, reset_tells_all=True), use_mask=True)
    envs.check_env_specs(env)
    env.close()


def _rllib(name: str) -> None:
    checks = pytest.importorskip("ray.rllib.utils.pre_checks.env")
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv

    env = make(_TASKS[name], "rllib") if name in _TASKS else FlowMultiAgentEnv({"scenario": _SHORT})
    checks.check_multiagent_environments(env)
    env.close()


#: Checkers of every id; the last three look at agents.
_CHECKERS: dict[str, Callable[[str], None]] = {
    "gymnasium": lambda name: check_env(gym.make(name).unwrapped),
    "sb3": lambda name: sb3_check_env(gym.make(name).unwrapped),
    "torchrl": _torchrl,
    "vectors": _vectors,
    "pettingzoo": _pettingzoo,
    "torchrl agents": _torchrl_agents,
    "rllib": _rllib,
}
_OF_AGENTS = {"pettingzoo", "torchrl agents", "rllib"}


def _table() -> list[Any]:
    """Each checker on each id; those that are slow are marked."""
    rows = []
    for library in _CHECKERS:
        for name in (*_BASE, *_TASKS):
            if library not in _OF_AGENTS or name != _BASE[1]:
                quick = name in _EACH_TIME or (library == "gymnasium" and name not in _LARGE)
                rows.append(pytest.param(library, name, marks=() if quick else pytest.mark.slow))
    return rows


@pytest.mark.parametrize(("library", "name"), _table())
def test_every_librarys_checker_passes_on_every_id(library: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _CHECKERS[library](name)


def test_every_id_of_the_package_is_in_the_table() -> None:
    registered = {name for name in gym.registry if name.startswith("ns3_env/")}
    programs = {"ns3_env/Ns3Ai-v0", "ns3_env/Script-v0"}  # these need a program: tests/ns3ai, tests/ns3module
    assert registered == {*_BASE, *_TASKS, *programs, "ns3_env/RdmaIncast-v0"}


def test_gymnasium_warns_of_the_incast_that_is_not_posed_as_the_tasks_are() -> None:
    with pytest.warns(DeprecationWarning, match="RdmaIncast-v0 is out of date"):
        gym.make("ns3_env/RdmaIncast-v0").close()
    new, task = gym.make("ns3_env/RdmaIncast-v1"), gym.make(id_of("Incast"))
    assert new.observation_space == task.observation_space
    assert new.unwrapped.reward == task.unwrapped.reward  # type: ignore[attr-defined]
    assert new.unwrapped.action == task.unwrapped.action  # type: ignore[attr-defined]
    assert new.unwrapped.scenario.clock == task.unwrapped.scenario.clock  # type: ignore[attr-defined]
    new.close()
    task.close()
