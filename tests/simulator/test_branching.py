# SPDX-License-Identifier: GPL-2.0-or-later
"""Branches of a simulation: the same bits, independent continuation, nothing left behind."""

import gc
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.envs.gym_env import FlowEnv
from ns3_env.errors import SimulatorDied, SimulatorError, SimulatorHung
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator, list_controllers
from ns3_env.simulator.results import charged_slowdowns
from tests.paths import ROOT
from tests.processes import alive, descriptors_before, open_descriptors, shared_memory, wait_until
from tests.samples.policy_files import needed_attributes

Actions = NDArray[np.float64]
#: Two flows under the agent, two under another controller.
KEYS: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 4},
    "traffic": {"kind": "incast", "size_bytes": 120_000, "spread_ns": 2_000},
    "controllers": [{"name": "agent"}, {"name": "hpcc"}],
    "controlled_flows": [0, 1],
}


def scenario(**changes: Any) -> Scenario:
    return Scenario.from_mapping({**KEYS, **changes}, "branched").with_seed(7)


def under(controller: str, transport: str, **changes: Any) -> Scenario:
    """The two other flows under the controller."""
    other = {"name": controller, "attributes": needed_attributes(controller)}
    return scenario(transport=transport, controllers=[{"name": "agent"}, other], **changes)


@contextmanager
def at_a_decision(content: Any = None, **options: Any) -> Iterator[tuple[Simulator, DecisionBatch]]:
    """A simulator that waits for its first actions, and its message."""
    with Simulator(**options) as original:
        original.send_reset(scenario() if content is None else content)
        message = original.receive()
        assert isinstance(message, DecisionBatch)
        yield original, message


def goes_on(original: Simulator, message: DecisionBatch) -> None:
    """The simulator accepts the actions that were due before."""
    original.send_actions(drawn(np.random.default_rng(0), message))
    assert original.receive()


def drawn(rng: np.random.Generator, message: DecisionBatch) -> Actions:
    due = int(message.due.sum())
    return np.column_stack([rng.uniform(2e3, 8e4, due), rng.uniform(5e9, 1e11, due), rng.uniform(0, 1, due)])


def played(simulator: Simulator, actions: list[Actions]) -> str:
    """Results, as text, of a simulator that gets these actions, the first of which is due."""
    for one in actions:
        simulator.send_actions(one)
        message = simulator.receive()
    assert isinstance(message, EpisodeEnd)
    return json.dumps(message.results, sort_keys=True)


def branched_at(
    episode: Scenario, choose: Callable[[int], bool], at_once: int = 1
) -> tuple[list[Actions], str, list[tuple[int, Simulator]]]:
    """All actions of an episode, its results, and branches with the number of the action that is due."""
    rng = np.random.default_rng(3)
    actions: list[Actions] = []
    branches: list[tuple[int, Simulator]] = []
    with Simulator() as original:
        original.send_reset(episode)
        while isinstance(message := original.receive(), DecisionBatch):
            if choose(len(actions)):
                branches += [(len(actions), branch) for branch in original.branch(at_once)]
            actions.append(drawn(rng, message))
            original.send_actions(actions[-1])
    return actions, json.dumps(message.results, sort_keys=True), branches


#: Controllers for all flows of a network, which no other controller may join.
ALONE = {"agent", "max_min", "oracle"}
#: A controller of acknowledgements, one of switches' frames, and TCP's: a copy has the memory of any.
EACH_TIME = [("hpcc", "rdma"), ("bcn", "rdma"), ("cubic", "tcp")]
OTHERS = [
    pytest.param(name, transport, marks=pytest.mark.slow)
    for transport in ("rdma", "tcp")
    for name in sorted({*list_controllers(transport=transport)} - ALONE)
    if (name, transport) not in EACH_TIME
]


@pytest.mark.parametrize(("controller", "transport"), [*EACH_TIME, *OTHERS])
def test_a_branch_with_the_same_actions_has_the_same_results_to_the_bit(
    controller: str, transport: str
) -> None:
    branching = under(controller, transport, traffic={**KEYS["traffic"], "size_bytes": 1_000_000})
    decisions = len(branched_at(branching, lambda n: False)[0])
    chosen = np.random.default_rng(len(controller)).choice(decisions, size=10, replace=False)
    actions, expected, branches = branched_at(branching, lambda n: n in chosen)
    assert len(branches) == 10
    for number, branch in branches:
        assert played(branch, actions[number:]) == expected
        branch.close()


def played_from(simulator: Simulator, window: float = 3e4, answers: int | None = None) -> str:
    """Results, as text, under one window (B), after so many answers or any number."""
    due = simulator.due
    for count in itertools.count(1):
        simulator.send_actions(np.tile([window, 5e10, 0.0], (due, 1)))
        message = simulator.receive()
        if not isinstance(message, DecisionBatch):
            assert answers in (None, count)
            break
        due = int(message.due.sum())
    return repr(message)


