# SPDX-License-Identifier: GPL-2.0-or-later
"""The law by which flows share a link, and the recurrent network that is built from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.search.config import LawConfig, NetworkConfig
from ns3_env.agents.search.laws.sharing import SharingLaw
from ns3_env.agents.search.network import LawSubject, NetworkSubject
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import load_policy

THESIS = ["rtt", "qlen", "switch_rate", "goodput", "rtt_slope", "qlen_slope", "pacing_rate", "last_action"]


def network(**changes: Any) -> NetworkConfig:
    """FDCC's network, built from the law."""
    usual = {
        "kind": "lstm",
        "fields": THESIS,
        "memory": 16,
        "shortcut": 32,
        "hidden": [32],
        "hidden_activation": "relu",
        "history": 4,
        "start": {"law": {"kind": "sharing"}},
    }
    return NetworkConfig.model_validate({**usual, **changes})


def answer(law: SharingLaw, share: float, used: float, last: float = 0.0) -> float:
    """What a flow of this share is answered where the hop is used so much, queue included."""
    rate = min(used, 1.0)
    return float(law.answer(np.array([[[0.0, rate, share, 0.0], [used / rate - 1, rate, share, last]]]))[0])


def test_flows_that_are_equal_rest_where_the_link_is_busy_however_many_they_are() -> None:
    law = SharingLaw(kind="sharing")
    for flows, used in [(1, law.utilisation), (2, 0.989), (64, 1.06)]:
        at_rest = law.utilisation * flows**law.fairness
        assert at_rest == pytest.approx(used, abs=0.001)
        assert answer(law, 1 / flows, at_rest) == pytest.approx(0.0, abs=1e-9)


def test_who_has_more_than_others_grows_less_at_any_share() -> None:
    law = SharingLaw(kind="sharing")
    answers = [answer(law, share, 1.0) for share in (0.0005, 0.002, 0.01, 0.1, 0.5, 1.0)]
    assert answers == sorted(answers, reverse=True)
    assert answer(law, 0.1, 1.0, last=0.2) == pytest.approx(answer(law, 0.1, 1.0) - 0.2 * law.memory)


def test_the_network_that_is_built_answers_as_the_law(tmp_path: Path) -> None:
    subject = NetworkSubject(network(), "run", 1, "file")
    subject.save(subject.space.start, tmp_path)
    policy = NetworkPolicy.load(tmp_path / "policy.safetensors")
    random, flows, state = np.random.default_rng(3), 500, None
    histories = []
    for step in range(6):
        observations = np.zeros((flows, len(THESIS)), np.float32)
        observations[:, 0], observations[:, 3:6] = random.uniform(1, 5, flows), random.normal(size=(flows, 3))
        observations[:, 1] = np.where(random.random(flows) < 0.5, 0, np.exp(random.uniform(-6, 3, flows)))
        observations[:, 2] = random.uniform(0.3, 1.1, flows)
        observations[:, 6], observations[:, 7] = (
            np.exp(random.uniform(-7, 0, flows)),
            random.uniform(-0.1, 0.1, flows),
        )
        histories.append(observations[:, [1, 2, 6, 7]].astype(float))
        action, state = policy.predict(observations, state, np.full(flows, step == 0))
        expected = np.tanh(SharingLaw(kind="sharing").answer(np.stack(histories[-4:], axis=1)))
        assert np.abs(action[:, 0] - expected).max() < 0.06
        assert np.sqrt(np.mean((action[:, 0] - expected) ** 2)) < 0.02


def test_its_numbers_are_searched_the_clock_s_among_them() -> None:
    ranges = {
        "fairness": {"low": 0.01, "high": 0.1},
        "start_bdps": {"low": 0.1, "high": 1.0, "start": 0.2},
    }
    subject = LawSubject(LawConfig.model_validate({"parameters": ranges}), network(), "run", 1, "file")
    high = subject.policy(np.ones(2))
    assert high.spec.clock.model_dump()["start_bdps"] == pytest.approx(1.0)
    assert high.sha256 != subject.policy(np.array([0.0, 1.0])).sha256


def test_a_network_that_cannot_be_built_from_it_is_refused() -> None:
    with pytest.raises(ValueError, match="an lstm with symlog and relu"):
        network(hidden_activation="tanh")
    with pytest.raises(ValueError, match=r"a shortcut of 24 and one hidden layer of 2 or more"):
        network(shortcut=None)
    with pytest.raises(ValueError, match="shortcut: nothing but an lstm has one"):
        NetworkConfig.model_validate({"fields": THESIS, "shortcut": 32})


def test_a_search_begins_with_an_lstm_whose_shortcut_is_wider(tmp_path: Path) -> None:
    subject = NetworkSubject(
        network(fields=["attained", *THESIS], start={"policy": "fdcc"}), "run", 1, "file"
    )
    subject.save(subject.space.start, tmp_path)
    start, fdcc = NetworkPolicy.load(tmp_path / "policy.safetensors"), load_policy("fdcc")
    observations = np.random.default_rng(1).uniform(0, 3, (50, 9)).astype(np.float32)
    assert np.allclose(start.predict(observations)[0], fdcc.predict(observations[:, 1:])[0], atol=1e-6)
