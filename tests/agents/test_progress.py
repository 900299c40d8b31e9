# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's log: its columns, and shares of the time in it."""

from pathlib import Path

import pytest
from stable_baselines3.common.logger import Logger

from ns3_env.agents.training.progress import LEARNING, SIMULATING, RunLogger, Stopwatch
from ns3_env.eval.comparisons.learning_curves import read_progress


def test_names_with_commas_leave_each_number_in_its_column(tmp_path: Path) -> None:
    logger = RunLogger(tmp_path)
    for done in (1, 2):
        logger.record("validation/8-to-1, 2 MB", 0.5)
        logger.record("time/total_timesteps", done)
        logger.record("validation/score", -1.0)
        logger.dump(done)
    logger.close()
    expected = {"validation/8-to-1; 2 MB": 0.5, "validation/score": -1.0}
    assert read_progress(tmp_path) == [{**expected, "time/total_timesteps": done} for done in (1.0, 2.0)]


class Clock:
    """A clock that the test advances."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_shares_are_of_the_time_since_the_last_report() -> None:
    clock, logger = Clock(), Logger(None, [])
    watch = Stopwatch(clock)
    with watch.measuring(SIMULATING):
        clock.now += 1.0
    clock.now += 4.0  # nothing that is measured
    for seconds in (2.0, 3.0):
        with watch.measuring(LEARNING):
            clock.now += seconds
    watch.made_gradient_steps(30)
    watch.report(logger)
    shares = {
        "simulating": 0.1,
        "storing": 0.0,
        "learning": 0.5,
        "validating": 0.0,
        "gradient_steps_per_s": 6.0,
    }
    assert logger.name_to_value == pytest.approx({f"time/{what}": share for what, share in shares.items()})
    with watch.measuring(SIMULATING):
        clock.now += 3.0
    clock.now += 1.0
    watch.report(logger)
    assert logger.name_to_value["time/simulating"] == pytest.approx(0.75)
    assert logger.name_to_value["time/learning"] == 0.0


def test_rows_behind_the_checkpoint_that_a_run_went_on_from_are_left_out(tmp_path: Path) -> None:
    for name, steps in (("progress.csv", (10, 20, 30)), ("progress-20.csv", (25, 40))):
        (tmp_path / name).write_text("\n".join(["time/total_timesteps", *map(str, steps), ""]))
    assert [row["time/total_timesteps"] for row in read_progress(tmp_path)] == [10, 20, 25, 40]
