# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches that begin with a policy's weights, and scores that the worst episode weighs in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.search.arena import score_of
from ns3_env.agents.search.config import NetworkConfig
from ns3_env.agents.search.network import NetworkSubject
from ns3_env.agents.search.objectives import Judgement
from ns3_env.errors import ConfigError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import load_policy

COURIER = [*load_policy("courier").fields]


def subject(fields: list[str], policy: str = "courier", hidden: tuple[int, ...] = (18, 17)) -> NetworkSubject:
    config = {"fields": fields, "hidden": [*hidden], "start": {"policy": policy}}
    return NetworkSubject(NetworkConfig.model_validate(config), "run", 1, "search.yaml")


def test_the_first_point_answers_as_the_policy_whatever_else_it_reads(tmp_path: Path) -> None:
    fields = ["goodput", *COURIER[::-1], "rtt_slope"]
    network = subject(fields)
    network.save(network.space.start, tmp_path)
    first, courier = NetworkPolicy.load(tmp_path / "policy.safetensors"), load_policy("courier")
    observations = np.random.default_rng(1).uniform(0, 3, (50, len(fields))).astype(np.float32)
    of_courier = observations[:, [fields.index(name) for name in COURIER]]
    assert np.allclose(first.predict(observations)[0], courier.predict(of_courier)[0], atol=1e-6)


def test_a_field_or_a_layer_that_does_not_fit_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"network\.start\.policy: courier reads remaining, last_action, .*, too"
    ):
        subject(COURIER[:4])
    with pytest.raises(ConfigError, match=r"network\.start\.policy: courier has other layers"):
        subject(COURIER, hidden=(8, 8))
    with pytest.raises(ConfigError):
        subject(COURIER, policy="couriers")


def test_the_worst_episode_is_as_much_of_a_score_as_was_asked_for() -> None:
    judged = [Judgement(score) for score in (-1.0, 0.0, 0.4)]
    assert score_of(judged) == pytest.approx(-0.2)
    assert score_of(judged, 0.25) == pytest.approx(0.75 * -0.2 + 0.25 * -1.0)
    assert score_of(judged, 1.0) == -1.0
