# SPDX-License-Identifier: GPL-2.0-or-later
"""What has a finished run brought? Its last checkpoint compared again, whatever kind of run it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.training.config import RunConfig
from agents.training.inputs import read_inputs
from agents.training.run_folder import RunFolder
from eval.comparison.training import after_training
from ns3_env.strict import validate


def evaluate(run: Path, overrides: Sequence[str], json_file: Path | None = None) -> None:
    """Compares a finished run's last checkpoint again. Raises ConfigError."""
    inputs = read_inputs(None, None, run)
    if inputs.kind == "tune":
        from agents.search import run as search
        from eval.comparison import search as tuned

        tuned.after_tuning(search.plan(inputs, overrides), RunFolder(run), json_file)
        return
    inputs = inputs.with_overrides(overrides)
    after_training(validate(inputs.config, RunConfig, inputs.config_source), RunFolder(run), json_file)
