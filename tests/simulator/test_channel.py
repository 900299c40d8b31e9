# SPDX-License-Identifier: GPL-2.0-or-later
"""The channel and simulator processes, on the dummy: rows, actions, resets, crashes, hangs."""

import contextlib
import gc
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env import _native
from ns3_env.decision.observations import FIELDS
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import SimulatorDied, SimulatorHung, SimulatorNotFound
from ns3_env.scenario import Scenario
from ns3_env.simulator import HANG_TIMEOUT_VARIABLE, DecisionBatch, EpisodeEnd, Simulator, find_executable
from tests.processes import alive, descriptors_before, dummy_sim, open_descriptors, shared_memory, wait_until

pytestmark = pytest.mark.alone

DUMMY = dummy_sim()


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with Simulator(executable=DUMMY, hang_timeout_s=0.9) as dummy:
        yield dummy


def play(
    simulator: Simulator, scenario: dict[str, Any], echo: float = 0.25
) -> tuple[list[DecisionBatch], dict[str, Any]]:
    simulator.send_reset(scenario)
    batches: list[DecisionBatch] = []
    while True:
        message = simulator.receive()
        if isinstance(message, EpisodeEnd):
            return batches, message.results
        batches.append(message)
        simulator.send_actions(np.tile([5e4, 1e9, echo], (int(message.due.sum()), 1)))


def test_rows_and_actions_cross_both_ways(simulator: Simulator) -> None:
    batches, results = play(simulator, {"seed": 3, "dummy": {"slots": 3, "steps": 2}})
    assert [len(rows.slots) for rows in batches] == [3, 3, 3]
    assert batches[0].first.all()
    assert not batches[1].first.any()
    assert batches[2].terminated.all()
    assert not batches[2].due.any()
    column = [field.name for field in FIELDS].index("last_action")
    assert np.all(batches[0].records[:, column] == 0)
    assert np.all(batches[2].records[:, column] == 0.25)
    assert results["action_sum"] == pytest.approx(3 * 2 * 0.25)
    assert simulator._agent is not None
    assert simulator._agent.fields == _native.observation_fields()  # the schema is the compiled one


@pytest.mark.parametrize(
    ("dummy", "sent", "error", "message", "within_s"),
    [
        ({"crash_at": 1}, None, SimulatorDied, r"(?s)signal 6.*queue >= 0", 1),
        ({"hang_at": 1, "hang": "work"}, signal.SIGKILL, SimulatorDied, "signal 9", 1),
        ({"hang_at": 1, "hang": "work"}, signal.SIGSTOP, SimulatorHung, "stopped", 2),
        ({"hang_at": 1, "hang": "sleep"}, None, SimulatorHung, "asleep", 1.1),
        # A spinner is judged by its CPU time, which grows slower than the clock on shared cores.
        ({"hang_at": 1, "hang": "spin"}, None, SimulatorHung, "without a sign of life", 5),
    ],
)
def test_a_dead_or_hung_simulator_raises_within_a_second_or_so_and_is_replaced(
    dummy: dict[str, Any],
    sent: signal.Signals | None,
    error: type[Exception],
    message: str,
    within_s: float,
    simulator: Simulator,
) -> None:
    simulator.send_reset({"dummy": dummy})
    simulator.receive()
    pid = simulator.pid
    assert pid is not None
    simulator.send_actions(np.zeros((4, 3)))
    if sent is not None:
        os.kill(pid, sent)
    begin = time.monotonic()
    with pytest.raises(error, match=message):
        simulator.receive()
    assert time.monotonic() - begin < within_s
    assert simulator.pid is None
    assert not alive(pid)
    play(simulator, {"dummy": {}})


def test_one_killed_while_idle_is_replaced_by_the_next_reset(simulator: Simulator) -> None:
    play(simulator, {"dummy": {}})
    pid = simulator.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: not alive(pid))
    play(simulator, {"dummy": {}})
    assert simulator.pid != pid


def test_simulator_outlives_the_thread_that_started_it(simulator: Simulator) -> None:
    thread = threading.Thread(target=simulator.start)
    thread.start()
    thread.join()
    time.sleep(0.1)
    play(simulator, {"dummy": {}})


def test_nothing_is_left_after_collection_or_close() -> None:
    shm = shared_memory()
    files = descriptors_before()
    simulator = Simulator(executable=DUMMY)
    play(simulator, {"dummy": {}})
    pid = simulator.pid
    assert pid is not None
    del simulator
    gc.collect()
    assert not alive(pid)
    closed = Simulator(executable=DUMMY)
    closed.start()
    closed.close()
    closed.close()
    del closed
    gc.collect()
    assert shared_memory() == shm
    assert open_descriptors() == files


