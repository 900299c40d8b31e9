# SPDX-License-Identifier: GPL-2.0-or-later
"""``agent.action_noise``: exploration of algorithms whose policy is deterministic."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.errors import ConfigError
from tests.samples.agents import trainer

TD3 = {"name": "td3", "options": {"buffer_size": 100, "learning_starts": 0}}


def test_actions_are_spread_as_configured() -> None:
    model = trainer({**TD3, "action_noise": 0.3}).model
    noise = model.action_noise  # type: ignore[attr-defined]
    assert np.std([noise() for _ in range(2000)]) == pytest.approx(0.3, rel=0.1)
    assert trainer(TD3).model.action_noise is None  # type: ignore[attr-defined]


def test_an_algorithm_without_noise_refuses_it() -> None:
    with pytest.raises(ConfigError, match=r"ppo does not accept its options: .*action_noise"):
        trainer({"name": "ppo", "action_noise": 0.1, "options": {"n_steps": 16, "batch_size": 16}})
