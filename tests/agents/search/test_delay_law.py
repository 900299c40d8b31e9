# SPDX-License-Identifier: GPL-2.0-or-later
"""The law of RTTs from which a search begins, and networks fitted to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.agents.search.config import NetworkConfig
from ns3_env.agents.search.laws.delay import DelayLaw
from ns3_env.agents.search.laws.distil import distil


def answer(law: DelayLaw, **changes: float) -> float:
    """What the law answers an old flow of a fifth of its link's rate, with these changes."""
    usual = {"rtt": 1.0, "pacing_rate": 0.2, "attained": 1e6, "last_action": 0.0, **changes}
    return float(law.answer(np.array([[usual[name] for name in DelayLaw.reads]]))[0])


def test_an_old_flow_rests_at_its_target_and_a_young_one_at_more() -> None:
    law = DelayLaw(kind="delay", target=2.0, youth=1.0, young_bdps=5.0, share_gain=0.0)
    assert answer(law, rtt=2.0) == pytest.approx(0.0, abs=1e-6)
    assert answer(law, rtt=4.0) == pytest.approx(-law.gain * np.log(2), abs=1e-6)
    assert answer(law, rtt=3.0, attained=0.0) == pytest.approx(0.0)
    assert answer(law, rtt=2.5, attained=5.0) == pytest.approx(0.0)  # half of its youth is over
    assert answer(law, rtt=2.0, last_action=0.5) == pytest.approx(-0.5 * law.memory, abs=1e-6)


def test_before_its_first_rtt_a_flow_counts_as_alone() -> None:
    law = DelayLaw(kind="delay")
    assert answer(law, rtt=0.0) == answer(law, rtt=1.0)


def test_below_zero_the_share_gain_lets_who_has_less_grow() -> None:
    law = DelayLaw(kind="delay", share_gain=-0.1)
    assert answer(law, pacing_rate=0.1) > answer(law, pacing_rate=0.5)


def test_a_network_fitted_to_it_answers_as_it_does() -> None:
    law = DelayLaw(kind="delay")
    weights = distil(law, ["goodput", *DelayLaw.reads], [12, 12], 800, 1)
    assert np.all(weights["layers.0.weight"][:, 0] == 0)
    rows = law.situations(1000, np.random.default_rng(5))
    x = np.log1p(np.abs(np.column_stack([np.zeros(1000), rows]))) * np.sign(
        np.column_stack([rows[:, :1], rows])
    )
    for layer in range(3):
        x = np.tanh(x @ weights[f"layers.{layer}.weight"].T + weights[f"layers.{layer}.bias"])
    assert np.sqrt(np.mean((x[:, 0] - np.tanh(law.answer(rows))) ** 2)) < 0.06


def test_which_law_is_meant_says_its_kind() -> None:
    def network(law: dict[str, Any], fields: tuple[str, ...] = DelayLaw.reads) -> NetworkConfig:
        return NetworkConfig.model_validate({"fields": list(fields), "start": {"law": law}})

    start = network({"kind": "delay", "youth": 0.0}).start
    assert start is not None
    assert isinstance(start.law, DelayLaw)
    with pytest.raises(ValueError, match="the law of 'start' reads attained, too"):
        network({"kind": "delay"}, ("rtt", "pacing_rate", "last_action"))
    with pytest.raises(ValueError, match="the law of 'start' reads qlen"):
        network({})
    with pytest.raises(ValueError, match="urgency"):
        network({"kind": "delay", "urgency": 1.0})
