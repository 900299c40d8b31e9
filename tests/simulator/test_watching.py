# SPDX-License-Identifier: GPL-2.0-or-later
"""Deaths and stops of dummy and real simulators, detected within a second."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import SimulatorDied, SimulatorHung
from ns3_env.simulator import HANG_TIMEOUT_VARIABLE
from ns3_env.simulator.process import Watch
from tests.processes import alive, dummy_sim

pytestmark = pytest.mark.alone

DUMMY = dummy_sim()
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


def play(env: FlowVecEnv, wait: str, turns: int | None) -> None:
    """Steps for this many turns; None: until something raises."""
    while turns is None or turns > 0:
        turns = None if turns is None else turns - 1
        if wait == "step":
            env.step(np.zeros((env.num_envs, 1)))
        else:
            batch = env.recv(wait_all=wait == "all")
            env.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])


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


def test_looks_far_apart_do_not_make_a_sleeper() -> None:
    watch = Watch()
    pid = os.getpid()
    for _ in range(3):
        assert watch.look(pid, 1, 0.1, working=False) is None
    # This process runs: neither asleep nor stopped; it has used its time since before the first look.
    assert watch.look(pid, 1, 1e9, working=True) is None


def test_a_sign_of_life_is_heard_once() -> None:
    watch = Watch()
    assert [watch.hears(sign) for sign in ((1, 0), (1, 0), (1, 5), (1, 5), (2, 5))] == [
        True, False, True, False, True,
    ]  # fmt: skip
