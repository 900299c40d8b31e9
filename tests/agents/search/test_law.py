# SPDX-License-Identifier: GPL-2.0-or-later
"""The parametrised controller at a search's start, networks fitted to it, searches of its numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.search.config import LawConfig, MetricsConfig, NetworkConfig
from ns3_env.agents.search.laws.distil import distil
from ns3_env.agents.search.laws.order import OrderLaw
from ns3_env.agents.search.metrics_objective import MetricsObjective
from ns3_env.agents.search.network import LawSubject, NetworkSubject
from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES
from ns3_env.policies.file import write_policy
from ns3_env.policies.native_policy import NetworkPolicy

#: One of four flows that fill their link, in the middle of a long one.
USUAL = {
    **{"qlen": 0.0, "switch_rate": 1.0, "pacing_rate": 0.25, "flow_count": 4.0},
    **{"remaining": 20.0, "last_action": 0.0, "shorter_backlog": 0.0},
}
#: Numbers with which no flow goes before another.
FAIR = {"urgency": 0.0, "patience": 0.0, "share_gain": 0.0, "precedence": 0.0, "deference": 0.0}


def answer(law: OrderLaw, **changes: float) -> float:
    """The law's answer to that flow with these changes."""
    return float(law.answer(np.array([[{**USUAL, **changes}[name] for name in OrderLaw.reads]]))[0])


def network(**changes: Any) -> NetworkConfig:
    """A small network that starts as a parametrised controller."""
    settings = {"fields": list(OrderLaw.reads), "hidden": [8, 8], "start": {"fit_steps": 150}, **changes}
    return NetworkConfig.model_validate(settings)


def test_a_flow_rests_where_the_hop_is_used_as_it_aims() -> None:
    law = OrderLaw(**{**FAIR, "utilisation": 0.9})
    assert answer(law, switch_rate=0.9) == pytest.approx(0.0)
    assert answer(law, switch_rate=0.8) == pytest.approx(law.gain * np.log(0.9 / 0.8))
    assert answer(law, qlen=0.5) == pytest.approx(law.gain * np.log(0.9 / 1.5))
    assert answer(law, switch_rate=0.9, last_action=0.5) == pytest.approx(-0.5 * law.memory)


def test_who_is_nearly_done_goes_first_and_who_is_alone_yields_to_nobody() -> None:
    one = OrderLaw(precedence=0.0, deference=0.0)
    answers = [answer(one, remaining=size, qlen=0.2) for size in (0.1, 1.0, 10.0, 100.0)]
    assert answers == sorted(answers, reverse=True)
    assert answers[0] > 0 > answers[-1]
    law = OrderLaw(urgency=0.0, share_gain=0.0)
    assert answer(law, flow_count=1.0, remaining=500.0) == answer(law, flow_count=1.0, remaining=1.0)


def test_whose_turn_it_is_grows_and_who_waits_shrinks() -> None:
    one = OrderLaw(utilisation=1.0)
    answers = [answer(one, shorter_backlog=ahead) for ahead in (0.0, 0.5, 1.0, 4.0, 50.0)]
    assert answers == sorted(answers, reverse=True)
    assert answers[0] > 0 > answers[-1]


def test_the_first_window_falls_with_size() -> None:
    one = OrderLaw(first=0.7, first_power=0.5)
    assert answer(one, flow_count=0.0, remaining=1.0) == pytest.approx(0.7)
    assert answer(one, flow_count=0.0, remaining=np.e) == pytest.approx(0.2)


def test_the_same_seed_gives_the_same_bits_and_unread_fields_weigh_nothing() -> None:
    fields = ["attained", *OrderLaw.reads]
    first, again = (distil(OrderLaw(), fields, [6], 20, 3) for _ in range(2))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    other = distil(OrderLaw(), fields, [6], 20, 4)
    assert not np.array_equal(first["layers.1.weight"], other["layers.1.weight"])
    assert not first["layers.0.weight"][:, 0].any()


def test_a_search_of_weights_begins_there(tmp_path: Path) -> None:
    subject = NetworkSubject(network(hidden=[16, 16], start={"fit_steps": 2000}), "run", 1, "file")
    write_policy(tmp_path / "policy.safetensors", subject.policy(subject.space.start))
    policy = NetworkPolicy.load(tmp_path / "policy.safetensors")
    rows = OrderLaw.situations(500, np.random.default_rng(7)).astype(np.float32)
    actions, _ = policy.predict(rows)
    assert np.sqrt(np.mean((actions[:, 0] - np.tanh(OrderLaw().answer(rows.astype(float)))) ** 2)) < 0.05


def test_a_search_of_the_laws_numbers_reaches_law_action_map_and_clock() -> None:
    ranges = {
        "gain": {"low": 0.2, "high": 1.0},
        "alpha": {"low": 0.5, "high": 2.0, "start": 0.5},
        "rtt_fraction": {"low": 0.25, "high": 1.0},
    }
    config = LawConfig.model_validate({"parameters": ranges})
    subject = LawSubject(config, network(), "run", 1, "file")
    assert subject.describe(subject.space.start) == {
        "gain": pytest.approx(0.7),
        "alpha": pytest.approx(0.5),
        "rtt_fraction": pytest.approx(0.5),
    }
    far = subject.policy(np.ones(3))
    assert far.spec.action["alpha"] == pytest.approx(2.0)
    assert far.spec.clock.model_dump()["rtt_fraction"] == pytest.approx(1.0)
    near = subject.policy(np.array([0.0, 1.0, 1.0]))
    assert near.sha256 != far.sha256  # another gain, other weights


def test_losses_may_weigh_more_than_gains() -> None:
    terms = {"fct_slowdown_avg": 1.0}
    plain, strict = (
        MetricsObjective(
            MetricsConfig(baselines=["hpcc"], terms=terms, losses_weigh=weight), METRICS_OF_EPISODES, "file"
        )
        for weight in (1.0, 4.0)
    )
    for value, times in ((1.1, 4.0), (0.9, 1.0)):
        row, base = {"fct_slowdown_avg": value}, [{"fct_slowdown_avg": 1.0}]
        assert strict.judge(row, base).score == pytest.approx(times * plain.judge(row, base).score)


def test_a_bound_costs_what_is_beyond_it_and_pays_nothing_within() -> None:
    def score(queue: float, **changes: Any) -> float:
        settings = {"baselines": ["hpcc"], "terms": {"queue_avg_bytes": 2.0}, "losses_weigh": 4.0, **changes}
        objective = MetricsObjective(MetricsConfig.model_validate(settings), METRICS_OF_EPISODES, "file")
        return objective.judge({"queue_avg_bytes": queue}, [{"queue_avg_bytes": 9_000.0}]).score

    bounded = {"allowed": {"queue_avg_bytes": 2.0}}
    assert score(4_000.0, **bounded) == score(19_000.0, **bounded) == 0.0
    # A kilobyte is added on either side.
    assert score(39_000.0, **bounded) == pytest.approx(-8.0 * np.log(2.0))
    assert score(39_000.0) == pytest.approx(-8.0 * np.log(4.0))
    with pytest.raises(
        ValueError, match="is not among the terms; the nearest known one is 'queue_avg_bytes'"
    ):
        score(0.0, allowed={"queue_avg_byte": 2.0})
