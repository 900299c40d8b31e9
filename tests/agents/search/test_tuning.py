# SPDX-License-Identifier: GPL-2.0-or-later
"""Tuning: its optimum, its reproducibility, the recorded trials, and its report of the gain."""

from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.configuration.inputs import read_inputs
from ns3_env.agents.search.attributes import AttributesSubject, find_ends
from ns3_env.agents.search.config import Parameter
from ns3_env.agents.search.optimiser import Optimiser
from ns3_env.agents.search.plan import plan
from ns3_env.agents.search.subject import space_of, values_at
from ns3_env.agents.search.trials import Trial, TrialLog, compare_seeds, describe_gain
from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES
from tests.paths import ROOT


def test_the_trials_of_another_run_are_refused(tmp_path: Path) -> None:
    log = TrialLog(tmp_path / "trials.csv", ["A"])
    log.add(Trial(0, {"A": 1.0}, 0.5))
    again = TrialLog(tmp_path / "trials.csv", ["A"])
    assert again.score(0, {"A": 1.0}) == 0.5
    assert again.score(1, {"A": 1.0}) is None
    with pytest.raises(ValueError, match=r"A = 1\.0"):
        again.score(0, {"A": 2.0})
    with pytest.raises(ValueError, match="columns"):
        TrialLog(tmp_path / "trials.csv", ["B"])


BOWL = {
    "a": Parameter(low=0.01, high=100, log=True, start=0.02),
    "b": Parameter(low=-1, high=3, start=3),
    "n": Parameter(low=1, high=9, integer=True, start=9),
}


def searched(others: int) -> list[dict[str, int | float]]:
    """Settings that a search of a bowl evaluates while other code draws ``others`` random numbers."""
    search = Optimiser(space_of(BOWL), seed=3, population=8, step=0.3)
    points = []
    for _ in range(40):
        if search.ended:
            break
        np.random.rand(others)  # noqa: NPY002 other code shares NumPy's global generator
        candidates = [values_at(BOWL, point) for point in search.ask()]
        search.tell([-(np.log10(x["a"]) ** 2) - (x["b"] - 1) ** 2 - (x["n"] - 4) ** 2 for x in candidates])
        points += candidates
    return points


def test_the_search_finds_the_middle_of_a_bowl() -> None:
    points = searched(0)
    assert all(p.low <= x[name] <= p.high for x in points for name, p in BOWL.items())
    assert all(isinstance(x["n"], int) for x in points)
    assert points[-1]["a"] == pytest.approx(1, rel=0.3)
    assert points[-1]["b"] == pytest.approx(1, abs=0.2)
    assert points[-1]["n"] == 4


def test_a_search_told_the_same_asks_the_same_whatever_others_draw() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index,union-attr]  # noqa: NPY002
    assert searched(0) == searched(0)
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]  # noqa: NPY002
    assert searched(1) == searched(7) == searched(0)


@pytest.mark.parametrize(
    ("by_seed", "words"),
    [
        ([0.1, 0.2, 0.3], "a gain with every seed"),
        ([-0.1, 0.2, 0.3], "within the seeds' spread, no gain is shown"),
        ([0.0, 0.0], "within the seeds' spread"),
        ([-0.1, -0.2], "a loss with every seed"),
        ([0.3], "one seed says nothing"),
    ],
)
def test_a_gain_within_the_spread_is_called_that(by_seed: list[float], words: str) -> None:
    before = np.linspace(1.0, 2.0, len(by_seed))
    comparison = compare_seeds(before + by_seed, before)
    assert comparison["by_seed"] == pytest.approx(by_seed)
    assert words in describe_gain(comparison)


def test_a_setting_at_the_end_of_its_range_is_named() -> None:
    parameters = {"A": Parameter(low=0.01, high=100, log=True), "B": Parameter(low=0, high=1)}
    assert find_ends(parameters, {"A": 1.0, "B": 0.5}) == []
    (line,) = find_ends(parameters, {"A": 0.0101, "B": 0.5})
    assert "controller.parameters.A" in line


def test_the_shipped_configurations_are_sound() -> None:
    curriculum = ROOT / "curricula/incast_whole.yaml"
    mpcc = plan(read_inputs(ROOT / "configs/mpcc.yaml", curriculum), metrics=METRICS_OF_EPISODES)
    assert isinstance(mpcc.subject, AttributesSubject)
    assert mpcc.subject.parameters["WeightWindow"].start == 10
    # Zheng 2024, sec. 5.2.2: W_Q:W_R = 1:10.
    assert mpcc.subject.before[1].attributes == {"WeightQueue": 1.0, "WeightWindow": 10.0}
    dcqcn = plan(read_inputs(ROOT / "configs/dcqcn.yaml", curriculum))
    assert isinstance(dcqcn.subject, AttributesSubject)
    assert dcqcn.subject.parameters["IncreaseInterval"].start == 300_000
    assert dcqcn.subject.before[1].attributes == {}
