# SPDX-License-Identifier: GPL-2.0-or-later
"""After an exception at any place, reset() starts again and close() closes, in every front end."""

import contextlib
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest

import ns3_env
from ns3_env import _native
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollouts
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.ns3ai import Ns3AiEnv
from ns3_env.ns3ai.session import Session
from ns3_env.scenario import Synchronous
from ns3_env.simulator import DecisionBatch, Simulator
from tests.ns3ai.foreign_ns3ai import foreign_tree
from tests.processes import descendants, open_descriptors, wait_until
from tests.samples.policy_files import mlp_file

_TICKS = incast_scenario(3, size_bytes=30_000).model_copy(update={"clock": Synchronous()})
_TRACED = (str(Path(ns3_env.__file__).parent), __file__)


class Places:
    """Raises KeyboardInterrupt at one place of a call: a line of the package, or the end of a call in it."""

    def __init__(self, at: int) -> None:
        """``at``: the place's number; -1: nowhere."""
        self._at, self.passed = at, 0

    def during(self, call: Callable[[Any], object], env: Any) -> None:
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            call(env)
        except BaseException:  # some libraries make another exception of it
            if self._at < 0:
                raise
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(_TRACED):
            return None
        if frame.f_back is not None and "__del__" in (frame.f_code.co_name, frame.f_back.f_code.co_name):
            return None  # exceptions raised there are discarded
        if event in ("line", "return"):
            self.passed += 1
            if self.passed - 1 == self._at:
                raise KeyboardInterrupt
        return self._trace


@pytest.fixture(autouse=True)
def _compiled_calls_end_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attributes the ends of compiled calls, at which signals are checked, to this file."""

    def ends(kind: type, name: str) -> None:
        method = getattr(kind, name)
        monkeypatch.setattr(kind, name, lambda *a, **k: method(*a, **k))

    for name in ("wait", "send", "step", "branch", "write_blob", "read_blob"):
        ends(_native.AgentChannel, name)
    for name in ("wait", "take", "step"):
        ends(_native.ChannelGroup, name)


class FrontEnd(NamedTuple):
    """An environment, one call that uses it, and one that starts again and returns its observations."""

    make: Callable[[Path], Any]
    use: Callable[[Any], object]
    reset: Callable[[Any], Any]


def _answered(env: Any) -> None:
    for _ in range(3):
        batch = env.recv()
        env.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])


def _restarted(env: Any) -> bytes:
    env.go_on_with(range(env.num_simulators))
    env.start()
    batch = env.recv(wait_all=True)
    env.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])
    return bytes(batch.records.tobytes())


def _steps(env: Any, action: Any) -> None:
    """Through an episode's end."""
    for _ in range(12):
        _, _, terminated, truncated, _ = env.step(action)
        if np.ndim(terminated) == 0 and (terminated or truncated):
            env.reset()


def _agents(env: Any) -> None:
    for _ in range(4):
        env.step({agent: np.zeros(1) for agent in env.agents})
        if not env.agents:
            env.reset()


def _branched(env: Any) -> None:
    other = env.branch()
    other.step(np.zeros(1))
    other.close()
    with contextlib.closing(env.snapshot()) as snapshot:
        env.restore(snapshot)


def _talk(simulator: Any) -> None:
    simulator.send_reset(_TICKS)
    while isinstance(message := simulator.receive(), DecisionBatch):
        (copy,) = simulator.branch()
        copy.close()
        simulator.send_actions(np.tile([1e5, 1e11, 0.0], (int(message.due.sum()), 1)))


def _asked(simulator: Any) -> Any:
    simulator.send_reset(_TICKS)
    return simulator.receive().records.tobytes()


def _rolled(env: Any, folder: Path) -> Any:
    env.go_on_with(0)
    file = folder / "policy.safetensors"
    env.begin(file if file.exists() else mlp_file(file, clock=Synchronous()))
    return env.next().records.tobytes()


def _rollouts(folder: Path) -> Any:
    env: Any = Rollouts(_TICKS)
    env.folder = folder
    return env


def _multi_agent(folder: Path) -> Any:
    pytest.importorskip("ray")
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv

    return FlowMultiAgentEnv({"scenario": _TICKS})


def _acknowledged(folder: Path) -> Any:
    env = FlowVecEnv(_TICKS, slots=3, num_simulators=2, seed=4)
    env.mask.acknowledge()
    return env


def _sb3_reset(env: Any) -> Any:
    env.seed(4)
    return env.reset().tobytes()


