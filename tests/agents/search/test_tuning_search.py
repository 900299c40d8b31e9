# SPDX-License-Identifier: GPL-2.0-or-later
"""The search of a tuning: its optimum, its reproducibility, and the trials that it keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.search.attributes import space_of, values_at
from ns3_env.agents.search.config import Parameter
from ns3_env.agents.search.optimiser import Optimiser
from ns3_env.agents.search.trials import Trial, TrialLog


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
    """Every setting that a search for the middle of a bowl asks while others draw ``others`` numbers."""
    search = Optimiser(space_of(BOWL), seed=3, population=8, step=0.3)
    found = []
    for _ in range(40):
        if search.ended:
            break
        np.random.rand(others)  # noqa: NPY002 others share NumPy's global generator
        asked = [values_at(BOWL, point) for point in search.ask()]
        search.tell([-(np.log10(x["a"]) ** 2) - (x["b"] - 1) ** 2 - (x["n"] - 4) ** 2 for x in asked])
        found += asked
    return found


def test_the_search_finds_the_middle_of_a_bowl() -> None:
    asked = searched(0)
    assert all(p.low <= x[name] <= p.high for x in asked for name, p in BOWL.items())
    assert all(isinstance(x["n"], int) for x in asked)
    assert asked[-1]["a"] == pytest.approx(1, rel=0.3)
    assert asked[-1]["b"] == pytest.approx(1, abs=0.2)
    assert asked[-1]["n"] == 4


def test_a_search_told_the_same_asks_the_same_whatever_others_draw() -> None:
    before = np.random.get_state()[1].copy()  # type: ignore[index,union-attr]  # noqa: NPY002
    assert searched(0) == searched(0)
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]  # noqa: NPY002
    assert searched(1) == searched(7) == searched(0)
