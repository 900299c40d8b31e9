# SPDX-License-Identifier: GPL-2.0-or-later
"""Safety of a policy's file: windows within bounds, Swift outside the policy's training range."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.export.export import export
from ns3_env.agents.export.safety import secured
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.metrics import measure
from ns3_env.policies.file import read_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import PerFlowRtt, Scenario, Switch
from ns3_env.simulator.results import charged_slowdowns
from tests.samples.policy_files import constant_file
from tests.samples.scenarios import incast, results_of

#: Fields of the sample, and ranges that always hold.
ANY = {"rtt": [0.0, 1e4], "pacing_rate": [0.0, 1.0]}
#: No flow can observe it: RTTs below the base RTT.
NEVER = {"rtt": [0.5, 0.6]}
CURRICULUM = """
scenario: {time_limit_ns: 20ms}
draw: {families: [incast], flows: 20, packets: 2000}
"""


def grows(path: Path, answer: float = 0.9, **changes: Any) -> Path:
    """A policy that lets every window grow; or shrink, if ``answer`` is below 0."""
    return constant_file(path, answer, **{"telemetry_bytes": 8, **changes})


def several(flows: int, size: int = 1_000_000) -> Scenario:
    return incast(flows, size, spread_ns=10_000, time_limit_ns=100_000_000)


def played(scenario: Scenario, file: Path | None = None) -> dict[str, Any]:
    """Results under a policy's file, or under Swift."""
    variant = scenario.under("swift") if file is None else scenario.under("policy", {"File": str(file)})
    return results_of(variant)


def seen(results: dict[str, Any]) -> dict[str, Any]:
    """Results of the network; without the events, as a decision is an additional one."""
    totals = {key: value for key, value in results["totals"].items() if key != "events"}
    return {"flows": results["flows"], "queues": results["queues"], "totals": totals}


def test_out_of_its_range_from_the_start_a_policy_is_swift_to_the_byte(tmp_path: Path) -> None:
    file = grows(tmp_path / "policy", clock=PerFlowRtt(start_bdps=1.0), safety={"ranges": NEVER})
    results = played(several(8), file)
    assert seen(results) == seen(played(several(8)))
    assert results["counters"]["policy_fallbacks"] == 8


def test_a_flow_that_leaves_the_range_goes_on_as_swift_and_decides_no_more(tmp_path: Path) -> None:
    file = grows(tmp_path / "policy", safety={"ranges": {"rtt": [0.0, 0.9]}})  # left at the first ACK
    scenario = several(4, 4_000_000)
    results, swift = played(scenario, file), played(scenario)
    assert results["counters"] == {"policy_fallbacks": 4, "policy_windows_bounded": 0}
    names = ["fct_slowdown_avg", "queue_avg_bytes"]
    assert measure(results, names) == pytest.approx(measure(swift, names), rel=1e-3)  # one ACK a flow differs


def test_flows_that_all_want_the_most_keep_a_queue_of_the_root_of_their_number(tmp_path: Path) -> None:
    flows, most = 16, 4.0
    for safety, rtts in (({"most_rtts": most, "ranges": ANY}, math.sqrt(flows * most)), (None, flows)):
        file = grows(tmp_path / f"{rtts}", **({} if safety is None else {"safety": safety}))
        queue = measure(played(several(flows, 4_000_000), file), ["queue_avg_bytes"])["queue_avg_bytes"]
        assert queue == pytest.approx((rtts - 1) * 78_000, rel=0.06)


#: A policy that may request less than a packet in flight, and gets it.
SHRINKS = {"answer": -0.9, "action": {"name": "exponential_window", "alpha": 1.0, "least_packets": 0.25}}


@pytest.mark.parametrize(
    ("changes", "most_rtts", "size"), [({}, {"most_rtts": 100.0}, 1_000_000), (SHRINKS, {}, 100_000)]
)
def test_within_its_range_and_bounds_a_policy_plays_to_the_bit_as_without(
    tmp_path: Path, changes: dict[str, Any], most_rtts: dict[str, float], size: int
) -> None:
    """Bounds raise no window."""
    plain = grows(tmp_path / "plain", **changes)
    safe = grows(tmp_path / "safe", **changes, safety={**most_rtts, "ranges": ANY})
    results = played(several(4, size), safe)
    assert seen(results) == seen(played(several(4, size), plain))
    assert results["counters"]["policy_fallbacks"] == results["counters"]["policy_windows_bounded"] == 0


@pytest.mark.parametrize("whole", [0.0, 50.0])
def test_flows_that_mostly_repeat_themselves_go_on_as_swift(tmp_path: Path, whole: float) -> None:
    """This includes flows that are sent at once, and never decide."""
    shallow = Switch(pfc=False, buffer_bytes=300_000)
    scenario = several(30, 400_000).model_copy(update={"switch": shallow})
    swift = charged_slowdowns(played(scenario)).mean()
    for most, worse in ((0.5, 1.25), (1.0, 2.0)):
        safety = {"ranges": ANY, "most_repeated": most}
        results = played(scenario, grows(tmp_path / f"{most}", decides_from_bdps=whole, safety=safety))
        fallbacks = results["counters"]["policy_fallbacks"]
        if most < 1:
            assert fallbacks > 10
            assert charged_slowdowns(results).mean() < worse * swift
        else:
            assert fallbacks == 0
            assert charged_slowdowns(results).mean() > worse * swift


def test_the_simulator_refuses_ranges_of_what_is_not_observed(tmp_path: Path) -> None:
    file = grows(tmp_path / "policy", safety={"ranges": {"rtt": [0, 1]}})
    file.write_bytes(file.read_bytes().replace(b'\\"ranges\\": {\\"rtt\\"', b'\\"ranges\\": {\\"rtx\\"'))
    with pytest.raises(ScenarioError, match="rtx"):
        played(several(2), file)


def test_what_cannot_fall_back_refuses_a_safety(tmp_path: Path) -> None:
    file = grows(tmp_path / "policy", safety={"ranges": ANY})
    with pytest.raises(ConfigError, match="safety"):
        NetworkPolicy.load(file).predict(np.zeros((1, 5), np.float32))
    with pytest.raises(ConfigError, match="safety"):
        export(file, "onnx", tmp_path / "policy.onnx")


def test_flows_of_tcp_fall_back_too(tmp_path: Path) -> None:
    fields = [{"field": "rtt"}, {"field": "pacing_rate"}]
    file = grows(tmp_path / "known", observation=fields, safety={"ranges": NEVER})
    results = played(several(4).model_copy(update={"transport": "tcp"}), file)
    assert results["counters"]["policy_fallbacks"] == 4
    assert min(results["flows"]["fct_ns"]) > 0


def test_recorded_ranges_hold_what_was_seen_and_no_flow_leaves_them_there(tmp_path: Path) -> None:
    curriculum = tmp_path / "drawn.yaml"
    curriculum.write_text(CURRICULUM)
    plain = read_policy(grows(tmp_path / "policy"))
    counts: list[int] = []
    policy = secured(plain, curriculum, 4.0, episodes=3, progress=counts.append)
    assert policy.spec.safety is not None
    ranges = policy.spec.safety.ranges
    assert set(ranges) == set(plain.spec.fields)
    assert counts == [1, 2, 3]
    assert 0.9 < ranges["rtt"][0] < 1 < ranges["rtt"][1], "a hundredth of the width beyond what was seen"
    again = secured(plain, curriculum, 4.0, episodes=3)
    assert again.spec.safety == policy.spec.safety
    with pytest.raises(ConfigError, match="already"):
        secured(policy, curriculum, 4.0)
