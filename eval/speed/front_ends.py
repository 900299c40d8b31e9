# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions per second of each front end, beside Pendulum-v1's steps, episodes and resets included."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np

from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.scenario import Scenario, Synchronous

_FLOWS = 4
_VECTOR = 8
_CLOCK = Synchronous(interval_ns=5_000)
#: Wall seconds of one turn: short, so that some fall between what other processes do.
_TURN_S = 0.1
#: Plays on and on; what each step gives is its number of decisions.
Steps = Iterator[int]


def _alone(name: str, **arguments: Any) -> Steps:
    """An environment of Gymnasium's registry, with actions of 0."""
    env = gym.make(name, **arguments)
    try:
        action = np.zeros(1, dtype=np.float32)
        env.reset(seed=1)
        while True:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
            yield 1
    finally:
        env.close()


def _pendulum() -> Steps:
    """What an environment costs that computes next to nothing."""
    return _alone("Pendulum-v1")


def _gymnasium() -> Steps:
    """One flow decides, the others are under HPCC."""
    return _alone("ns3_env/RdmaIncast-v0", flows=_FLOWS)


def _vector() -> Steps:
    """The same in ``_VECTOR`` networks."""
    envs = gym.make_vec("ns3_env/RdmaIncast-v0", num_envs=_VECTOR, flows=_FLOWS)
    try:
        actions = np.zeros((_VECTOR, 1), dtype=np.float32)
        envs.reset(seed=1)
        while True:
            envs.step(actions)
            yield _VECTOR
    finally:
        envs.close()


def _stable_baselines(flows: int = _FLOWS) -> Steps:
    """Every flow of two networks decides, at every step of the clock; slots that wait are not counted."""
    with FlowVecEnv(_incast(flows), slots=flows, num_simulators=2) as env:
        env.mask.acknowledge()
        env.reset()
        actions = np.zeros((env.num_envs, 1), dtype=np.float32)
        while True:
            env.step(actions)
            yield int(env.mask.decided.sum())


def _incast(flows: int) -> Scenario:
    return incast_scenario(flows).model_copy(update={"clock": _CLOCK})


def _stream() -> Steps:
    """Every flow decides when its own clock says so, by recv() and send()."""
    with FlowStream(incast_scenario(_FLOWS), slots=_FLOWS, num_simulators=2) as stream:
        stream.start()
        actions = np.zeros((_FLOWS, 1), dtype=np.float32)
        while True:
            batch = stream.recv()
            slots = batch.slots[batch.due]
            stream.send(actions[: len(slots)], slots)
            yield len(slots)


def _pettingzoo() -> Steps:
    """An agent for each flow."""
    env, action = FlowParallelEnv(_incast(_FLOWS)), np.zeros(1, dtype=np.float32)
    try:
        env.reset(seed=1)
        while True:
            if not env.agents:
                env.reset()
            _, _, _, _, infos = env.step(dict.fromkeys(env.agents, action))
            yield sum(bool(info["due"]) for info in infos.values())
    finally:
        env.close()


#: Key of the JSON: what is played.
FRONT_ENDS: Mapping[str, Callable[[], Steps]] = {
    "gymnasium": _gymnasium,
    "make_vec": _vector,
    "stable_baselines3": _stable_baselines,
    "stable_baselines3_64": lambda: _stable_baselines(32),
    "stable_baselines3_256": lambda: _stable_baselines(128),
    "recv_send": _stream,
    "pettingzoo": _pettingzoo,
}


def steps_per_s(name: str, seconds: float) -> tuple[float, float]:
    """Decisions a wall second of a front end, and Pendulum's steps a wall second, in turns.

    Each is its fastest turn of ``seconds`` in all: other processes can only slow a turn down.
    """
    with closing(FRONT_ENDS[name]()) as ours, closing(_pendulum()) as pendulum:  # type: ignore[type-var]
        best = [0.0, 0.0]
        for _ in range(max(round(seconds / _TURN_S / 2), 1)):
            for i, steps in enumerate((ours, pendulum)):
                best[i] = max(best[i], _turn(steps))
        return best[0], best[1]


def _turn(steps: Steps) -> float:
    """Decisions a wall second of one turn, after a first step that wakes the processes."""
    next(steps)
    began = now = time.perf_counter()
    done = 0
    while now < began + _TURN_S:
        done += next(steps)
        now = time.perf_counter()
    return done / (now - began)
