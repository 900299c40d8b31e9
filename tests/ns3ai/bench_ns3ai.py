# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmark: round trips a second over ns3-ai's wire and over our channel.

The figures of docs/performance.md: ``python -m tests.ns3ai.bench_ns3ai``. Each is the best of several turns,
measured in sequence.
"""

import ctypes
import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.decision.observations import FDCC_FIELDS
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.ns3ai import Ns3AiEnv, path
from ns3_env.ns3ai.flows_player import element_dtypes
from ns3_env.simulator import DecisionBatch, Simulator
from tests.ns3ai.foreign_ns3ai import ForeignNs3Env, Interface, foreign_tree, start
from tests.processes import dummy_sim

TURNS = 5
SECONDS = 1.0
#: Flows that last longer than any measurement.
LONG = {
    "time_limit_ns": 10_000_000_000,
    "topology": {"kind": "dumbbell", "senders": 4},
    "traffic": {"kind": "incast", "size_bytes": 20_000_000_000},
}
_STILL = np.zeros(1, dtype=np.float32)


def rate(step: Callable[[], Any]) -> float:
    """Calls a second."""
    for _ in range(100):
        step()
    count, start_s = 0, time.perf_counter()
    while (spent := time.perf_counter() - start_s) < SECONDS:
        for _ in range(20):
            step()
        count += 20
    return count / spent


def our_channel() -> float:
    """A row there, an action back: ns3_env's channel, nothing simulated."""
    with Simulator(executable=dummy_sim()) as simulator:
        simulator.send_reset({"dummy": {"slots": 1, "steps": 10**9}})
        assert isinstance(simulator.receive(), DecisionBatch)

        def step() -> None:
            simulator.send_actions(np.zeros((1, 3)))
            simulator.receive()

        return rate(step)


def of_environment(env: Any, step: Callable[[Any], Any]) -> float:
    env.reset(seed=1)
    measured = rate(lambda: step(env))
    env.close()
    return measured


def their_python_on_ours(folder: Path) -> float:
    """A foreign Python that spins, on one RDMA flow of four."""
    scenario = folder / "long.yaml"
    scenario.write_text(repr(LONG))
    foreign = ForeignNs3Env("rdma-incast", path(), {"scenario": scenario, "seed": 1})
    foreign.state()
    measured = rate(lambda: foreign.step([0.0]))
    foreign.kill()
    return measured


def clocked() -> dict[str, Any]:
    """The same flows, which decide together."""
    return {**LONG, "clock": {"name": "synchronous"}}


def their_vectors_on_ours(folder: Path) -> float:
    """A foreign Python that spins, on all four flows, by vectors."""
    states, actions = element_dtypes(FDCC_FIELDS)
    scenario = folder / "flows.yaml"
    scenario.write_text(repr(clocked()))
    interface = Interface(4)
    process = start(f"{path()}/ns3 run rdma-flows -- --scenario={scenario} --seed=1")
    nothing = np.zeros(4, dtype=actions).tobytes()

    def step() -> None:
        ctypes.string_at(interface.receive_begin(), states.itemsize * 4)
        interface.receive_end()
        ctypes.memmove(interface.send_begin(), nothing, len(nothing))
        interface.send_end()

    measured = rate(step)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    interface.remove()
    return measured


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured: dict[str, Callable[[], float]] = {
            "our channel, a row": our_channel,
            "Ns3AiEnv on a foreign simulation": lambda: of_environment(
                Ns3AiEnv("any", foreign_tree(folder), {"steps": 10**9}), lambda env: env.step(1)
            ),
            "foreign Python on rdma-incast, Gym interface": lambda: their_python_on_ours(folder),
            "that flow, FlowEnv": lambda: of_environment(FlowEnv(LONG), lambda env: env.step(_STILL)),
            "foreign Python on rdma-flows, 4 flows, vectors": lambda: their_vectors_on_ours(folder),
            "those flows, FlowParallelEnv": lambda: of_environment(
                FlowParallelEnv(clocked()), lambda env: env.step(dict.fromkeys(env.agents, _STILL))
            ),
        }
        best = dict.fromkeys(measured, 0.0)
        for _ in range(TURNS):
            for what, measure in measured.items():
                best[what] = max(best[what], measure())
    for what, per_s in best.items():
        print(f"{what:50} {per_s:10,.0f} /s")


if __name__ == "__main__":
    main()
