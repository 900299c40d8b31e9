# SPDX-License-Identifier: GPL-2.0-or-later
"""Every front end names whose action is wrong, in the same words, and accepts valid ones afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ns3_env  # noqa: F401 (registers the environments)
from ns3_env.decision.actions import AbsoluteWindow
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.envs.gym_vector_env import FlowVectorEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.scenario import Synchronous

_SCENARIO = incast_scenario(3, spread_ns=1).model_copy(update={"clock": Synchronous()})
_WRONG: dict[str, tuple[Any, str]] = {
    "NaN": (np.nan, "is NaN: the policy gave no number"),
    "infinite": (-np.inf, "is infinite: the policy gave no number"),
    "pair": ([0.0, 1.0], r"is no array of numbers of the shape \(1,\), but of the shape \(2,\)"),
    "nothing": (None, "is NaN: the policy gave no number"),
    "text": ("up", r"is no array of numbers of the shape \(1,\), but 'up'"),
}


def _rows(wrong: Any) -> list[Any]:
    """Three actions, the last of which is wrong."""
    return [[0.0], [0.0], [wrong] if isinstance(wrong, float) else wrong]


def _agents(wrong: Any) -> dict[str, Any]:
    return dict(zip(("flow_0", "flow_1", "flow_2"), _rows(wrong), strict=True))


def _stream() -> Any:
    env = FlowStream(_SCENARIO, slots=3)
    env.start()
    while len(env.recv(wait_all=True).slots) < 3:
        env.start()
    return env


def _multi_agent() -> Any:
    pytest.importorskip("ray")
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv

    return FlowMultiAgentEnv({"scenario": _SCENARIO})


def _begun(env: Any) -> Any:
    env.reset(seed=1)
    return env


def _vec() -> Any:
    env = FlowVecEnv(_SCENARIO, slots=3)
    env.mask.acknowledge()
    env.reset()
    return env


Begin, Give = Callable[[], Any], Callable[[Any, Any], object]
_FRONT_ENDS: dict[str, tuple[str, Begin, Give]] = {
    "flow": (r"flows \[0\]", lambda: _begun(FlowEnv()), lambda e, x: e.step(_rows(x)[2])),
    "tcp": (
        r"flows \[0\]",
        lambda: _begun(gym.make("ns3_env/TcpBottleneck-v0")),
        lambda e, x: e.step(_rows(x)[2]),
    ),
    "others": (
        r"environments \[2\]",
        lambda: _begun(FlowVectorEnv(3, autoreset_mode="NextStep")),
        lambda e, x: e.step(_rows(x)),
    ),
    "make_vec": (
        r"environments \[2\]",
        lambda: _begun(gym.make_vec("ns3_env/RdmaIncast-v0", num_envs=3)),
        lambda e, x: e.step(_rows(x)),
    ),
    "stream": (r"slots \[2\]", _stream, lambda e, x: e.send(_rows(x), [0, 1, 2])),
    "sb3": (r"slots \[2\]", _vec, lambda e, x: e.step(_rows(x))),
    "pettingzoo": (
        r"agents \['flow_2'\]",
        lambda: _begun(FlowParallelEnv(_SCENARIO)),
        lambda e, x: e.step(_agents(x)),
    ),
    "rllib": (r"agents \['flow_2'\]", lambda: _begun(_multi_agent()), lambda e, x: e.step(_agents(x))),
}


@pytest.mark.parametrize("wrong", _WRONG)
@pytest.mark.parametrize("front", _FRONT_ENDS)
def test_a_wrong_action_is_named_and_may_be_given_again(front: str, wrong: str) -> None:
    who, begin, give = _FRONT_ENDS[front]
    action, what = _WRONG[wrong]
    env = begin()
    with pytest.raises(ValueError, match=rf"^the action of {who} {what}.*nothing was sent$"):
        give(env, action)
    give(env, 7.0)  # outside the box: cut to it
    env.close()


@pytest.mark.parametrize(
    "make", [lambda: FlowParallelEnv(_SCENARIO), _multi_agent], ids=["pettingzoo", "rllib"]
)
def test_missing_agents_and_strangers_are_named(make: Callable[[], Any]) -> None:
    env = _begun(make())
    actions = _agents(0.0)
    with pytest.raises(ValueError, match=r"agents \['flow_1', 'flow_2'\] is missing: they decide now"):
        env.step({"flow_0": actions["flow_0"]})
    with pytest.raises(
        ValueError, match=r"agents \['flow_9'\] is nobody's: those that live are \['flow_[012]'"
    ):
        env.step({**actions, "flow_9": [0.0]})
    env.step(actions)
    env.close()


def test_too_few_actions_and_windows_below_0_are_told_too() -> None:
    env = _begun(FlowVectorEnv(3, flows=2, action=AbsoluteWindow()))
    with pytest.raises(ValueError, match=r"actions of 3 environments have the shape \(3, 1\), not \(2, 1\)"):
        env.step(np.zeros((2, 1)))
    with pytest.raises(ValueError, match=r"the action of environments \[1\] is below 0, the least"):
        env.step([[1e4], [-1.0], [1e4]])
    env.step([[1e4], [np.inf], [1e4]])  # no window
    env.close()
