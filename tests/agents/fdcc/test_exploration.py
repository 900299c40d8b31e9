# SPDX-License-Identifier: GPL-2.0-or-later
"""Exploration: shares of random actions, hold lengths, noise, and the actor's actions."""

from itertools import groupby

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium import spaces
from stable_baselines3.common.utils import set_random_seed

from ns3_env.agents.fdcc.exploration import Exploration

Array = npt.NDArray[np.float32]
BOX = spaces.Box(-1.0, 1.0, (1,), np.float32)


def explorer(
    slots: int = 1, random_share: float = 0.0, noise: float = 0.0, box: spaces.Box = BOX
) -> Exploration:
    set_random_seed(7)
    box.seed(7)
    return Exploration(slots, box, random_share, noise)


def actor(slots: npt.NDArray[np.int64]) -> Array:
    """An action that names its slot."""
    return (slots[:, None] / 100).astype(np.float32)


def test_each_slot_holds_an_action_of_its_own_while_others_come_and_go() -> None:
    exploring = explorer(slots=2, random_share=1.0)
    exploring.begin(np.array([0, 1]))
    alone, both = np.array([1]), np.array([0, 1])
    actions: dict[int, list[float]] = {0: [], 1: []}
    for step in range(4000):
        slots = both if step % 2 else alone
        for slot, action in zip(slots, exploring.actions(slots, actor), strict=True):
            actions[int(slot)].append(float(action[0]))
    for of_slot in actions.values():
        assert np.mean([len(list(same)) for _, same in groupby(of_slot)]) == pytest.approx(4.0, rel=0.15)
    assert not set(actions[0]) & set(actions[1])


def test_random_actions_fill_the_scaled_range_of_any_box() -> None:
    exploring = explorer(box=spaces.Box(0.0, 10.0, (1,), np.float32))
    actions = [exploring.actions(np.array([0]), actor, all_random=True)[0, 0] for _ in range(8000)]
    assert -1.0 <= min(actions) < -0.99
    assert 0.99 < max(actions) <= 1.0
    assert np.mean(actions) == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_share_of_episodes_is_random_from_beginning_to_end(share: float) -> None:
    slots = np.arange(5000)
    exploring = explorer(len(slots), random_share=share)
    exploring.begin(slots)
    assert exploring.at_random.mean() == pytest.approx(share, abs=0.02)
    policy_actions = actor(slots)
    for _ in range(3):
        by_actor = (exploring.actions(slots, actor) == policy_actions)[:, 0]
        assert (by_actor == ~exploring.at_random).all()
    exploring.begin(slots)  # drawn again for every episode
    assert exploring.at_random.mean() == pytest.approx(share, abs=0.02)


def test_noise_has_its_deviation_and_ends_at_the_actions_range() -> None:
    slots = np.arange(20_000)
    exploring = explorer(len(slots), noise=0.1)
    added = exploring.actions(slots, lambda due: np.zeros((len(due), 1), np.float32))
    assert added.dtype == np.float32
    assert added.std() == pytest.approx(0.1, rel=0.03)
    assert added.mean() == pytest.approx(0.0, abs=0.01)
    at_the_end = exploring.actions(slots, lambda due: np.ones((len(due), 1), np.float32))
    assert at_the_end.max() == 1.0
    assert at_the_end.min() < 0.8
    still = explorer(3).actions(np.arange(3), actor)
    assert (still == actor(np.arange(3))).all()
