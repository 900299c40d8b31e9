# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one episode of our environment as the simulator's end of ns3-ai's Gym interface."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ns3_env.envs.bottleneck_envs import TcpBottleneckEnv
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.ns3ai.gym_wire import GymWire, Reason, message
from ns3_env.ns3ai.processes import Peer
from ns3_env.ns3ai.segments import SegmentEnd, opened
from ns3_env.ns3ai.spaces import contain, describe, value_of
from ns3_env.ns3ai.targets import Settings, Target


class PeerGone(Exception):  # noqa: N818
    """The Python on the other end has ended: it will not send a message."""


@contextlib.contextmanager
def heard(tell: Callable[[], object]) -> Iterator[None]:
    """Reports any error of the block to the waiting Python, which would otherwise wait for ever."""
    try:
        yield
    except PeerGone:
        raise
    except BaseException:
        with contextlib.suppress(Exception):
            tell()
        raise


def play(target: Target, settings: Settings) -> None:
    """One episode, until its end or until Python asks for a stop.

    Raises PeerGone, ScenarioError, SimulatorError, SegmentError, and ValueError for invalid actions.
    """
    end = opened(settings.names)
    peer = Peer(settings.segment)
    wire = GymWire(end, "Python", lambda: leave_if_gone(end, peer))
    with heard(wire.send_nonsense):
        kind = {"rdma": FlowEnv, "tcp": TcpBottleneckEnv}[target.transport]
        with contextlib.closing(kind(**settings.arguments("flow", "others"))) as env:
            _converse(wire, env, settings.seed)


def _converse(wire: GymWire, env: FlowEnv, seed: int | None) -> None:
    """The episode's messages, in turn."""
    spaces = {"obsSpace": describe(env.observation_space), "actSpace": describe(env.action_space)}
    wire.send(message("SimInitMsg", **spaces))
    if wire.receive("SimInitAck").stopSimReq:
        return
    observation, info = env.reset(seed=seed)
    state = message("EnvStateMsg", info=_info_text(info))
    while True:
        state.obsData.CopyFrom(contain(env.observation_space, observation))
        wire.send(state)
        answer = wire.receive("EnvActMsg")
        if state.isGameOver or answer.stopSimReq:
            return
        action = value_of(env.action_space, answer.actData)
        observation, reward, terminated, truncated, info = env.step(action)
        over = Reason.GameOver if terminated else Reason.SimulationEnd
        state = message(
            "EnvStateMsg",
            reward=reward,
            isGameOver=terminated or truncated,
            reason=over,
            info=_info_text(info),
        )


def _info_text(info: dict[str, Any]) -> str:
    """Returns the text of a step's info: the simulated time. Telemetry does not fit into a message."""
    return f"time_ns={info['time_ns']:.3f}"


def leave_if_gone(end: SegmentEnd, peer: Peer) -> None:
    """Raises PeerGone, and removes the segment's name, which a Python that was killed has left."""
    if peer.is_gone():
        end.unlink()
        raise PeerGone(f"the Python that made the segment (pid {peer.pid}) has ended")
