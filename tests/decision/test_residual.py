# SPDX-License-Identifier: GPL-2.0-or-later
"""The action "residual": decisions scale what a base controller says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.decision.actions import Residual
from ns3_env.decision.observations import column
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.errors import ScenarioError
from ns3_env.policies.file import read_policy, write_policy
from ns3_env.policies.header import Safety
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from tests.samples.episodes import ENDS, played
from tests.samples.policy_files import FIELDS, residual_file

BASES = ("hpcc", "swift", "dcqcn", "hpcc,Eta=0.8")


def under(name: str, **attributes: str) -> dict[str, Any]:
    """Columns of the flows of ENDS."""
    with Simulator() as simulator:
        flows: dict[str, Any] = simulator.play(ENDS.under(name, attributes))["flows"]
    return flows


def across(
    action: Residual, answer: float, telemetry_bytes: int | None = None, scenario: Scenario = ENDS
) -> dict[str, Any]:
    """Columns of the scenario's flows, which answer the same at every decision."""
    task = Task(FIELDS, action=action, telemetry_bytes=telemetry_bytes)
    with FlowStream(scenario.under("agent"), slots=3, seeds=[ENDS.seed], task=task) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            stream.send(np.full((int(batch.due.sum()), 1), answer), batch.slots[batch.due])
    flows: dict[str, Any] = batch.results[0][1]["flows"]
    return flows


@pytest.mark.parametrize("base", BASES)
def test_who_answers_0_is_the_base_to_the_bit(tmp_path: Path, base: str) -> None:
    name, *settings = base.split(",")
    alone = under(name, **dict(setting.split("=") for setting in settings))
    file = residual_file(tmp_path / "policy", base=base, zero=True, telemetry_bytes=0)
    assert under("policy", File=str(file))["fct_ns"] == alone["fct_ns"]
    assert across(Residual(base), 0.0, telemetry_bytes=0)["fct_ns"] == alone["fct_ns"]


def test_packets_carry_what_the_base_and_the_policy_read() -> None:
    alone, both = under("hpcc"), across(Residual("hpcc"), 0.0, telemetry_bytes=16)
    assert [b - a for a, b in zip(alone["header_bytes"], both["header_bytes"], strict=True)] == [16] * 3


@pytest.mark.parametrize("base", BASES)
def test_a_decision_scales_what_the_base_says_then(tmp_path: Path, base: str) -> None:
    rollout = played(residual_file(tmp_path / "policy", base=base), ENDS, count=1)[0]
    rows, actions = rollout.decided, rollout.actions[rollout.decided].astype(float)
    windows, rates = (column(rollout.records, name)[rows] for name in ("window_bytes", "rate_bps"))
    assert rollout.windows[rows, 0] == pytest.approx(windows * np.exp(actions), rel=1e-6)
    assert rollout.windows[rows, 1] == pytest.approx(np.minimum(rates * np.exp(actions), 100e9), rel=1e-6)
    assert np.abs(actions).max() > 0.2


@pytest.mark.parametrize("base", ["hpcc", "dcqcn"])
def test_the_factor_holds_until_the_next_decision(base: str) -> None:
    """A flow alone has a BDP, or its link's rate, under both: a third of it takes three times as long."""
    one = Scenario(topology=Dumbbell(senders=1, rate_bps=100e9), traffic=Incast(size_bytes=3_000_000))
    base_time, slow_time = (
        across(Residual(base), answer, scenario=one)["fct_ns"][0] for answer in (0.0, -1.0)
    )
    assert 2.5 < slow_time / base_time < np.e


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("hpc", "unknown controller 'hpc'; known: "),
        ("agent", "'agent' steers no flow by itself"),
        ("oracle", "'oracle' steers no flow by itself"),
        ("hpcc,Eta", "'Eta' of the base is no ATTRIBUTE=value"),
        ("hpcc,Eta=x", "cannot set attribute 'Eta'"),
    ],
)
def test_a_base_that_is_none_is_refused(tmp_path: Path, base: str, message: str) -> None:
    for play in (
        lambda: under("policy", File=str(residual_file(tmp_path / "policy", base=base))),
        lambda: across(Residual(base), 0.0),
    ):
        with pytest.raises(ScenarioError, match=message):
            play()


def test_a_safety_is_refused_for_flows_have_their_base(tmp_path: Path) -> None:
    refusal = "safety: a residual action's flows have their base controller"
    with pytest.raises(ValueError, match=refusal):
        residual_file(tmp_path / "policy", safety={"ranges": {}})
    file = residual_file(tmp_path / "policy")
    policy = read_policy(file)
    write_policy(file, replace(policy, spec=policy.spec.model_copy(update={"safety": Safety(ranges={})})))
    with pytest.raises(ScenarioError, match=refusal):
        under("policy", File=str(file))


def test_flows_of_tcp_have_no_base(tmp_path: Path) -> None:
    scenario = Scenario.from_mapping({"transport": "tcp", "controllers": ["agent"]}, "tcp")
    with pytest.raises(ScenarioError, match="'residual' scales controllers of RDMA"):
        Task(["rtt"], action=Residual()).check(scenario)