def _gymnasium(name: str) -> Callable[[Path], Any]:
    keys = {} if "Incast-v4" in name else {"flows": 2}
    return lambda folder: gym.make(name, **keys)


def _seeded(env: Any) -> Any:
    observation = env.reset(seed=1)[0]
    return (
        {k: v.tobytes() for k, v in observation.items()}
        if isinstance(observation, dict)
        else observation.tobytes()
    )


_ONE = np.zeros(1, dtype=np.float32)
_FRONT_ENDS: dict[str, FrontEnd] = {
    "rdma": FrontEnd(_gymnasium("ns3_env/RdmaIncast-v1"), lambda env: _steps(env, _ONE), _seeded),
    "task": FrontEnd(_gymnasium("ns3_env/Incast-v4"), lambda env: _steps(env, _ONE), _seeded),
    "branch": FrontEnd(lambda _: FlowEnv(flows=2), _branched, _seeded),
    "make_vec": FrontEnd(
        lambda _: gym.make_vec("ns3_env/RdmaIncast-v1", num_envs=2, scenario=incast_scenario(2, 20_000)),
        lambda env: _steps(env, np.zeros((2, 1))),
        _seeded,
    ),
    "stream": FrontEnd(lambda _: FlowStream(_TICKS, slots=3, num_simulators=2), _answered, _restarted),
    "sb3": FrontEnd(_acknowledged, lambda env: env.step(np.zeros((6, 1))), _sb3_reset),
    "pettingzoo": FrontEnd(lambda _: FlowParallelEnv(_TICKS), _agents, _seeded),
    "rllib": FrontEnd(_multi_agent, _agents, _seeded),
    "simulator": FrontEnd(lambda _: Simulator(), _talk, _asked),
    "rollouts": FrontEnd(
        _rollouts, lambda env: _rolled(env, env.folder), lambda env: _rolled(env, env.folder)
    ),
}


def _raise_everywhere(front: FrontEnd, folder: Path, trials: int) -> None:
    """Raises at ``trials`` evenly spread places of use, of a first and a later reset and of closing."""
    env = front.make(folder)
    expected = front.reset(env)
    calls = {"use": front.use, "reset": front.reset, "close": lambda env: env.close()}
    for name, call in calls.items():
        front.reset(env)
        (whole := Places(-1)).during(call, env)
        assert whole.passed > 3
        for at in range(0, whole.passed, max(1, whole.passed // trials)):
            if name == "close":
                env = front.make(folder)
            front.reset(env)
            Places(at).during(call, env)
            if at % 2 or name == "close":
                env.close()
                env.close()
                env = front.make(folder)
                Places(at).during(front.reset, env)
            assert front.reset(env) == expected
            front.use(env)
    env.close()


def _promise(front: FrontEnd, folder: Path, trials: int) -> None:
    gc.collect()
    descriptors, processes = open_descriptors(), set(descendants(os.getpid()))
    _raise_everywhere(front, folder, trials)
    gc.collect()
    assert wait_until(lambda: set(descendants(os.getpid())) <= processes)
    assert open_descriptors() <= descriptors


def _trials(few: int) -> Any:
    """A few places each time, and every place in a slow test."""
    return pytest.mark.parametrize("trials", [few, pytest.param(10_000, marks=pytest.mark.slow)])


@_trials(3)
@pytest.mark.parametrize("name", _FRONT_ENDS)
def test_after_an_interrupt_anywhere_reset_begins_anew_and_close_closes(
    name: str, trials: int, tmp_path: Path
) -> None:
    _promise(_FRONT_ENDS[name], tmp_path, trials)


def _ns3_ai(folder: Path) -> FrontEnd:
    tree = foreign_tree(folder)

    def use(env: Any) -> None:
        for _ in range(2):
            env.step(1)

    return FrontEnd(lambda _: Ns3AiEnv("any", tree, {"steps": 9}, timeout_s=20), use, _seeded)


@pytest.mark.alone
@_trials(3)
def test_after_an_interrupt_anywhere_an_environment_of_ns3_ai_begins_anew(
    trials: int, tmp_path: Path
) -> None:
    _promise(_ns3_ai(tmp_path), tmp_path, trials)


@pytest.mark.alone
def test_an_interrupt_at_the_start_leaves_the_segments_name_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = _ns3_ai(tmp_path)
    real = Session.start

    def started_and_interrupted(session: Session) -> None:
        real(session)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Session, "start", started_and_interrupted)
        with pytest.raises(KeyboardInterrupt) as interrupt:  # stored, as in a notebook
            front.make(tmp_path)
    other = front.make(tmp_path)
    front.reset(other)
    other.close()
    del interrupt
