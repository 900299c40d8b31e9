# SPDX-License-Identifier: GPL-2.0-or-later
"""Rates, times and sizes with units, in every key that accepts them."""

from pathlib import Path

import pytest

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig, RunConfig
from ns3_env.agents.configuration.inputs import apply_overrides
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.config.model import validate
from ns3_env.config.units import RATE, SIZE, TIME, Dimension, quantity
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main
from ns3_env.scenario import Scenario

WITH_UNITS = """
time_limit_ns: 5ms
payload_bytes: 1kB
min_rate_bps: 5e6
topology: {kind: dumbbell, senders: 2, rate_bps: 25Gbps, delay_ns: 1us}
traffic: {kind: incast, size_bytes: 64KiB, spread_ns: 1e3}
switch: {buffer_bytes: 16 MiB, ecn: {kmin_bytes: 100KB, kmax_bytes: 0.4MB, at_rate_bps: 25 Gb/s}}
clock: {name: synchronous, interval_ns: 10us}
record: {queue_series_ns: 0.001ms}
"""
WITHOUT = """
time_limit_ns: 5000000
payload_bytes: 1000
min_rate_bps: 5000000
topology: {kind: dumbbell, senders: 2, rate_bps: 25000000000, delay_ns: 1000}
traffic: {kind: incast, size_bytes: 65536, spread_ns: 1000}
switch: {buffer_bytes: 16777216, ecn: {kmin_bytes: 100000, kmax_bytes: 400000, at_rate_bps: 25000000000}}
clock: {name: synchronous, interval_ns: 10000}
record: {queue_series_ns: 1000}
"""


@pytest.mark.parametrize(
    ("text", "dimension", "number"),
    [
        ("25Gbps", RATE, 25 * 10**9),
        ("0.1 Tb/s", RATE, 10**11),
        ("10kbit/s", RATE, 10**4),
        ("64KB", SIZE, 64_000),
        ("64kB", SIZE, 64_000),
        ("64KiB", SIZE, 65_536),
        ("1.5MiB", SIZE, 1_572_864),
        ("1us", TIME, 1000),
        ("1\N{MICRO SIGN}s", TIME, 1000),
        ("2.000000123s", TIME, 2_000_000_123),
        ("4000ps", TIME, 4),
        ("5e6", TIME, 5_000_000),
        ("1_000", TIME, 1000),
    ],
)
def test_k_is_1000_and_ki_is_1024(text: str, dimension: Dimension, number: int) -> None:
    assert quantity(text, dimension) == number


def test_a_scenario_with_units_is_the_same_one(tmp_path: Path) -> None:
    (tmp_path / "units.yaml").write_text(WITH_UNITS)
    (tmp_path / "plain.yaml").write_text(WITHOUT)
    with_units, plain = (Scenario.load(tmp_path / name) for name in ("units.yaml", "plain.yaml"))
    assert with_units.model_dump() == plain.model_dump()
    assert with_units.to_simulator_json() == plain.to_simulator_json()


def test_curricula_take_them_and_keep_plain_numbers() -> None:
    stage = {
        "name": "only",
        "scenario": {"traffic": {"kind": "incast", "size_bytes": "200kB"}},
        "randomise": {"topology.rate_bps": ["25Gbps", "100Gbps"], "traffic.spread_ns": ["1us", "1us"]},
    }
    content = {"scenario": {"topology": {"kind": "dumbbell", "delay_ns": "2us"}}, "stages": [stage]}
    config = validate(content, CurriculumConfig, "curriculum.yaml")
    assert config.scenario["topology"]["delay_ns"] == 2000
    assert config.stages[0].randomise["traffic.spread_ns"] == (1000, 1000)
    scenario = Curriculum(config, EnvConfig(fields=["rtt"]), 1, "curriculum.yaml")(0)
    assert 25e9 <= scenario.topology.rate_bps <= 100e9  # type: ignore[union-attr]
    assert (scenario.traffic.size_bytes, scenario.traffic.spread_ns) == (200_000, 1000)  # type: ignore[union-attr]


def test_configurations_and_overrides_take_them() -> None:
    data = {"agent": {"name": "fdcc"}, "env": {"fields": ["rtt"]}}
    overrides = [
        "env.decision_quantum_ns=1us",
        "env.telemetry_bytes=42B",
        "evaluation.scenario={topology: {kind: dumbbell, rate_bps: 40Gbps}}",
        "env.reward={name: rtt_target, base_ns: 8us}",
    ]
    config = validate(apply_overrides(data, overrides), RunConfig, "run.yaml")
    assert (config.env.decision_quantum_ns, config.env.telemetry_bytes) == (1000, 42)
    assert config.env.reward.settings == {"base_ns": 8000}
    assert config.evaluation is not None
    assert config.evaluation.scenario["topology"]["rate_bps"] == 40e9
    with pytest.raises(ConfigError, match=r"env.decision_quantum_ns: '1Mbps' is a rate; a time takes"):
        validate(apply_overrides(data, ["env.decision_quantum_ns=1Mbps"]), RunConfig, "run.yaml")


def test_what_is_no_quantity_is_left_to_whoever_reads_the_key() -> None:
    section = EvaluationConfig(scenario={"topology": {"rate_bps": "1us", "kind": "dumbbell"}}).scenario
    assert section == {"topology": {"rate_bps": "1us", "kind": "dumbbell"}}


def test_options_refuse_other_units(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "x", "--out", "y", "--queue-series", "1kB"])
    assert "--queue-series: '1kB' is a size; a time takes ps, ns, us" in capsys.readouterr().err
