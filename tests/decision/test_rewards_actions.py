# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewards and action maps against the papers' formulas, and maps' inverses against the maps."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.config.gone import GONE
from ns3_env.decision import observations
from ns3_env.decision.actions import (
    AbsoluteWindow,
    ExponentialWindow,
    FairShareWindow,
    LogarithmicWindow,
    Map,
    MultiplicativeRate,
    MultiplicativeWindow,
    RecursiveWindow,
    make_action_map,
    nearest_actions,
)
from ns3_env.decision.observations import FIELDS, INDEX
from ns3_env.decision.rewards import REWARDS, Staged, make_reward, register
from ns3_env.errors import ConfigError


def records(count: int = 1, **values: float) -> NDArray[np.float64]:
    rows = np.zeros((count, len(observations.FIELDS)))
    defaults = {
        "rtt": 1.0,
        "flow_count": 1.0,
        "packet_bytes": 1000.0,
        "payload_bytes": 1000.0,
        "bdp_bytes": 78_500.0,
        "base_rtt_ns": 6280.0,
        "host_rate_bps": 1e11,
        "window_bytes": 10_000.0,
    }
    for name, value in {**defaults, **values}.items():
        rows[:, observations.INDEX[name]] = value
    return rows


#: Below the threshold a flow is rewarded for using its share, above it for leaving.
PROBING = {"rtt": 1.25, "switch_rate": 0.9, "qlen": 0.5, "throughput": 0.4, "flow_count": 4.0}
CONGESTED = {"rtt": 3.0, "switch_rate": 1.0, "qlen": 0.6, "throughput": 0.4, "flow_count": 4.0}
AT_THE_THRESHOLD = {"rtt": 2.0, "switch_rate": 1.0, "qlen": 0.5}


#: Of a link's 150,000 B a quarter is the flow's share, and half of that came, 1250 B on the wire for 1000.
HALF_A_SHARE = {
    "fair_share": 0.25,
    "host_rate_bps": 100e9,
    "interval_ns": 12_000.0,
    "base_rtt_ns": 4_000.0,
    "acked_bytes": 15_000.0,
    "packet_bytes": 1250.0,
    "payload_bytes": 1000.0,
    "sharing_gain": 0.7,
}