def test_interrupt_at_the_terminal_does_not_reach_the_simulator(simulator: Simulator) -> None:
    simulator.start()
    assert simulator.pid is not None
    assert os.getsid(simulator.pid) != os.getsid(0)


def test_sharing_a_core_with_the_simulator_leaves_the_agent_every_core(simulator: Simulator) -> None:
    cores = os.sched_getaffinity(0)
    steps = {"dummy": {"slots": 1, "steps": 200}}

    def shared() -> bool:
        pinned = False
        simulator.send_reset(steps)
        while not isinstance(message := simulator.receive(), EpisodeEnd):
            assert os.sched_getaffinity(0) == cores
            assert simulator.pid is not None
            where = os.sched_getaffinity(simulator.pid)
            assert where <= cores
            pinned = pinned or len(where) == 1
            simulator.send_actions(np.zeros((int(message.due.sum()), 3)))
        return pinned

    assert wait_until(shared, timeout_s=20.0)  # it is tried after the first turns


def test_keyboard_interrupt_breaks_a_wait(simulator: Simulator) -> None:
    simulator.send_reset({"dummy": {"hang_at": 0, "hang": "work"}})
    # A shell's background job inherits that SIGINT is ignored; this test is about one that is not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            simulator.receive()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 1
    simulator.close()
    assert simulator.pid is None


def _play(simulator: Simulator) -> None:
    """Answers once: it may have asked before a signal came."""
    batch = simulator.receive()
    assert isinstance(batch, DecisionBatch)
    simulator.send_actions(np.ones((len(batch.flows), 3)))
    simulator.receive()


@pytest.mark.parametrize("controller", ["hpcc", "agent"])
def test_a_simulator_s_own_fault_says_how_to_see_it_again(
    controller: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    endless = {"kind": "incast", "flows": 1, "size_bytes": 10**12}
    data = {"traffic": endless, "time_limit_ns": 10**12, "controllers": [controller]}
    with Simulator() as simulator:
        simulator.send_reset(Scenario.from_mapping(data, "s.yaml"))
        assert simulator.pid is not None
        os.kill(simulator.pid, signal.SIGSEGV)
        with pytest.raises(SimulatorDied) as caught:
            _play(simulator)
    (scenario_file,) = tmp_path.glob("ns3_env-*.json")
    program = find_executable()
    assert str(caught.value).partition("; ")[2] == {
        "hpcc": f"to see it again: `{program} {scenario_file}`; it left no last words",
        "agent": f"it played {scenario_file} under the policy's actions; it left no last words",
    }.get(controller)
    assert json.loads(scenario_file.read_text())["controllers"][0]["name"] == controller


def test_wrong_turns_and_shapes_are_refused(simulator: Simulator) -> None:
    with pytest.raises(RuntimeError, match="send_reset"):
        simulator.send_actions(np.zeros((1, 3)))
    simulator.send_reset({"dummy": {"slots": 2}})
    simulator.receive()
    with pytest.raises(RuntimeError):
        simulator.receive()
    with pytest.raises(ValueError, match="2 rows"):
        simulator.send_actions(np.zeros((3, 3)))


@pytest.mark.parametrize("bad", [(np.nan, 1, 0), (-1, 1, 0), (1, np.nan, 0), (1, -1, 0), (1, 1, np.inf)])
def test_a_bad_action_never_leaves_and_the_turn_stays(bad: tuple[float, ...], simulator: Simulator) -> None:
    simulator.send_reset({"dummy": {"slots": 2}})
    simulator.receive()
    with pytest.raises(
        ValueError, match="window and rate must be numbers >= 0, and its echo a finite number"
    ):
        simulator.send_actions([(1, 1, 0), bad])
    simulator.send_actions([(np.inf, np.inf, 0), (0, 0, -1)])
    assert isinstance(simulator.receive(), DecisionBatch)


@pytest.mark.parametrize(("text", "fault"), [(b"[[[[", "are no JSON"), (b"[]", "are a list")])
def test_a_simulator_that_writes_nonsense_died(simulator: Simulator, text: bytes, fault: str) -> None:
    simulator.send_reset({"dummy": {"slots": 1, "steps": 0}})
    simulator.receive()
    simulator.send_actions(())
    assert wait_until(simulator.answered)
    assert simulator._agent is not None
    blob = simulator._agent.blob_fd
    os.pwrite(blob, text.ljust(os.fstat(blob).st_size), 0)
    with pytest.raises(SimulatorDied, match=f"broke the protocol and was killed: results that {fault}"):
        simulator.receive()
    play(simulator, {"dummy": {}})


@pytest.mark.parametrize(
    ("kind", "fault"), [(99, "message 99 out of turn"), (_native.MESSAGE_ERROR, "an error without words")]
)
def test_a_message_that_is_none_is_the_end_of_its_simulator(
    simulator: Simulator, kind: int, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.send_reset({"dummy": {}})
    monkeypatch.setattr(simulator, "_await", lambda *_: kind)
    monkeypatch.setattr(simulator, "_read_blob", lambda: b"")
    with pytest.raises(SimulatorDied, match=f"broke the protocol and was killed: {fault}"):
        simulator.receive()
    assert simulator.pid is None


def test_a_missing_program_and_a_region_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SimulatorNotFound, match="cannot start"):
        Simulator(executable=tmp_path / "none").start()
    fd = os.memfd_create("junk")
    os.ftruncate(fd, 1 << 16)
    command = [DUMMY, f"--channel-fd={fd}"]
    done = subprocess.run(command, pass_fds=(fd,), capture_output=True, text=True, timeout=10)
    os.close(fd)
    assert done.returncode == 2
    assert "is no channel" in done.stderr


LIMIT_S = 1.0
ERRORS = {signal.SIGKILL: SimulatorDied, signal.SIGSTOP: SimulatorHung}
QUICK = {"slots": 3, "steps": 4}
#: Two seconds of work, with signs of life, for its second rows.
SLOW = {**QUICK, "hang_at": 1, "hang": "work"}

Wait = Callable[[FlowVecEnv], object]
WAITS: dict[str, tuple[bool, Wait]] = {
    "ordered": (True, lambda env: env.recv()),
    "unordered": (False, lambda env: env.recv()),
    "all": (False, lambda env: env.recv(wait_all=True)),
    "step": (True, lambda env: env.step(np.zeros((env.num_envs, 1)))),
}


@pytest.fixture(autouse=True)
def _short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "0.9")


