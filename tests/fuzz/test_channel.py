# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged messages in the channel and wrong actions: accepted, or refused by the expected errors."""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ns3_env.errors import ScenarioError, SimulatorError
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator, Transitions
from tests.fuzz import tried
from tests.processes import dummy_sim

#: The scenario: three rows, twice.
PLAY = {"dummy": {"slots": 3, "steps": 1}}
QUICKLY_S = 2.0

WORDS = st.one_of(st.sampled_from([0, 1, 2, 3, 4, 5, 64, 65, 2**31, 2**32 - 1]), st.integers(0, 2**32 - 1))
LONG_WORDS = st.one_of(st.sampled_from([0, 1, 2**31, 2**40, 2**63, 2**64 - 1]), st.integers(0, 2**64 - 1))


@contextmanager
def region(simulator: Simulator) -> Iterator[mmap.mmap]:
    """The channel's memory, which only its two ends should have."""
    agent = simulator._agent
    assert agent is not None
    with mmap.mmap(agent.channel_fd, os.fstat(agent.channel_fd).st_size) as memory:
        yield memory


def control_offset(memory: mmap.mmap) -> int:
    """Offset of the control block in the header: after magic, version, capacity, hash and bytes."""
    return int(struct.unpack_from("<QIIQQQ", memory)[5])


def talk(simulator: Simulator) -> DecisionBatch | EpisodeEnd | None:
    """The next message; None if it is refused properly."""
    start_s = time.monotonic()
    count, refused = tried.counts.get("channel from Python", (0, 0))
    tried.counts["channel from Python"] = count + 1, refused
    if tried.listener is not None:
        tried.listener(count + 1)
    try:
        return simulator.receive()
    except (SimulatorError, ScenarioError) as error:
        tried.counts["channel from Python"] = count + 1, refused + 1
        words = str(error)
    finally:
        assert time.monotonic() - start_s < QUICKLY_S
    assert words
    return None


def await_answer(simulator: Simulator) -> None:
    """The simulator has written its message, and writes no more."""
    while not simulator.answered():
        simulator.check()
        time.sleep(1e-4)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator(executable=dummy_sim(), hang_timeout_s=0.9) as dummy:
        yield dummy


@given(
    end=st.booleans(),
    message=st.one_of(st.none(), WORDS),
    rows=st.one_of(st.none(), WORDS),
    blob=st.one_of(st.none(), LONG_WORDS),
    text=st.one_of(st.none(), st.binary(max_size=40), st.sampled_from([b"{}", b"[]", b"NaN", b"[" * 9999])),
    noise=st.lists(st.tuples(st.integers(0, 2**20), st.binary(min_size=1, max_size=8)), max_size=4),
)
@example(end=False, message=0, rows=None, blob=None, text=None, noise=[])
def test_a_message_is_read_or_refused(
    simulator: Simulator,
    end: bool,
    message: int | None,
    rows: int | None,
    blob: int | None,
    text: bytes | None,
    noise: list[tuple[int, bytes]],
) -> None:
    simulator.kill()  # discards the memory damaged before
    simulator.send_reset({"dummy": {"slots": 3, "steps": 0}} if end else PLAY)
    if end:
        assert isinstance(simulator.receive(), DecisionBatch)
        simulator.send_actions(())
    await_answer(simulator)
    agent = simulator._agent
    assert agent is not None
    with region(simulator) as memory:
        control = control_offset(memory)
        if message is not None:
            struct.pack_into("<I", memory, control + 8, message)
        if rows is not None:
            struct.pack_into("<I", memory, control + 12, rows)
        if text is not None:
            os.ftruncate(agent.blob_fd, 0)
            os.pwrite(agent.blob_fd, text, 0)
            struct.pack_into("<Q", memory, control + 24, len(text))
        if blob is not None:
            struct.pack_into("<Q", memory, control + 24, blob)
        for at, data in noise:
            place = control + 192 + at % (len(memory) - control - 200)  # rows and actions
            memory[place : place + len(data)] = data
    answer = talk(simulator)
    assert not isinstance(answer, Transitions)  # they were not requested
    if isinstance(answer, DecisionBatch):
        assert len(answer.slots) <= agent.capacity
        simulator.send_actions(np.zeros((int(answer.due.sum()), 3)))
        talk(simulator)
    elif isinstance(answer, EpisodeEnd):
        assert isinstance(answer.results, dict)