@pytest.mark.parametrize(
    ("name", "settings", "telemetry", "expected"),
    [
        ("staged", {}, PROBING, 0.4 + 0.8 - (0.4 - 0.25) ** 2),
        ("staged", {}, CONGESTED, -3.0),
        ("staged", {}, AT_THE_THRESHOLD, 0 + 1 / 2 - (0 - 1) ** 2),
        ("staged", {"threshold": 0.4}, AT_THE_THRESHOLD, -2.0),
        # RL-CC's squared distance: RTT / 8.192 us - 1.5 = 1.5; times sqrt(1/4) is 0.75; less 0.064, squared.
        ("rtt_target", {}, {"rtt_ns": 3 * 8192.0, "pacing_rate": 0.25}, -(0.686**2)),
        ("rtt_target", {}, {"rtt_ns": 2.5 * 8192.0, "pacing_rate": 1.0}, -(0.936**2)),
        # Below one and a half only the target counts.
        ("rtt_target", {}, {"rtt_ns": 1.4 * 8192.0, "pacing_rate": 1.0}, -(0.064**2)),
        ("rtt_target", {}, {"rtt_ns": 3 * 8192.0, "pacing_rate": 0.0}, -(0.064**2)),
        # (4 - 1.5) / 2 = 1.25
        ("rtt_target", {"base_ns": 1000.0, "target": 0.25}, {"rtt_ns": 4000.0, "pacing_rate": 0.25}, -1.0),
        # In base RTTs of the path by default: (3 - 1) / 2 = 1
        (
            "rtt_target",
            {"base_ns": None, "margin": 1.0, "target": 0.25},
            {"rtt": 3.0, "rtt_ns": 1.0, "pacing_rate": 0.25},
            -0.5625,
        ),
        # A share's logarithm less the price of delay: 4 x 0.5 / 2 is a share of 1; a base RTT costs √4 / 2.
        ("proportional", {"delay_weight": 0.5}, {"flow_count": 4.0, "pacing_rate": 0.5, "rtt": 2.0}, -1.0),
        ("proportional", {"delay_weight": 0.5}, {"flow_count": 4.0, "pacing_rate": 0.5}, np.log(2.0)),
        ("proportional", {"delay_weight": 0.5}, {"flow_count": 4.0}, np.log(1e-4)),
        ("goodput_delay", {"delay_weight": 0.5}, {"goodput": 0.9, "rtt": 1.4}, 0.7),
        ("goodput_delay", {}, {"goodput": 0.9, "rtt": 0.9}, 0.9),
        # Half a fair share for three base RTTs; without a wish for fairness only the gain counts.
        ("multi_objective", {"scale": 0.1}, {**HALF_A_SHARE, "fairness_weight": 1.0}, -0.3 * np.log(2.0)),
        ("multi_objective", {"scale": 0.1}, {**HALF_A_SHARE, "fairness_weight": 0.0}, 0.7),
        ("multi_objective", {}, {**HALF_A_SHARE, "fairness_weight": 0.5}, 0.35 - 0.015 * np.log(2.0)),
    ],
)
def test_rewards_are_those_of_the_papers_row_by_row(
    name: str, settings: dict[str, float | None], telemetry: dict[str, float], expected: float
) -> None:
    reward = make_reward(name, **settings)
    assert reward(records(**telemetry))[0] == pytest.approx(expected)
    both = np.concatenate([records(**PROBING), records(**telemetry)])
    assert reward(both)[1] == reward(records(**telemetry))[0]


@pytest.mark.parametrize("name", sorted(REWARDS))
def test_rewards_are_finite_before_the_first_ack(name: str) -> None:
    assert np.isfinite(make_reward(name)(np.zeros((3, len(observations.FIELDS))))).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_reward("rtt_target", base_ns=0.0), "base_ns"),
        (lambda: make_reward("rtt_target", margin=-1.0), "margin"),
        (lambda: make_reward("rtt_target", target=-0.1), "target"),
        (lambda: make_reward("stage"), "staged"),
        (lambda: register("staged")(Staged), "'staged' already"),
        (lambda: make_action_map("multiplicative_window", alpha=0.0), "alpha"),
        (lambda: make_action_map("multiplicative_window", alpha=-1.0), "alpha"),
        (lambda: make_action_map("multiplicative_window", rounding="up"), "rounding"),
        (lambda: make_action_map("x"), "absolute_window"),
        (lambda: observations.field_indices(["qlenn"]), "'qlen'"),
    ],
)
def test_impossible_settings_and_unknown_names_are_refused(make: Any, message: str) -> None:
    with pytest.raises((ValueError, KeyError), match=message):
        make()


@pytest.mark.parametrize(("name", "instead"), GONE["reward"].items())
def test_a_reward_that_went_says_what_to_use_instead(name: str, instead: str) -> None:
    assert instead.strip("'") in REWARDS
    with pytest.raises(ConfigError, match=rf"the reward '{name}' went in 0\.3: use {instead}"):
        make_reward(name)


@pytest.mark.parametrize(
    ("alpha", "action", "packets"),
    [(0.5, 0, 10), (0.5, 1, 15), (0.5, -1, 6), (0.5, 0.5, 12), (1, 1, 20), (1, -1, 5), (0.5, 7, 15)],
)
def test_multiplicative_window_follows_zhang_2023(alpha: float, action: float, packets: int) -> None:
    window, rate, echo = MultiplicativeWindow(alpha)(np.array([[action]]), records())[0]
    assert window == packets * 1000
    assert rate == pytest.approx(packets * 1000 * 8e9 / 6280)
    assert echo == np.clip(action, -1, 1)


