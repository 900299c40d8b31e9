# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments of a task: one for each front end, all on its training scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium.utils import EzPickle

from ns3_env.envs.flow_stream import FlowStream, episode_seed
from ns3_env.envs.gym_env import Draw, FlowEnv
from ns3_env.envs.gym_vector_env import FlowVectorEnv
from ns3_env.envs.port_env import PortEnv
from ns3_env.envs.rollouts import Rollouts
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario, Synchronous
from ns3_env.tasks.definition import TaskSpec
from ns3_env.tasks.networks import task as find

#: Controller of the other flows of a Gymnasium environment.
OTHERS = {"rdma": "dcqcn", "tcp": "dctcp"}


def _posed(spec: TaskSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of an environment, with the task's decision problem or the parts that they replace."""
    parts = {name: arguments[name] for name in ("fields", "reward", "action") if name in arguments}
    rest = {name: value for name, value in arguments.items() if name not in parts}
    return {"task": spec.problem(**parts), **rest}


def _drawing(name: str, arguments: Mapping[str, Any], instead: str) -> TaskSpec:
    """The task, which draws its scenarios: raises ScenarioError, naming the environment that has them, if the
    arguments have one."""
    spec = find(name)
    if unfit := sorted({"scenario", "flows"} & {*arguments}):
        raise ScenarioError(
            f"{spec.id}: {unfit[0]}: the task draws its own scenarios; {instead} has {unfit[0]!r}"
        )
    return spec


class TaskEnv(FlowEnv):
    """A Gymnasium environment of a task: one flow, another in each episode, among those of DCQCN or DCTCP.

    Args:
        task: name of the task, or its id.
        arguments: arguments of :class:`ns3_env.envs.gym_env.FlowEnv`, instead of the task's.
    """

    def __init__(self, task: str, **arguments: Any) -> None:
        spec = _drawing(task, arguments, "'ns3_env/RdmaIncast-v1'")
        first = spec.training(0)
        defaults = {"flow": None, "others": OTHERS[first.transport]}
        super().__init__(spec.episode, **{**defaults, **_posed(spec, arguments)})
        EzPickle.__init__(self, task, **arguments)


class PortTaskEnv(PortEnv):
    """A Gymnasium environment of a task with agents at ports: one port, another in each episode.

    Args:
        task: name of the task, or its id.
        arguments: arguments of :class:`ns3_env.envs.port_env.PortEnv`, instead of the task's.
    """

    def __init__(self, task: str, **arguments: Any) -> None:
        spec = _drawing(task, arguments, "PortEnv")
        super().__init__(_one_port(spec), **_posed(spec, arguments))
        EzPickle.__init__(self, task, **arguments)


def _one_port(spec: TaskSpec) -> Draw:
    """Training scenarios with an agent at one port, drawn by their seed."""

    def draw(seed: int) -> Scenario:
        scenario = spec.training(seed)
        ports, agents = scenario.agent_ports, scenario.switch.ecn_agents
        assert agents is not None
        port = ports[int(np.random.default_rng(seed).integers(len(ports)))]
        switch = scenario.switch.model_copy(
            update={"ecn_agents": agents.model_copy(update={"ports": [port]})}
        )
        return scenario.model_copy(update={"switch": switch})

    return draw


class PortTaskVectorEnv(FlowVectorEnv):
    """``num_envs`` :class:`PortTaskEnv` whose simulators compute side by side."""

    env_class = PortTaskEnv


class TaskVectorEnv(FlowVectorEnv):
    """``num_envs`` :class:`TaskEnv` whose simulators compute side by side."""

    env_class = TaskEnv


def _by_episode(draw: Draw, seed: int) -> Callable[[int], Scenario]:
    """The scenario of each episode's number, for streams and rollouts of this base seed."""
    return lambda episode: draw(episode_seed(seed, episode))


def _stepped(spec: TaskSpec) -> Draw:
    """Scenarios under the synchronous clock, on which every flow decides in every step."""
    return lambda seed: spec.episode(seed).model_copy(update={"clock": Synchronous()})


def _gymnasium(spec: TaskSpec, **arguments: Any) -> FlowEnv:
    return (PortTaskEnv if spec.decides_at_ports else TaskEnv)(spec.name, **arguments)


def _stream(spec: TaskSpec, seed: int = 1, **arguments: Any) -> FlowStream:
    options = {"slots": spec.slots, "seed": seed}
    return FlowStream(_by_episode(spec.episode, seed), **{**options, **_posed(spec, arguments)})


def _sb3(spec: TaskSpec, seed: int = 1, **arguments: Any) -> Any:
    from ns3_env.envs.sb3_vec_env import FlowVecEnv

    options = {"slots": spec.slots, "seed": seed}
    draw = _stepped(spec)
    return FlowVecEnv(
        lambda episode: draw(episode_seed(seed, episode)), **{**options, **_posed(spec, arguments)}
    )


def _pettingzoo(spec: TaskSpec, **arguments: Any) -> Any:
    from ns3_env.envs.pettingzoo_env import FlowParallelEnv

    return FlowParallelEnv(_stepped(spec), **{"slots": spec.slots, **_posed(spec, arguments)})


def _rllib(spec: TaskSpec, **arguments: Any) -> Any:
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv

    config = {"scenario": spec.episode, "slots": spec.slots}
    return FlowMultiAgentEnv({**config, **_posed(spec, arguments)})


def _rollouts(spec: TaskSpec, seed: int = 1, **arguments: Any) -> Rollouts:
    if spec.decides_at_ports:
        raise ValueError(
            f"{spec.id}: rollouts decide inside simulators, and agents at ports do not: 'stream'"
        )
    return Rollouts(_by_episode(spec.training, seed), **{"seed": seed, **_posed(spec, arguments)})


#: Front ends by name.
FRONT_ENDS: dict[str, Callable[..., Any]] = {
    "gymnasium": _gymnasium,
    "sb3": _sb3,
    "pettingzoo": _pettingzoo,
    "rllib": _rllib,
    "stream": _stream,
    "rollouts": _rollouts,
}


def make(name: str, front_end: str = "gymnasium", **arguments: Any) -> Any:
    """An environment of a task, on its training scenarios.

    "sb3" and "pettingzoo" step every flow at once, under the clock "synchronous"; all other front ends decide
    under the task's own clock.

    Args:
        name: name of the task, or its id.
        front_end: "gymnasium", "sb3", "pettingzoo", "rllib", "stream" or "rollouts".
        arguments: arguments of the environment, instead of the task's: ``seed``, ``num_simulators``,
            ``reward``...

    Raises ValueError for an unknown name or front end.
    """
    spec = find(name)
    if front_end not in FRONT_ENDS:
        raise ValueError(f"there is no front end {front_end!r}; there are {', '.join(FRONT_ENDS)}")
    return FRONT_ENDS[front_end](spec, **arguments)
