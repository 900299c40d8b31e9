# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's table of progress stores each number under its name."""

from __future__ import annotations

from pathlib import Path

from ns3_env.agents.training.progress import RunLogger
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
