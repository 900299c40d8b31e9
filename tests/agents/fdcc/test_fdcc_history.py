# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC's histories and n-step returns in the replay buffer, with interleaved slots."""

import pickle

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from ns3_env.agents.fdcc.replay import HistoryReplayBuffer
from tests.agents.fdcc.fake_vec_env import ELAPSED, FakeRdmaVecEnv


def fill(env: FakeRdmaVecEnv, buffer: HistoryReplayBuffer, batches: int) -> None:
    """Runs ``batches`` of the fake environment into the buffer; the action taken encodes nothing."""
    env.reset()
    for _ in range(batches):
        batch = env.recv()
        on = ~batch.first
        buffer.outcome(
            batch.slots[on],
            batch.rewards[on],
            batch.observations[on],
            batch.elapsed[on],
            batch.final[on],
            (batch.terminated | batch.truncated)[on],
        )
        buffer.begin(batch.slots[batch.first], batch.observations[batch.first])
        due = batch.slots[~(batch.terminated | batch.truncated)]
        actions = np.full((len(due), 1), 0.25, dtype=np.float32)
        buffer.act(due, actions)
        env.send(actions, due)


def make(env: FakeRdmaVecEnv, size: int = 50, **kwargs: object) -> HistoryReplayBuffer:
    options = {"history_length": 8, "n_steps": 1, "gamma": 0.99, "append_last_action": True, **kwargs}
    return HistoryReplayBuffer(size, env.observation_space, env.action_space, n_envs=env.num_envs, **options)  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(
    slots=st.integers(1, 4),
    seed=st.integers(0, 2**16),
    length=st.integers(1, 8),
    n=st.integers(1, 5),
    size=st.integers(3, 60),
    with_action=st.booleans(),
)
def test_no_history_crosses_an_episode_or_the_rings_wrap(
    slots: int, seed: int, length: int, n: int, size: int, with_action: bool
) -> None:
    env = FakeRdmaVecEnv(slots, seed)
    buffer = make(env, size, history_length=length, n_steps=n, append_last_action=with_action)
    fill(env, buffer, 150)
    assert buffer.full
    assert buffer.size() == size
    for i in range(size):
        for windows, lengths in (
            (buffer.windows, buffer.lengths),
            (buffer.next_windows, buffer.next_lengths),
        ):
            valid, padding = windows[i, : lengths[i]], windows[i, lengths[i] :]
            assert not padding.any()
            assert len(np.unique(valid[:, :2], axis=0)) == 1, "one slot, one episode"
            last = int(valid[-1, 2])
            # Full: all steps of the episode so far, up to the window's length.
            assert lengths[i] == min(length, last + 1)
            assert list(valid[:, 2]) == list(range(last - lengths[i] + 1, last + 1))
            if with_action:
                assert list(valid[:, 3]) == [0.0 if step == 0 else 0.25 for step in valid[:, 2]]
        now, then = (
            buffer.windows[i, buffer.lengths[i] - 1],
            buffer.next_windows[i, buffer.next_lengths[i] - 1],
        )
        assert (now[:2] == then[:2]).all(), "a transition stays in its episode"
        m = int(then[2] - now[2])
        assert 1 <= m <= n
        assert buffer.discounts[i, 0] == pytest.approx(0.99 ** (ELAPSED * m))
        # The fake's reward for 0.25 is -0.25 at every step.
        assert buffer.rewards[i, 0] == pytest.approx(-0.25 * sum(0.99 ** (ELAPSED * k) for k in range(m)))


def lone_episode(n: int, rewards: list[float], terminated: bool, truncated: bool) -> HistoryReplayBuffer:
    space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    buffer = HistoryReplayBuffer(
        20, space, spaces.Box(-1, 1, (1,)), n_steps=n, gamma=0.5, history_length=4, append_last_action=False
    )
    slot, no, yes = np.array([0]), np.array([False]), np.array([True])
    buffer.begin(slot, np.array([[1.0]], dtype=np.float32))
    for step, reward in enumerate(rewards):
        buffer.act(slot, np.array([[0.1]], dtype=np.float32))
        final = step == len(rewards) - 1
        buffer.outcome(
            slot,
            np.array([reward], dtype=np.float32),
            np.array([[step + 2.0]], dtype=np.float32),
            np.ones(1),
            yes if final and terminated else no,
            yes if final and (terminated or truncated) else no,
        )
    return buffer


@pytest.mark.parametrize("terminated", [True, False])
def test_n_step_returns_end_with_the_episode_and_bootstrap_from_the_history_where_it_was_cut(
    terminated: bool,
) -> None:
    buffer = lone_episode(3, [1.0, 2.0, 4.0, 8.0], terminated=terminated, truncated=not terminated)
    # 1 + 2/2 + 4/4; then, cut short by the end: 2 + 4/2 + 8/4, 4 + 8/2, 8.
    assert list(buffer.rewards[:4, 0]) == [3.0, 6.0, 8.0, 8.0]
    # The first looks three steps ahead to a state that is not final; the other two end with the episode.
    assert list(buffer.dones[:4, 0]) == [0.0, *[float(terminated)] * 3]
    assert list(buffer.discounts[:4, 0]) == [0.125, 0.125, 0.25, 0.5]
    assert buffer.size() == 4
    for i in (1, 2, 3):
        assert list(buffer.next_windows[i, :, 0]) == [2.0, 3.0, 4.0, 5.0]


def test_only_decisions_with_a_known_outcome_are_stored() -> None:
    buffer = lone_episode(3, [1.0, 2.0], terminated=False, truncated=False)
    assert buffer.size() == 0  # two decisions, both still waiting for their third reward
    buffer.act(np.array([0]), np.array([[0.7]], dtype=np.float32))  # its outcome is never observed
    buffer.begin(np.array([0]), np.array([[9.0]], dtype=np.float32))  # the episode was aborted
    assert buffer.size() == 2
    assert list(buffer.rewards[:2, 0]) == [2.0, 2.0]
    assert list(buffer.actions[:2, 0]) == [np.float32(0.1)] * 2
    assert not buffer.dones[:2].any()


def test_a_saved_buffer_comes_back_without_the_episodes_under_way() -> None:
    env = FakeRdmaVecEnv(3, 1)
    buffer = make(env, 1000)
    fill(env, buffer, 60)
    data = pickle.dumps(buffer)
    assert len(data) < 1000 * 200  # the size of the used part, not of the allocation
    again: HistoryReplayBuffer = pickle.loads(data)
    n = buffer.size()
    assert again.size() == n
    assert again.buffer_size == 1000
    for name in HistoryReplayBuffer._RINGS:
        assert (getattr(again, name)[:n] == getattr(buffer, name)[:n]).all()
    assert not again.histories.lengths.any()
    fill(env, again, 10)
