# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches that start with a policy's weights, and scores that weight the worst episode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.search.config import NetworkConfig
from ns3_env.agents.search.network import NetworkSubject
from ns3_env.errors import ConfigError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import load_policy

DISPATCHER = [*load_policy("dispatcher").fields]


def subject(
    fields: list[str], policy: str = "dispatcher", hidden: tuple[int, ...] = (18, 17)
) -> NetworkSubject:
    config = {"fields": fields, "hidden": [*hidden], "start": {"policy": policy}}
    return NetworkSubject(NetworkConfig.model_validate(config), "run", 1, "search.yaml")


def test_the_first_point_answers_as_the_policy_whatever_else_it_reads(tmp_path: Path) -> None:
    fields = ["goodput", *DISPATCHER[::-1], "rtt_slope"]
    network = subject(fields)
    network.save(network.space.start, tmp_path)
    first, dispatcher = NetworkPolicy.load(tmp_path / "policy.safetensors"), load_policy("dispatcher")
    observations = np.random.default_rng(1).uniform(0, 3, (50, len(fields))).astype(np.float32)
    its_observations = observations[:, [fields.index(name) for name in DISPATCHER]]
    assert np.allclose(first.predict(observations)[0], dispatcher.predict(its_observations)[0], atol=1e-6)


def test_a_field_or_a_layer_that_does_not_fit_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"network\.start\.policy: dispatcher reads remaining, last_action, .*, too"
    ):
        subject(DISPATCHER[:4])
    with pytest.raises(ConfigError, match=r"network\.start\.policy: dispatcher has other layers"):
        subject(DISPATCHER, hidden=(8, 8))
    with pytest.raises(ConfigError):
        subject(DISPATCHER, policy="dispatchers")
    with pytest.raises(ConfigError, match=r"the policy 'courier' went in 0\.3: use 'dispatcher'"):
        subject(DISPATCHER, policy="courier")


def test_an_lstm_whose_shortcut_is_wider_begins_as_one_that_reads_less(tmp_path: Path) -> None:
    fdcc = load_policy("fdcc")
    widths = {"kind": "lstm", "memory": 16, "shortcut": 32, "hidden": [32], "hidden_activation": "relu"}
    fields = {"fields": ["attained", *fdcc.fields], "history_length": 4, "start": {"policy": "fdcc"}}
    network = NetworkSubject(NetworkConfig.model_validate({**widths, **fields}), "run", 1, "search.yaml")
    network.save(network.space.start, tmp_path)
    start = NetworkPolicy.load(tmp_path / "policy.safetensors")
    observations = np.random.default_rng(1).uniform(0, 3, (50, 9)).astype(np.float32)
    assert np.allclose(start.predict(observations)[0], fdcc.predict(observations[:, 1:])[0], atol=1e-6)
    with pytest.raises(ValueError, match="shortcut: nothing but an lstm has one"):
        NetworkConfig.model_validate({"fields": ["rtt"], "shortcut": 32})
