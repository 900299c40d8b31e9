# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of a policy: its action over what a flow observes in a steady state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.training.policy_map import Axis, act_steadily, steady
from ns3_env.policies.file import write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from tests.samples.policy_files import tiny


def test_a_steady_flow_sees_the_queue_as_delay_and_gets_what_it_sends() -> None:
    seen = steady(["rtt", "qlen", "goodput", "rtt_slope", "window_bytes"], {"qlen": np.array([0.0, 0.5])})
    assert seen.tolist() == [[1.0, 0.0, 0.25, 0.0, 25937.5], [1.5, 0.5, 0.25, 0.0, 25937.5]]


def test_a_field_that_does_not_follow_is_asked_for() -> None:
    with pytest.raises(
        ConfigError, match=r"reads state_queue_bytes, .*: give a value, e\.g\. state_queue_bytes=0"
    ):
        steady(["rtt", "state_queue_bytes"], {})
    assert steady(["state_queue_bytes"], {"state_queue_bytes": np.array([7.0])}).tolist() == [[7.0]]


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_its_action_is_the_policys_own(kind: str, tmp_path: Path) -> None:
    write_policy(tmp_path / "policy.safetensors", tiny(kind))
    policy = NetworkPolicy.load(tmp_path / "policy.safetensors")
    one = steady(policy.fields, {"qlen": np.array([0.3])}).astype(np.float32)
    history = np.repeat(one[:, None], policy.spec.history, axis=1)
    expected = policy.act(history, np.array([policy.spec.history]))
    assert act_steadily(policy, {"qlen": np.array([0.3])}) == expected[0, 0]


def test_the_command_draws_a_panel_for_each_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_policy(tmp_path / "policy.safetensors", tiny())
    out = tmp_path / "map.png"
    text = [str(tmp_path / "policy.safetensors"), "--out", str(out), "--panel", "flow_count=2,16"]
    assert main(["plot", "policy", *text]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.strip() == str(out)


@pytest.mark.parametrize("given", [["--panel", "foo=1"], ["foo=1"], ["--x", "foo=0..1"]])
def test_a_field_that_there_is_not_is_a_line(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(tmp_path / "policy.safetensors", tiny())
    out = tmp_path / "map.png"
    assert main(["plot", "policy", str(tmp_path / "policy.safetensors"), "--out", str(out), *given]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: unknown observation field 'foo'; the nearest known one is ")
    assert said.count("\n") == 1
    assert not out.exists()


@pytest.mark.parametrize("wrong", ["qlen", "qlen=1..0", "qlen=a..b", "qlen=1"])
def test_an_axis_says_what_it_expects(wrong: str) -> None:
    with pytest.raises(ConfigError, match=r"expected FIELD=LOW\.\.HIGH, e.g. qlen=0\.\.2"):
        Axis.parse(wrong)


def test_orders_of_magnitude_are_drawn_where_there_are_some() -> None:
    assert Axis.parse("pacing_rate=0.01..1").log
    assert not Axis.parse("qlen=0..2").log
