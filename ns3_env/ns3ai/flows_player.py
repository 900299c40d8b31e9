# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs many flows over ns3-ai's vector interface, with an element for each flow."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ns3_env.decision import observations
from ns3_env.envs.bottleneck_envs import TCP_FIELDS, bottleneck_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.errors import ScenarioError
from ns3_env.ns3ai.gym_wire import SLICE_S
from ns3_env.ns3ai.player import heard, leave_if_gone
from ns3_env.ns3ai.processes import Peer
from ns3_env.ns3ai.segments import SegmentEnd, opened
from ns3_env.ns3ai.targets import Settings, Target
from ns3_env.scenario import Synchronous

#: Bits of an element's ``state``; 0: no flow, or one that waits.
DUE, TERMINATED, TRUNCATED = 1, 2, 4


def element_dtypes(fields: Sequence[str]) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Types of the vectors' elements: the simulator's, and Python's."""
    return (
        np.dtype([("state", np.uint32), ("reward", np.float32), *((field, np.float32) for field in fields)]),
        np.dtype([("action", np.float32)]),
    )


def element_structs(fields: Sequence[str]) -> str:
    """The same in C++, for the bindings of ns3-ai's vector interface."""
    lines = [f"    float {field};" for field in fields]
    return "\n".join(
        (
            "// The vectors' elements, one for each flow. state: 1 an action is due, 2 done, 4 cut; 0 waits.",
            *("struct FlowState", "{", "    uint32_t state;", "    float reward;", *lines, "};", ""),
            *("struct FlowAction", "{", "    float action;", "};"),
        )
    )


def play(target: Target, settings: Settings) -> None:
    """One episode of all flows, until the last one has ended; then the segment is marked as finished.

    The vectors are known to be long enough. Raises as :func:`ns3_env.ns3ai.player.play`.
    """
    end = opened(settings.names, (1, 1))
    with heard(lambda: end.finish(SLICE_S)), contextlib.closing(_environment(target, settings)) as env:
        state_dtype, action_dtype = element_dtypes(env.fields)
        _converse(
            opened(settings.names, (state_dtype.itemsize, action_dtype.itemsize)),
            Peer(settings.segment),
            env,
            settings.seed,
        )


def _converse(end: SegmentEnd, peer: Peer, env: FlowParallelEnv, seed: int | None) -> None:
    """The episode's messages, in turn."""
    state_dtype, action_dtype = element_dtypes(env.fields)

    def look() -> None:
        leave_if_gone(end, peer)

    states = np.zeros(end.rows, dtype=state_dtype)
    observations, infos = env.reset(seed=seed)
    _fill(states, env, observations, {}, {}, {}, infos)
    while True:
        _until(lambda: end.send(states.tobytes(), SLICE_S), look)
        answer = _until(lambda: end.receive(SLICE_S), look)
        if not env.agents:
            break
        actions: NDArray[Any] = np.frombuffer(answer, dtype=action_dtype)["action"]
        chosen = {agent: actions[i : i + 1] for i, agent in enumerate(env.possible_agents)}
        observations, rewards, terminated, truncated, infos = env.step(chosen)
        _fill(states, env, observations, rewards, terminated, truncated, infos)
    _until(lambda: end.finish(SLICE_S), look)


def _environment(target: Target, settings: Settings) -> FlowParallelEnv:
    arguments = settings.arguments()
    if target.transport == "tcp":
        arguments = {"fields": TCP_FIELDS, "reward": "goodput_delay", **arguments}
        if "scenario" not in arguments:
            plain = bottleneck_scenario(arguments.pop("flows"))
            arguments["scenario"] = plain.model_copy(update={"clock": Synchronous()})
    env = FlowParallelEnv(**arguments)
    if env.action.space.shape != (1,):
        raise ScenarioError("an action of a flow is one number on the wire")
    return env


def _fill(
    states: NDArray[Any],
    env: FlowParallelEnv,
    observations: dict[str, NDArray[np.float32]],
    rewards: dict[str, float],
    terminated: dict[str, bool],
    truncated: dict[str, bool],
    infos: dict[str, dict[str, Any]],
) -> None:
    """Writes the elements of the flows under way; all other elements become 0."""
    states[:] = np.zeros(1, dtype=states.dtype)
    for i, agent in enumerate(env.possible_agents):
        if agent not in observations:
            continue
        state = DUE * bool(infos[agent]["due"])
        state |= TERMINATED * terminated.get(agent, False) | TRUNCATED * truncated.get(agent, False)
        states[i] = (state, rewards.get(agent, 0.0), *observations[agent])


def _until(attempt: Callable[[], Any], look: Callable[[], object]) -> Any:
    """Returns the result of an attempt, as soon as it has one."""
    while (result := attempt()) in (None, False):
        look()
    return result


#: Fields of an element if none are named, by transport.
DEFAULT_FIELDS = {"rdma": observations.FDCC_FIELDS, "tcp": TCP_FIELDS}