@pytest.mark.parametrize(
    ("settings", "telemetry", "action", "then"),
    [
        # Between a packet and the BDP, which a flow without a window counts as having.
        ({}, {"window_bytes": 1000.0}, -1.0, 1000),
        ({}, {"window_bytes": 78_000.0}, 1.0, 78_500),
        ({"rounding": "none"}, {"window_bytes": 1e12}, -1.0, 78_500 / 1.5),
        # Growth from one packet needs progress or fractions.
        ({"rounding": "floor"}, {"window_bytes": 1000.0}, 1.0, 1000),
        ({"rounding": "progress"}, {"window_bytes": 1000.0}, 1.0, 1500),
        ({"rounding": "none"}, {"window_bytes": 1000.0}, 1.0, 1500),
        ({"alpha": 1}, {"window_bytes": 1000.0}, 1.0, 2000),
        # Progress keeps fractions only of growth: 10 / 1.25; 9.52 and 12.5, floored; the last is growth.
        ({"rounding": "progress"}, {}, -0.5, 8000),
        ({"rounding": "progress"}, {}, -0.1, 9000),
        ({"rounding": "progress"}, {}, 0.5, 12_000),
        ({"rounding": "none"}, {}, -0.1, 1e4 / 1.05),
        # Whole packets stay whole though their product is rounded.
        ({}, {"window_bytes": 39e3, "bdp_bytes": 1e6}, -0.6, 30_000),
        ({}, {"window_bytes": 45e3, "bdp_bytes": 1e6}, 0.8, 63_000),
        ({}, {"window_bytes": 85e3, "bdp_bytes": 1e6}, 0.8, 119_000),
    ],
)
def test_multiplicative_window_keeps_whole_packets_and_its_bounds(
    settings: dict[str, Any], telemetry: dict[str, float], action: float, then: float
) -> None:
    window, rate, _ = MultiplicativeWindow(**settings)(np.array([[action]]), records(**telemetry))[0]
    assert window == (pytest.approx(then) if settings.get("rounding") == "none" else then)
    assert rate <= 1e11


def test_recursive_window_is_zhang_2023_as_printed() -> None:
    """action_{t+1} = action_t (1 + a/2) or / (1 - a/2) in [0.5, 2], WIN_{t+1} = WIN_t action_{t+1}."""
    window, echo, windows, factors = 8000.0, 0.0, [], []
    for action in (0.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0):
        rows = records(window_bytes=window, last_action=echo, bdp_bytes=1e6)
        window, _, echo = RecursiveWindow()(np.array([[action]]), rows)[0]
        windows.append(window / 1000)
        factors.append(2**echo)
    assert factors == pytest.approx([1, 1.5, 2, 4 / 3, 8 / 9, 16 / 27, 1 / 2])
    assert windows == [8, 12, 24, 32, 28, 16, 8]


def test_whole_packets_are_counted_by_their_payload() -> None:
    """Data in flight counts likewise: a window of one packet's bytes on the wire admits a second."""
    rows = records(packet_bytes=1090.0, window_bytes=10_000.0)
    assert MultiplicativeWindow()(np.array([[0.0]]), rows)[0, 0] == 10_000
    assert MultiplicativeWindow(rounding="progress")(np.array([[-1.0]]), rows)[0, 0] == 6000
    assert RecursiveWindow()(np.array([[1.0]]), rows)[0, 0] == 15_000


def test_no_rate_exceeds_the_senders_link() -> None:
    slow = records(host_rate_bps=1e9)
    assert MultiplicativeWindow()(np.array([[0.0]]), slow)[0, 1] == 1e9
    assert AbsoluteWindow()(np.array([[1e9]]), slow)[0].tolist() == [1e9, 1e9, 1.0]