def test_branches_go_their_own_ways_and_leave_the_original_alone() -> None:
    _, expected, _ = branched_at(scenario(), lambda n: False)
    _, again, branches = branched_at(scenario(), lambda n: n == 5, at_once=3)
    assert again == expected
    ends = []
    for window, (_, branch) in zip((5e3, 2e4, 8e4), branches, strict=True):
        (inner,) = branch.branch()
        ends.append(played_from(inner, window))
        assert played_from(branch, window) == ends[-1]
        inner.close()
        branch.close()
    assert len(set(ends)) == 3


def test_a_branch_outlives_its_original_and_plays_further_episodes() -> None:
    with at_a_decision() as (original, _):
        (branch,) = original.branch()
    assert branch.pid is not None
    assert alive(branch.pid)
    expected = branched_at(scenario(), lambda n: False)[1]
    rng = np.random.default_rng(3)
    branch.send_reset(scenario())
    while isinstance(message := branch.receive(), DecisionBatch):
        branch.send_actions(drawn(rng, message))
    assert json.dumps(message.results, sort_keys=True) == expected
    branch.close()


@pytest.mark.alone
def test_simulators_and_branches_end_with_the_process_that_uses_them() -> None:
    before = shared_memory()
    code = (
        "import time; from tests.simulator.test_branching import *\n"
        "s = Simulator(); s.send_reset(scenario()); s.receive()\n"
        "more = s.branch(3); more += more[0].branch(2)\n"
        "print(*[x.pid for x in [s, *more]], flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        pids = [int(pid) for pid in user.stdout.readline().split()]
        assert len(pids) == 6
        assert all(map(alive, pids))
        user.kill()
    assert wait_until(lambda: not any(map(alive, pids)))
    assert shared_memory() == before


@pytest.mark.alone
@pytest.mark.parametrize("count", [50, pytest.param(10_000, marks=pytest.mark.slow)])
def test_branches_leave_nothing_behind(count: int) -> None:
    with at_a_decision() as (original, _):
        before = (descriptors_before(), shared_memory())
        pids = []
        for number in range(count):
            (branch,) = original.branch()
            pids.append(branch.pid)
            if number % 2:
                branch.close()
            del branch  # as good
        assert (open_descriptors(), shared_memory()) == before
    assert not any(alive(pid) for pid in pids if pid is not None)
    with pytest.raises(ChildProcessError):
        os.waitpid(pids[-1] or 0, os.WNOHANG)


@pytest.mark.parametrize(
    ("number", "error", "words"),
    [(signal.SIGKILL, SimulatorDied, "signal 9"), (signal.SIGSTOP, SimulatorHung, "was stopped")],
)
def test_a_branch_that_is_killed_or_stopped_is_an_error_of_its_own(
    number: signal.Signals, error: type[SimulatorError], words: str
) -> None:
    with at_a_decision(hang_timeout_s=0.3) as (original, message):
        (branch,) = original.branch()
        assert branch.pid is not None
        os.kill(branch.pid, number)
        branch.send_actions(drawn(np.random.default_rng(0), message))
        with pytest.raises(error, match=words):
            branch.receive()
        goes_on(original, message)


def test_without_descriptors_there_is_no_branch_and_the_original_goes_on() -> None:
    with at_a_decision() as (original, message):
        before = descriptors_before()
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 8, limits[1])
        )
        try:
            with pytest.raises(SimulatorError, match="there is no channel to a copy"):
                original.branch(300)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert open_descriptors() == before
        goes_on(original, message)


def test_a_copy_that_cannot_be_made_is_an_error_and_the_original_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with at_a_decision() as (original, message):
        no_file = SimpleNamespace(fd=99_999, close=lambda: None)
        monkeypatch.setattr("ns3_env.simulator.simulator.LastWords", lambda name: no_file)
        with pytest.raises(SimulatorError, match="cannot be copied: No such file"):
            original.branch()
        goes_on(original, message)


def test_the_copies_before_one_that_fails_are_killed_and_have_the_original_s_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with at_a_decision(hang_timeout_s=7) as (original, _):
        (first,) = original.branch()
        assert first.hang_timeout_s == 7
        copies = iter([first])
        monkeypatch.setattr(original, "_copied", lambda *_: next(copies))
        with pytest.raises(RuntimeError):
            original.branch(2)
        assert first.pid is None


