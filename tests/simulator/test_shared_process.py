# SPDX-License-Identifier: GPL-2.0-or-later
"""Several networks in one process: each as if it were alone, in health and in trouble."""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest

from ns3_env import _native
from ns3_env.errors import ScenarioError, SimulatorDied, SimulatorHung
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator, share
from tests.processes import alive, descriptors_before, open_descriptors, wait_until
from tests.samples.scenarios import incast


def mixed(**changes: Any) -> Scenario:
    """One flow under the agent, the others under another controller, which start late."""
    keys = {"controllers": ["agent", "dcqcn"], "controlled_flows": [0], **changes}
    return incast(4, 200_000, spread_ns=20_000, **keys)


#: Marks, losses and BBR's phases are drawn.
LOSSY = mixed(loss_probability=0.01)
BBR = mixed(
    transport="tcp",
    traffic={"kind": "incast", "size_bytes": 3_000_000, "spread_ns": 500_000},
    controllers=[{"name": "agent"}, {"name": "bbr"}],
)


@contextmanager
def together(count: int, processes: int = 1, **options: Any) -> Iterator[list[Simulator]]:
    """Simulators that share processes."""
    with ExitStack() as stack:
        simulators = [stack.enter_context(Simulator(**options)) for _ in range(count)]
        shared = share(simulators, processes)
        yield simulators
    assert all(process.is_over for process in shared)


def played(simulators: Sequence[Simulator], scenarios: Sequence[Scenario]) -> list[list[str]]:
    """All messages of an episode of each, the simulators taking turns at every decision."""
    messages: list[list[str]] = [[] for _ in scenarios]
    for simulator, scenario in zip(simulators, scenarios, strict=True):
        simulator.send_reset(scenario)
    going = list(range(len(simulators)))
    while going:
        for i in tuple(going):
            message = simulators[i].receive()
            messages[i].append(repr(message))
            if isinstance(message, EpisodeEnd):
                going.remove(i)
            else:
                assert isinstance(message, DecisionBatch)
                messages[i][-1] += message.records.tobytes().hex()
                window = 2e4 + 1e4 * (len(messages[i]) % 5)
                simulators[i].send_actions(np.tile([window, 1e11, 0.0], (int(message.due.sum()), 1)))
    return messages


def alone(scenarios: Sequence[Scenario]) -> list[list[str]]:
    return [played([simulator], [x])[0] for x in scenarios for simulator in [Simulator()]]


def begun(simulators: Sequence[Simulator]) -> None:
    """Each waits for its first actions."""
    for simulator in simulators:
        simulator.send_reset(mixed())
    for simulator in simulators:
        assert isinstance(simulator.receive(), DecisionBatch)


def goes_on(simulator: Simulator) -> None:
    """The simulator plays its episode to the end."""
    while simulator.due >= 0:
        simulator.send_actions(np.tile([5e4, 1e11, 0.0], (simulator.due, 1)))
        simulator.receive()


@pytest.mark.parametrize("scenario", [mixed(), LOSSY, BBR], ids=["rdma", "losses", "bbr"])
def test_each_network_plays_as_if_it_were_alone(scenario: Scenario) -> None:
    scenarios = [scenario.with_seed(seed) for seed in range(1, 6)]
    with together(5, processes=2) as simulators:
        assert played(simulators, scenarios) == alone(scenarios)
        assert len({simulator.pid for simulator in simulators}) == 2
        assert played(simulators[::-1], scenarios) == alone(scenarios), "in further episodes too"


def test_a_refused_scenario_is_its_networks_own_affair() -> None:
    refused = mixed(controllers=[{"name": "agent"}, {"name": "policy", "attributes": {"File": "/none"}}])
    with together(3) as simulators:
        begun(simulators)
        simulators[1].send_reset(refused)
        with pytest.raises(ScenarioError, match="/none"):
            simulators[1].receive()
        simulators[1].send_reset(mixed())
        assert isinstance(simulators[1].receive(), DecisionBatch)
        for simulator in simulators:
            goes_on(simulator)
        assert len({simulator.pid for simulator in simulators}) == 1


def test_a_networks_fault_has_the_words_of_a_process_and_the_others_go_on() -> None:
    with together(3) as simulators, Simulator() as single:
        begun([*simulators, single])
        for faulty in (simulators[1], single):
            assert faulty._agent is not None
            faulty._agent.send(_native.COMMAND_STEP, 0)  # an action is due
        words = []
        for faulty in (simulators[1], single):
            pid = faulty.pid
            with pytest.raises(
                SimulatorDied, match="ended with exit code 1; its last words:\nrdma-sim: "
            ) as e:
                faulty.receive()
            words.append(str(e.value).replace(str(pid), "PID"))
        assert words[0] == words[1]
        begun(simulators[1:2])  # in a process of its own
        for simulator in simulators:
            goes_on(simulator)


def test_a_killed_process_is_the_death_of_all_its_networks_and_a_reset_starts_it_again() -> None:
    with together(3) as simulators:
        begun(simulators)
        pid = simulators[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        for simulator in simulators:
            with pytest.raises(SimulatorDied, match=f"pid {pid}.*killed by signal 9"):
                goes_on(simulator)
        begun(simulators)
        assert len({simulator.pid for simulator in simulators}) == 1
        assert simulators[0].pid != pid


def test_a_stopped_process_is_hung_for_its_networks() -> None:
    with together(2, hang_timeout_s=0.6) as simulators:
        begun(simulators)
        pid = simulators[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        simulators[1].send_actions([[5e4, 1e11, 0.0]])
        with pytest.raises(SimulatorHung, match="was stopped for"):
            simulators[1].receive()
        assert wait_until(lambda: not alive(pid), 60)
        begun(simulators)


def test_a_crash_shows_the_scenario_that_was_played() -> None:
    with together(2) as simulators:
        begun(simulators)
        goes_on(simulators[1])
        simulators[1].send_reset(mixed().with_seed(77))
        simulators[1].receive()
        pid = simulators[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGSEGV)
        assert wait_until(lambda: not alive(pid), 60)
        with pytest.raises(SimulatorDied, match=r"signal 11.*it played (\S+) under the policy's") as e:
            simulators[0].check()
        path = str(e.value).partition("it played ")[2].partition(" under")[0]
        with open(path) as file:
            assert '"seed":77' in file.read()
        os.unlink(path)


def test_a_simulator_that_is_closed_leaves_the_others_their_process() -> None:
    before = descriptors_before()
    with together(3) as simulators:
        begun(simulators)
        pid = simulators[0].pid
        assert pid is not None
        simulators[0].close()
        simulators[2].kill()
        assert simulators[0].pid is None
        goes_on(simulators[1])
        assert simulators[1].pid == pid
        begun(simulators[:1])
        assert simulators[0].pid != pid
        simulators[1].close()
        assert not alive(pid)
    del simulators
    assert open_descriptors() <= before


def test_a_branch_of_one_of_several_networks_goes_its_own_way() -> None:
    with together(3) as simulators:
        begun(simulators)
        (branch,) = simulators[1].branch()
        assert branch.pid != simulators[1].pid
        messages = []
        for simulator in (branch, simulators[1]):
            simulator.send_actions([[5e4, 1e11, 0.0]])
            message = simulator.receive()
            assert isinstance(message, DecisionBatch)
            messages.append(message.records.tobytes())
        assert messages[0] == messages[1]
        goes_on(branch)
        branch.send_reset(mixed())
        assert isinstance(branch.receive(), DecisionBatch)
        pid = branch.pid
        branch.close()
        assert pid is not None
        assert not alive(pid)
        for simulator in simulators:
            goes_on(simulator)
