# SPDX-License-Identifier: GPL-2.0-or-later
"""Confidence intervals, paired comparisons over the same seeds, and yardsticks."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from rich.console import Console

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig
from ns3_env.eval.benchmark import summary
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.statistics import (
    bootstrap_interval,
    least_pairs,
    of_log_ratios,
    paired,
)
from ns3_env.eval.benchmark.yardsticks import HEADING, ROW, beside, ways, within_noise
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.comparisons.compare import against
from ns3_env.eval.report import write
from ns3_env.policies.policy import FloatArray, State
from ns3_env.policies.released import CONSTANT_WINDOW
from ns3_env.programs.transport import Transport
from ns3_env.scenario import Scenario
from tests.samples import report_folder
from tests.samples.suites import SUITE


def test_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    # With 12 normal values bootstrap intervals cover a little less than 95 %.
    random = np.random.default_rng(2)
    intervals = [bootstrap_interval(random.normal(0, 1, 12)) for _ in range(300)]
    covered = np.mean([low <= 0 <= high for low, high in intervals])
    assert 0.87 < covered < 0.97


@pytest.mark.parametrize(
    ("values", "interval"),
    [
        ([0.7] * 5, (0.7, 0.7)),
        ([0.0] * 5, (0.0, 0.0)),
        ([1.0, math.nan, 3.0], bootstrap_interval(np.array([1.0, 3.0]))),
        ([5.0, math.nan], (math.nan, math.nan)),
        ([], (math.nan, math.nan)),
    ],
)
def test_equal_values_have_no_spread_one_tells_nothing_what_is_not_defined_is_left_out(
    values: list[float], interval: tuple[float, float]
) -> None:
    np.testing.assert_equal(bootstrap_interval(np.array(values)), interval)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_a_confidence_that_is_no_share_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_interval(np.ones(3), confidence)


def test_three_percent_show_over_twenty_seeds_whose_own_spread_is_ten_times_as_large() -> None:
    # Unpaired intervals cannot detect this: seeds differ by 30 %, the controllers on each of them by 3 %.
    random = np.random.default_rng(3)
    of_seed = np.exp(random.normal(1.0, 0.3, 20))
    base, candidate = of_seed, of_seed * 0.97 * np.exp(random.normal(0, 0.01, 20))
    (low, high), (other_low, other_high) = bootstrap_interval(candidate), bootstrap_interval(base)
    assert max(low, other_low) < min(high, other_high)
    difference = paired(candidate, base, comparisons=5)
    assert difference.is_ratio
    assert difference.sign == -1
    assert difference.low < 0.97 < difference.high
    assert difference.estimate == pytest.approx(np.exp(np.log(candidate / base).mean()))


def test_ratios_turn_round_with_who_is_asked() -> None:
    random = np.random.default_rng(4)
    a, b = random.uniform(1, 2, 12), random.uniform(1.5, 2.5, 12)
    one, other = paired(a, b), paired(b, a)
    assert one.estimate == pytest.approx(1 / other.estimate)
    assert (one.sign, other.sign) == (-1, 1)


def test_where_there_are_zeros_differences_are_compared() -> None:
    frames, others = np.array([0.0, 3, 5, 4, 2, 3, 4, 5]), np.array([9.0, 13, 14, 16, 12, 11, 15, 12])
    difference = paired(frames, others)
    assert not difference.is_ratio
    assert difference.estimate == np.mean(frames - others)
    assert difference.sign == -1
    assert paired(np.zeros(8), np.zeros(8)).sign == 0


def test_more_comparisons_make_a_wider_interval() -> None:
    random = np.random.default_rng(5)
    a, b = random.uniform(1, 2, 12), random.uniform(1, 2, 12)
    one, ten = paired(a, b), paired(a, b, comparisons=10)
    assert ten.low < one.low < one.high < ten.high


def test_equals_are_told_apart_no_oftener_than_the_error_allows() -> None:
    random = np.random.default_rng(6)
    wrong = [of_log_ratios(random.normal(0, 0.1, 20), comparisons=5).sign != 0 for _ in range(300)]
    assert np.mean(wrong) < 0.05  # the nominal level is 1 %; the bootstrap of 20 has a little more


def test_too_few_seeds_decide_nothing() -> None:
    # n differences between equals have one sign with probability 2^(1 - n): 1/32 for 6, below 5 %.
    assert least_pairs(1) == 6
    assert 2.0 ** (1 - least_pairs(5)) <= 0.05 / 5 < 2.0 ** (2 - least_pairs(5))


def test_seeds_that_one_of_both_does_not_define_are_no_pair() -> None:
    a, b = np.array([1.0, math.nan, 3.0, 4.0]), np.array([2.0, 2.0, math.nan, 5.0])
    assert paired(a, b).pairs == 2
    with pytest.raises(ValueError, match="no pairs"):
        paired(a, b[:2])


INCAST = Scenario.model_validate(
    {
        "topology": {"kind": "dumbbell", "senders": 3},
        "traffic": {"kind": "incast", "size_bytes": 200_000, "spread_ns": 5_000},
        "time_limit_ns": 2_000_000,
    }
)


class Steady:
    """Multiplies its window by the same number at each decision."""

    fields = ("rtt",)
    action_map = "multiplicative_window"

    def __init__(self, action: float) -> None:
        self._action = action

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: FloatArray | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        return np.full((len(observation), 1), self._action, np.float32), state


@pytest.mark.parametrize(
    ("action", "text"),
    [(0.0, "lazy is within noise of a constant window of one BDP: slowdown × 1.0"), (-0.3, "lazy beside a")],
)
def test_a_policy_that_never_moves_its_window_is_found_out(action: float, text: str) -> None:
    env = EnvConfig.model_validate({"fields": ["rtt"]})
    evaluation = EvaluationConfig(controllers=["hpcc"], episodes=7)
    episodes_by_name = against("lazy", Steady(action), env, INCAST, evaluation)
    assert list(episodes_by_name) == ["lazy", "hpcc", ROW]
    rows = {name: [episode.metrics for episode in episodes] for name, episodes in episodes_by_name.items()}
    line = beside("lazy", rows["lazy"], rows[ROW])
    assert line.startswith(text), line
    assert line.endswith("over 7 episodes")


def test_a_constant_window_of_tcp_is_none() -> None:
    tcp = Scenario.model_validate({**INCAST.model_dump(mode="json", exclude={"switch"}), "transport": "tcp"})
    env = EnvConfig.model_validate({"fields": ["rtt"], "reward": {"name": "goodput_delay"}})
    episodes_by_name = against("lazy", Steady(0.0), env, tcp, EvaluationConfig(controllers=["dctcp"]))
    assert list(episodes_by_name) == ["lazy", "dctcp"]


def rows(slowdowns: FloatArray) -> list[dict[str, float]]:
    return [{"fct_slowdown_avg": float(x), "queue_avg_bytes": 0.0, "goodput": 0.9} for x in slowdowns]


def test_a_clear_difference_is_no_noise_and_few_episodes_decide_nothing() -> None:
    random = np.random.default_rng(1)
    constant = 6.9 * random.uniform(0.9, 1.1, 12)
    noisy = constant * random.uniform(0.97, 1.03, 12)
    assert " is within noise of " in beside("sac", rows(noisy), rows(constant))
    better = beside("sac", rows(0.9 * noisy), rows(constant))
    assert "noise" not in better
    assert "slowdown × 0.897 (0.890–0.909)" in better
    few = beside("sac", rows(0.9 * noisy[:2]), rows(constant[:2]))
    assert few.endswith("over 2 episodes; fewer than 7 decide nothing: evaluation.episodes=7")
    assert " is within noise of " in beside("sac", rows(constant[:1]), rows(constant[:1]))


def test_a_benchmark_names_the_policies_and_scenarios(tmp_path: Path) -> None:
    yardstick = {
        "name": "constant-window",
        "controller": CONSTANT_WINDOW.name,
        "attributes": {"WindowBdp": 1},
    }
    policies = [{"name": name, "policy": "mine:policy"} for name in ("idle", "fast")]
    suite = report_folder.suite(1, controllers=[yardstick, *policies, "hpcc"])
    path = report_folder.write(tmp_path / "run", suite, queue_avg_bytes=5e4)
    (line,) = within_noise(BenchFolder.read(path))
    assert line.startswith(
        "equal: idle is within noise of constant-window: slowdown × 1.000 (1.000–1.000), queue"
    )
    console = Console(file=io.StringIO(), width=200)
    summary.show(BenchFolder.read(path), console)
    write(path)
    for text in (
        console.file.getvalue(),  # type: ignore[attr-defined]
        (path / "report.md").read_text(),
        (path / "report.html").read_text(),
    ):
        assert "idle is within noise of constant-window" in text
    assert not list(within_noise(BenchFolder.read(report_folder.write(tmp_path / "without"))))


def test_the_way_is_logarithmic_and_of_the_seeds_that_all_have() -> None:
    values = {
        "dcqcn": {1: 8.0, 2: 2.0},
        "oracle": {1: 2.0, 2: 0.5},
        "half": {1: 4.0, 2: 1.0},
        "beyond": {1: 1.0},
        "elsewhere": {7: 1.0},
    }
    shares = ways(values, "rdma")
    assert [shares[name] for name in ("dcqcn", "oracle", "half", "beyond")] == pytest.approx(
        [0, 100, 50, 150]
    )
    assert math.isnan(shares["elsewhere"])


@pytest.mark.parametrize(
    ("one", "other", "transport"),
    [("dcqcn", "hpcc", "rdma"), ("oracle", "hpcc", "rdma"), ("dcqcn", "oracle", "tcp")],
)
def test_without_either_end_or_a_way_between_them_there_is_none(
    one: str, other: str, transport: Transport
) -> None:
    assert ways({one: {1: 2.0}, other: {1: 1.0}}, transport) == {}
    assert ways({"dcqcn": {1: 2.0}, "oracle": {1: 2.0}}, "rdma") == {}
    assert ways({"dcqcn": {1: 1.0}, "oracle": {1: 2.0}}, "rdma") == {}


def test_reports_have_it_where_both_have_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = {**SUITE, "scenarios": SUITE["scenarios"][:1], "controllers": ["hpcc", "dcqcn", "oracle"]}
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(suite))
    assert main(["benchmark", str(tmp_path / "tiny.yaml"), "--out", str(tmp_path / "out")]) == 0
    text, page = ((tmp_path / "out" / f"report.{kind}").read_text() for kind in ("md", "html"))
    assert HEADING in text
    assert "100 % of the way to the oracle" in page
    assert "way" in capsys.readouterr().out


def test_a_comparison_has_it_in_its_table_and_its_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.json"
    command = ["compare", "policy", "fdcc", "evaluation.controllers=[dcqcn,oracle]", "--json", str(file)]
    assert main(command) == 0
    assert "way" in capsys.readouterr().out
    content = json.loads(file.read_text())
    assert (content["dcqcn"]["way"], content["oracle"]["way"]) == (0, 100)
    assert 0 < content["policy"]["way"] < 100