def test_an_interruption_while_a_copy_is_made_leaves_the_original_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with at_a_decision() as (original, _):
        (other,) = original.branch()
        expected = played_from(other)
        other.close()
        before = descriptors_before()
        take = Simulator._next_message
        looks = iter(range(1))

        def interrupted(simulator: Simulator) -> int:
            if next(looks, None) is not None:
                raise KeyboardInterrupt
            return take(simulator)

        monkeypatch.setattr(Simulator, "_next_message", interrupted)
        with pytest.raises(KeyboardInterrupt):
            original.branch()
        gc.collect()  # frames of the interruption
        assert open_descriptors() == before
        assert played_from(original) == expected


def test_only_a_simulator_that_waits_for_actions_branches() -> None:
    with Simulator() as simulator:
        for step in (lambda: None, lambda: simulator.send_reset(scenario())):
            step()
            with pytest.raises(RuntimeError, match="waits for actions"):
                simulator.branch()
        simulator.receive()
        (branch,) = simulator.branch()
        played_from(branch)
        with pytest.raises(RuntimeError, match="waits for actions"):
            branch.branch()
        branch.close()


def test_a_copy_that_asks_for_nothing_keeps_windows_to_the_end() -> None:
    ends = []
    with Simulator() as original:
        original.send_reset(scenario())
        for _ in range(5):
            message = original.receive()
            assert isinstance(message, DecisionBatch)
            original.send_actions(np.tile([3e4, 5e10, 0.0], (int(message.due.sum()), 1)))
        original.receive()
        for asks in (True, False):
            (branch,) = original.branch(asks=asks)
            ends.append(played_from(branch, answers=None if asks else 1))
            branch.close()
    assert ends[0] == ends[1]


def test_a_horizon_ends_a_copy_there_and_its_copies_too() -> None:
    with at_a_decision() as (original, message):
        until = message.time_ns + 20_000
        (cut,) = original.branch(until_ns=until)
        (inner,) = cut.branch()
        for branch in (cut, inner):
            assert f"'end_ns': {until:g}" in played_from(branch).replace(".0,", ",")
            branch.close()
        assert "left_ns" not in played_from(original)


def test_a_horizon_charges_what_is_left_as_links_shared_equally() -> None:
    """Closed form: flow i is done after the sum over j of min(L_i, L_j), on the link that all share."""
    alone = scenario(controllers=[{"name": "agent"}], controlled_flows=None)
    with at_a_decision(alone) as (original, message):
        (cut,) = original.branch(until_ns=message.time_ns + 20_000, asks=False)
        cut.send_actions(np.tile([3e4, 5e10, 0.0], (int(message.due.sum()), 1)))
        end = cut.receive()
        cut.close()
    assert isinstance(end, EpisodeEnd)
    flows = end.results["flows"]
    size, acked, payload, header = (
        np.asarray(flows[name], float)
        for name in ("size_bytes", "acked_bytes", "payload_bytes", "header_bytes")
    )
    remaining_ns = (size - acked) * (payload + header) / payload * 8e9 / 100e9
    assert (remaining_ns > 0).all()
    shared = [sum(min(time_ns, other) for other in remaining_ns) for time_ns in remaining_ns]
    assert flows["left_ns"] == pytest.approx(shared)
    lived = end.results["totals"]["end_ns"] - np.asarray(flows["start_ns"])
    charged = (lived + shared) / np.asarray(flows["standalone_ns"])
    assert charged_slowdowns(end.results) == pytest.approx(charged)


def test_captures_stay_the_originals(tmp_path: Path) -> None:
    files = []
    for name in ("alone", "branched"):
        (tmp_path / name).mkdir()
        prefix = str(tmp_path / name / "x")
        capture = scenario(record={"pcap": prefix})
        branches = branched_at(capture, lambda n, name=name: name == "branched" and n < 3)[2]
        for _, branch in branches:
            played_from(branch)
            branch.close()
        files.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert files[0] == files[1]
    assert sum(map(len, files[0].values())) > 10_000


def steps(env: FlowEnv, count: int = 6) -> list[tuple[bytes, float]]:
    transitions = []
    for k in range(count):
        observation, reward, *_ = env.step(np.array([0.3 * (-1) ** k]))
        transitions.append((observation.tobytes(), float(reward)))
    return transitions


def test_an_environment_goes_back_to_its_snapshot() -> None:
    env = FlowEnv({**KEYS, "traffic": {**KEYS["traffic"], "size_bytes": 1_000_000}})
    env.reset(seed=4)
    env.step(np.array([0.1]))
    snapshot, branch = env.snapshot(), env.branch()
    expected = steps(env)
    for _ in range(2):
        env.restore(snapshot)
        assert steps(env) == expected
    assert steps(branch) == expected
    for environment in (env, snapshot, branch):
        environment.reset(seed=9)
    assert steps(env) == steps(snapshot) == steps(branch)
    for environment in (env, snapshot, branch):
        environment.close()
