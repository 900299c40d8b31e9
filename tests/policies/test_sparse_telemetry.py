# SPDX-License-Identifier: GPL-2.0-or-later
"""Short flows without decisions, packets without telemetry; decisions before the first packet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.errors import ConfigError
from ns3_env.eval.episodes.entry import Entry, played_by
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import PerFlowRtt, Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import decisions_taken
from tests.samples.policy_files import constant_file, policy_file

#: Bytes of telemetry that differ clearly from all other sizes.
CARRIED = 100
RATE = 100e9


def always(path: Path, answer: float, **changes: Any) -> Path:
    return constant_file(path, answer, telemetry_bytes=CARRIED, **changes)


def alone(size: int, **record: Any) -> Scenario:
    return Scenario(
        time_limit_ns=10_000_000,
        topology=Dumbbell(senders=1, rate_bps=RATE),
        traffic=Incast(size_bytes=size),
        record=Record(**record),
    )


def played(policy: Path, scenario: Scenario, placement: str = "simulator") -> dict[str, Any]:
    who = Entry(name="mine", checkpoint=str(policy), placement=placement)
    with Simulator() as simulator:
        return played_by(who, scenario, simulator)[1]


def delay_ns(policy: Path, size: int) -> float:
    """Additional FCT of a single flow compared with one of plain packets."""
    flows = played(policy, alone(size))["flows"]
    return float(flows["fct_ns"][0] - flows["standalone_ns"][0])


@pytest.mark.parametrize(
    ("size", "from_bdps", "packets"),
    [(50_000, 0.0, 50), (50_000, 1.0, 0), (20_000, 0.5, 0), (60_000, 0.5, 60)],
)
def test_a_flow_from_so_many_bdps_carries_telemetry_and_a_shorter_one_is_as_fast_as_without(
    size: int, from_bdps: float, packets: int, tmp_path: Path
) -> None:
    """The path's BDP is 78 kB."""
    policy = always(tmp_path / "policy", 0.9, telemetry_from_bdps=from_bdps)
    cost_ns = 8e9 * packets * CARRIED / RATE
    assert delay_ns(policy, size) > 0.99 * cost_ns if packets else delay_ns(policy, size) == 0


def test_a_flow_below_the_line_leaves_at_line_rate_and_decides_nothing(tmp_path: Path) -> None:
    policy = always(tmp_path / "policy", -0.9, decides_from_bdps=2.0)  # it shrinks every window
    assert delay_ns(policy, 150_000) == 0
    assert delay_ns(policy, 160_000) > 10_000
    scenario = alone(150_000, controller_counters=True)
    for placement in ("simulator", "python"):
        assert decisions_taken(played(policy, scenario, placement)) == 0


def test_sparse_telemetry_costs_its_bytes_on_as_few_packets_as_were_asked_for(tmp_path: Path) -> None:
    packets, bytes_ = 1000, {}
    for every in (0.0, 0.2, 1e5):  # the last: only the first packet
        policy = always(tmp_path / f"{every}", 0.9, telemetry_every_rtts=every)
        bytes_[every] = played(policy, alone(1000 * packets))["totals"]["end_ns"] * RATE / 8e9
    carried = {every: 1 + (took - bytes_[1e5]) / CARRIED for every, took in bytes_.items()}
    assert carried[0.0] == pytest.approx(packets, rel=0.05)
    assert carried[0.2] == pytest.approx(5 * packets * 1048 / 78_000, rel=0.15)


def test_a_flow_decides_at_packets_that_carry_telemetry(tmp_path: Path) -> None:
    counted = {}
    for every in (0.0, 0.25, 2.0):
        clock = PerFlowRtt(rtt_fraction=0.5)
        policy = always(tmp_path / f"{every}", 0.9, telemetry_every_rtts=every, clock=clock)
        results = played(policy, alone(2_000_000, controller_counters=True))
        counted[every] = decisions_taken(results)
    assert counted[0.25] == pytest.approx(counted[0.0], rel=0.3)
    assert counted[2.0] == pytest.approx(counted[0.0] / 4, rel=0.3)


def test_the_first_window_is_decided_where_the_clock_says_so(tmp_path: Path) -> None:
    rows = {}
    for start_bdps in (0.0, 1.0, 0.5):
        policy = always(tmp_path / f"{start_bdps}", -0.5, clock=PerFlowRtt(start_bdps=start_bdps))
        rows[start_bdps] = played(policy, alone(200_000, windows=True))["windows"]
    bdp = rows[0.0][0][2]
    assert rows[0.0][0][0] == 0
    assert rows[0.0][1][0] > 0
    for start_bdps in (1.0, 0.5):
        at_start = [window for time, _, window, _ in rows[start_bdps] if time == 0]
        assert at_start[-1] == pytest.approx(start_bdps * bdp / 1.25)  # 1 / (1 - alpha a), alpha 0.5


CLOCK = PerFlowRtt(rtt_fraction=0.4, start_bdps=0.5)
EIGHT = Scenario(
    time_limit_ns=4_000_000,
    topology=Dumbbell(senders=4, rate_bps=RATE),
    traffic=Incast(flows=8, size_bytes=120_000, spread_ns=20_000),
)


@pytest.mark.parametrize("changes", [{"telemetry_every_rtts": 0.3}, {"decides_from_bdps": 2.0}])
def test_episodes_across_the_channel_spare_what_the_file_will(
    tmp_path: Path, changes: dict[str, float]
) -> None:
    """A learner configured for it observes the same as its policy will."""
    whole, sparing = (
        policy_file(tmp_path / name, "mlp", 12, clock=CLOCK, **keys)
        for name, keys in (("whole", {}), ("sparing", changes))
    )
    policy = NetworkPolicy.load(whole)
    action = dict(policy.spec.action)
    env = EnvConfig(fields=list(policy.fields), action=action, clock=CLOCK, telemetry_bytes=16, **changes)
    scenario = EIGHT.under("agent").model_copy(update={"clock": CLOCK})
    (episode,) = run_policy(policy, env, scenario, seed=1, seeds=[EIGHT.seed])
    assert episode.results["flows"]["fct_ns"] == played(sparing, EIGHT)["flows"]["fct_ns"]
    assert episode.results["flows"]["fct_ns"] != played(whole, EIGHT)["flows"]["fct_ns"]


@pytest.mark.parametrize("key", ["decides_from_bdps", "telemetry_from_bdps", "telemetry_every_rtts"])
def test_what_cannot_be_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises((ConfigError, ValueError), match=key):
        policy_file(tmp_path / "policy", "mlp", 4, **{key: -1.0})
