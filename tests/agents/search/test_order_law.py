# SPDX-License-Identifier: GPL-2.0-or-later
"""The law of what shorter flows have left, from which a search begins, and networks fitted to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.agents.search.config import NetworkConfig
from ns3_env.agents.search.laws.order import OrderLaw
from ns3_env.agents.search.laws.size import SizeLaw

USUAL = {"qlen": 0.0, "switch_rate": 1.0, "pacing_rate": 0.25, "flow_count": 4.0, "remaining": 20.0}


def answer(law: OrderLaw, **changes: float) -> float:
    """What the law answers one of four flows that fill their link, with these changes."""
    usual = {**USUAL, "last_action": 0.0, "shorter_backlog": 0.0, **changes}
    return float(law.answer(np.array([[usual[name] for name in OrderLaw.reads]]))[0])


def law(**numbers: Any) -> OrderLaw:
    return OrderLaw.model_validate({"kind": "order", **numbers})


def test_whose_turn_it_is_grows_and_who_waits_shrinks() -> None:
    one = law(utilisation=1.0)
    answers = [answer(one, shorter_backlog=ahead) for ahead in (0.0, 0.5, 1.0, 4.0, 50.0)]
    assert answers == sorted(answers, reverse=True)
    assert answers[0] > 0 > answers[-1]


def test_without_a_turn_it_is_the_law_by_size() -> None:
    plain = law(precedence=0.0, deference=0.0)
    by_size = SizeLaw(**{name: getattr(plain, name) for name in SizeLaw.model_fields if name != "kind"})
    situation = np.array([[USUAL[name] if name != "last_action" else 0.2 for name in SizeLaw.reads]])
    assert answer(plain, shorter_backlog=3.0, last_action=0.2) == pytest.approx(by_size.answer(situation)[0])


def test_the_first_window_falls_with_size() -> None:
    one = law(first=0.7, first_power=0.5)
    assert answer(one, flow_count=0.0, remaining=1.0) == pytest.approx(0.7)
    assert answer(one, flow_count=0.0, remaining=np.e) == pytest.approx(0.2)


def test_some_of_its_situations_are_before_the_first_packet() -> None:
    rows = OrderLaw.situations(1000, np.random.default_rng(5))
    first = rows[:, OrderLaw.reads.index("flow_count")] == 0
    assert 0.05 < first.mean() < 0.2
    assert (rows[first][:, OrderLaw.reads.index("shorter_backlog")] == 0).all()


def test_a_network_that_is_to_be_fitted_to_it_reads_what_it_reads() -> None:
    with pytest.raises(ValueError, match="the law of 'start' reads shorter_backlog, too"):
        NetworkConfig.model_validate({"fields": list(SizeLaw.reads), "start": {"law": {"kind": "order"}}})
