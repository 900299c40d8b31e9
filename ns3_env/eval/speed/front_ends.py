# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions per second of each front end, on the same incast, episodes and resets included."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.envs.gym_vector_env import FlowVectorEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.scenario import Synchronous

_FLOWS = 4
_VECTOR = 8
#: Plays until the time given (s, of ``time.perf_counter``); returns the decisions taken.
Play = Callable[[float], int]


def _gymnasium(until: float) -> int:
    """One flow decides, the others are under HPCC."""
    env, action, steps = FlowEnv(flows=_FLOWS), np.zeros(1, dtype=np.float32), 0
    env.reset(seed=1)
    while time.perf_counter() < until:
        _, _, terminated, truncated, _ = env.step(action)
        steps += 1
        if terminated or truncated:
            env.reset()
    env.close()
    return steps


def _vector(until: float) -> int:
    """The same in ``_VECTOR`` networks, by gymnasium.make_vec."""
    env, steps = FlowVectorEnv(num_envs=_VECTOR, flows=_FLOWS), 0
    actions = np.zeros((_VECTOR, 1), dtype=np.float32)
    env.reset(seed=1)
    while time.perf_counter() < until:
        env.step(actions)
        steps += _VECTOR
    env.close()
    return steps


def _stable_baselines(until: float) -> int:
    """Every flow decides, at every step of the clock; slots that wait are not counted."""
    scenario = incast_scenario(_FLOWS).model_copy(update={"clock": Synchronous(interval_ns=5_000)})
    with FlowVecEnv(scenario, slots=_FLOWS, num_simulators=2) as env:
        env.mask.acknowledge()
        env.reset()
        actions, steps = np.zeros((env.num_envs, 1)), 0
        while time.perf_counter() < until:
            env.step(actions)
            steps += int(env.mask.decided.sum())
    return steps


def _stream(until: float) -> int:
    """Every flow decides when its own clock says so, by recv() and send()."""
    with FlowVecEnv(incast_scenario(_FLOWS), slots=_FLOWS, num_simulators=2) as env:
        env.start()
        steps = 0
        while time.perf_counter() < until:
            batch = env.recv()
            slots = batch.slots[batch.due]
            env.send(np.zeros((len(slots), 1)), slots)
            steps += len(slots)
    return steps


def _pettingzoo(until: float) -> int:
    """An agent for each flow."""
    env, action, steps = FlowParallelEnv(flows=_FLOWS), np.zeros(1, dtype=np.float32), 0
    env.reset(seed=1)
    while time.perf_counter() < until:
        if not env.agents:
            env.reset()
        _, _, _, _, infos = env.step(dict.fromkeys(env.agents, action))
        steps += sum(bool(info["due"]) for info in infos.values())
    env.close()
    return steps


#: Key of the JSON: what is played.
FRONT_ENDS: Mapping[str, Play] = {
    "gymnasium": _gymnasium,
    "make_vec": _vector,
    "stable_baselines3": _stable_baselines,
    "recv_send": _stream,
    "pettingzoo": _pettingzoo,
}


def steps_per_s(name: str, seconds: float) -> float:
    """Decisions a wall second of a front end, its start not counted."""
    play = FRONT_ENDS[name]
    play(time.perf_counter())  # programs are in memory
    began = time.perf_counter()
    return play(began + seconds) / (time.perf_counter() - began)