@contextlib.contextmanager
def signalled_after(seconds: float, pid: int | None, number: signal.Signals) -> Iterator[list[float]]:
    """The process gets the signal; the list gets the time when."""
    assert pid is not None
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        yield sent
    finally:
        timer.join()


@pytest.mark.parametrize(
    ("wait", "owes", "simulators", "number"),
    [
        ("ordered", True, 2, signal.SIGKILL),
        ("ordered", False, 2, signal.SIGSTOP),
        ("unordered", True, 1, signal.SIGKILL),
        ("unordered", True, 8, signal.SIGSTOP),
        ("unordered", False, 2, signal.SIGKILL),
        ("all", False, 8, signal.SIGKILL),
        ("step", True, 2, signal.SIGKILL),
    ],
)
def test_the_last_one_s_end_is_seen_while_others_compute(
    wait: str, owes: bool, simulators: int, number: signal.Signals
) -> None:
    def sampler(episode: int) -> dict[str, Any]:
        last_is_quick = simulators > 1 and episode % simulators == simulators - 1
        return {"dummy": QUICK if last_is_quick else SLOW}

    ordered, receive = WAITS[wait]
    with FlowVecEnv(sampler, slots=3, num_simulators=simulators, executable=DUMMY, ordered=ordered) as env:
        env.reset()
        if wait != "step":
            batch = env.recv(wait_all=True)  # the rows of the reset
            answered = batch.slots if owes else batch.slots[batch.simulators < simulators - 1]
            env.send(np.zeros((len(answered), 1)), answered)
            if wait == "unordered" and owes and simulators > 1:
                env.recv()  # the quick one has spoken, and is not answered
        with (
            signalled_after(0.2, env.pids[-1], number) as sent,
            pytest.raises(ERRORS[number], match="signal 9" if number == signal.SIGKILL else "stopped"),
        ):
            receive(env)
        assert time.monotonic() - sent[0] < LIMIT_S
        assert [pid is None for pid in env.pids] == [False] * (simulators - 1) + [True]


def test_one_that_dies_after_its_episode_is_not_replaced_without_a_word() -> None:
    sampler = {"dummy": {"slots": 3, "steps": 0}}  # an episode is one message and its end
    with FlowVecEnv(sampler, slots=3, num_simulators=1, executable=DUMMY) as env:
        env.start()
        env.recv()  # and the end of the episode is in progress
        time.sleep(0.05)
        env._health()
        pid = env.pids[0]
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        while alive(pid):
            time.sleep(0.001)
        with pytest.raises(SimulatorDied, match="signal 9"):
            env.recv()


def test_a_pause_of_the_learner_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "0.2")
    with FlowVecEnv(
        {"dummy": {**QUICK, "work_us": 1000}}, slots=3, num_simulators=2, executable=DUMMY
    ) as env:
        env.start()
        for _ in range(3):
            batch = env.recv()
            env.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])
            time.sleep(0.3)
