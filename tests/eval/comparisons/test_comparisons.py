# SPDX-License-Identifier: GPL-2.0-or-later
"""Trained policies compared: their actions as maps, learning curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.comparisons.learning_curves import draw_learning, read_curve
from ns3_env.eval.comparisons.policy_map import act_steadily, steady
from ns3_env.policies.file import write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from tests.samples.policy_files import tiny


def test_a_steady_flow_sees_the_queue_as_delay_and_gets_what_it_sends() -> None:
    observations = steady(
        ["rtt", "qlen", "goodput", "rtt_slope", "window_bytes"], {"qlen": np.array([0.0, 0.5])}
    )
    assert observations.tolist() == [[1.0, 0.0, 0.25, 0.0, 25937.5], [1.5, 0.5, 0.25, 0.0, 25937.5]]


def test_a_field_that_does_not_follow_is_asked_for() -> None:
    with pytest.raises(
        ConfigError, match=r"reads state_queue_bytes, .*: give a value, e\.g\. state_queue_bytes=0"
    ):
        steady(["rtt", "state_queue_bytes"], {})
    assert steady(["state_queue_bytes"], {"state_queue_bytes": np.array([7.0])}).tolist() == [[7.0]]


@pytest.mark.parametrize("kind", ["mlp", "lstm", "carried"])
def test_its_action_is_the_policys_own(kind: str, tmp_path: Path) -> None:
    write_policy(tmp_path / "policy.safetensors", tiny(kind))
    policy = NetworkPolicy.load(tmp_path / "policy.safetensors")
    one = steady(policy.fields, {"qlen": np.array([0.3])}).astype(np.float32)
    long = 64 if kind == "carried" else policy.spec.history
    expected = policy.act(np.repeat(one[:, None], long, axis=1), np.array([long]))
    assert act_steadily(policy, {"qlen": np.array([0.3])}) == expected[0, 0]


def test_the_command_draws_a_panel_for_each_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_policy(tmp_path / "policy.safetensors", tiny())
    out = tmp_path / "map.png"
    text = [str(tmp_path / "policy.safetensors"), "--out", str(out), "--panel", "flow_count=2,16"]
    assert main(["plot", "policy", *text]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.strip() == str(out)


def run(folder: Path, text: str) -> Path:
    """A run's folder with such a log."""
    folder.mkdir()
    (folder / "progress.csv").write_text(text, encoding="utf-8")
    return folder


def test_validations_count_where_there_are_some(tmp_path: Path) -> None:
    text = "time/total_timesteps,episode/reward,validation/score\n10,1,\n20,2,5\n30,3,\n40,4,6\n"
    curve = read_curve(run(tmp_path / "a", text))
    assert (curve.at.tolist(), curve.score.tolist()) == ([20, 40], [5, 6])
    assert curve.judged == "score on held-back episodes"
    plain = read_curve(run(tmp_path / "b", "time/total_timesteps,episode/reward\n10,1\n20,2\n"))
    assert (plain.at.tolist(), plain.score.tolist()) == ([10, 20], [1, 2])


def test_a_run_that_went_on_is_one_curve(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", "tuning/generation,validation/score\n0,1\n5,2\n")
    (folder / "progress-5.csv").write_text("tuning/generation,validation/score\n10,3\n", encoding="utf-8")
    assert read_curve(folder).at.tolist() == [0, 5, 10]


def test_the_command_draws_seeds_together(tmp_path: Path) -> None:
    text = "tuning/generation,validation/score\n0,{}\n5,{}\n"
    runs = [run(tmp_path / str(i), text.format(i, 2 * i)) for i in range(3)]
    assert main(["plot", "learning", *map(str, runs), "--out", str(tmp_path / "curve.png")]) == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_what_has_no_curve_or_another_is_refused(tmp_path: Path) -> None:
    one = run(tmp_path / "a", "tuning/generation,validation/score\n0,1\n5,2\n")
    other = run(tmp_path / "b", "time/total_timesteps,episode/reward\n10,1\n20,2\n")
    (tmp_path / "c").mkdir()
    with pytest.raises(ConfigError, match=r"c: has no progress\.csv with a score"):
        read_curve(tmp_path / "c")
    out = str(tmp_path / "curve.png")
    assert main(["plot", "learning", str(one), str(other), "--out", out]) != 0


def test_a_curriculums_stages_have_a_curve_each(tmp_path: Path) -> None:
    header = "time/total_timesteps,curriculum/stage,validation/score,validation/easy,validation/hard\n"
    rows = [
        (100, 0, -1.0, -1.0, ""),
        (200, 0, -0.5, -0.5, ""),
        (300, 1, -2.0, -0.5, -3.5),
        (400, 1, -1.5, -0.5, -2.5),
    ]
    (tmp_path / "progress.csv").write_text(header + "".join(",".join(map(str, row)) + "\n" for row in rows))
    curve = read_curve(tmp_path)
    easy, hard = curve.stages.values()
    assert list(curve.stages) == ["easy", "hard"]
    assert [x.tolist() for x in easy] == [[100, 200, 300, 400], [-1.0, -0.5, -0.5, -0.5]]
    assert [x.tolist() for x in hard] == [[300, 400], [-3.5, -2.5]]
    figure = draw_learning([tmp_path], tmp_path / "learning.svg").read_text()
    assert "easy" in figure
    assert "hard" in figure


def test_each_stage_of_several_runs_is_one_curve_with_their_range(tmp_path: Path) -> None:
    header = "time/total_timesteps,curriculum/stage,validation/score,validation/easy,validation/hard\n"
    runs = [run(tmp_path / x, header + f"100,0,1,1,{x}\n200,0,1,1,{x}\n") for x in ("2", "4")]
    figure = draw_learning(runs, tmp_path / "learning.svg").read_text()
    assert figure.count('id="FillBetweenPolyCollection') == 2