@pytest.mark.parametrize(("action", "factor"), [(0, 1), (1, 1.2), (-1, 1 / 1.2), (0.5, 1.1), (-7, 1 / 1.2)])
def test_multiplicative_rate_scales_the_rate_under_a_window_of_one_bdp(action: float, factor: float) -> None:
    rows = records(rate_bps=2e10)
    window, rate, echo = make_action_map("multiplicative_rate")(np.array([[action]]), rows)[0]
    assert window == 78_500
    assert rate == pytest.approx(2e10 * factor)
    assert echo == np.clip(action, -1, 1)


def test_multiplicative_rate_stays_between_few_packets_and_the_link() -> None:
    act = make_action_map("multiplicative_rate", least_packets=0.5)
    assert act(np.array([[1.0]]), records(rate_bps=9e10))[0, 1] == 1e11
    assert act(np.array([[-1.0]]), records(rate_bps=1.0))[0, 1] == pytest.approx(500 * 8e9 / 6280)
    tiny = records(bdp_bytes=500.0, rate_bps=1e9)
    assert act(np.array([[0.0]]), tiny)[0, 0] == 1000  # a window of one packet, at least


def test_absolute_window_is_applied_as_it_is() -> None:
    applied = AbsoluteWindow()(np.array([[250.5]]), records())[0]
    assert applied[0] == 250.5
    assert applied[1] == pytest.approx(250.5 * 8e9 / 6280)
    assert applied[2] == pytest.approx(250.5 / 78_500)
    for impossible in (np.nan, -1.0):
        with pytest.raises(ValueError, match=">= 0"):
            AbsoluteWindow()(np.array([[impossible]]), records())


#: A flow with a window of ten packets and a BDP of 78.5, at a fifth of its link.
FLOW = {
    "packet_bytes": 1000.0,
    "payload_bytes": 1000.0,
    "bdp_bytes": 78_500.0,
    "base_rtt_ns": 6280.0,
    "host_rate_bps": 1e11,
    "window_bytes": 10_000.0,
    "rate_bps": 2e10,
    "last_action": 0.25,
    "fair_share": 0.125,
}
RECORDS = np.zeros((5, len(FIELDS)))
for _name, _value in FLOW.items():
    RECORDS[:, INDEX[_name]] = _value
WITHIN = np.array([[-1.0], [-0.3], [0.0], [0.4], [1.0]])


@pytest.mark.parametrize(
    "action",
    [
        ExponentialWindow(alpha=1.0, least_packets=0.1),
        LogarithmicWindow(),
        FairShareWindow(),
        MultiplicativeWindow(rounding="none"),
        MultiplicativeRate(alpha=0.5, window="none"),
    ],
)
def test_an_action_is_found_again_from_what_it_did(action: Map) -> None:
    np.testing.assert_allclose(nearest_actions(action, action(WITHIN, RECORDS), RECORDS), WITHIN, atol=1e-9)


@pytest.mark.parametrize("action", [MultiplicativeWindow(), RecursiveWindow(alpha=0.5, most_factor=4.0)])
def test_a_window_in_whole_packets_is_met_again(action: Map) -> None:
    windows = action(WITHIN, RECORDS)
    again = action(nearest_actions(action, windows, RECORDS), RECORDS)
    np.testing.assert_array_equal(again[:, 0], windows[:, 0])


def test_what_no_action_reaches_is_approached() -> None:
    windows = np.array([[0.0], [100.0], [10_000.0], [78_500.0], [1e9]])
    targets = AbsoluteWindow()(windows, RECORDS)
    nearest = nearest_actions(ExponentialWindow(alpha=1.0), targets, RECORDS)
    assert nearest[:, 0].tolist() == [-1.0, -1.0, 0.0, 1.0, 1.0]


def test_a_flow_without_a_window_counts_as_one_bdp() -> None:
    fresh = RECORDS[:1].copy()
    fresh[:, INDEX["window_bytes"]] = np.inf
    half = AbsoluteWindow()(np.array([[78_500.0 / 2]]), fresh)
    nearest = nearest_actions(ExponentialWindow(alpha=1.0), half, fresh)
    np.testing.assert_allclose(nearest, [[-np.log(2)]])
