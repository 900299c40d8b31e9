# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a policy trained? ``train.py --config configs/fdcc.yaml --curriculum curricula/incast.yaml``.

With ``configs/mpcc.yaml`` a controller inside the simulator is tuned on the same curriculum.

Exit codes: 0 done; 2 a mistake in the input, named in one line; 130 interrupted, a checkpoint is saved.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ns3_env.exit_codes import guarded
from ns3_env.yaml_files import read_mapping


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="train.py",
        description="Trains the configured policy, then compares it with the simulator's controllers.",
        epilog="key=value overrides the configuration: train.decisions=5000 agent.hidden=32 seed=3",
    )
    made.add_argument("--config", type=Path, help="configs/*.yaml")
    made.add_argument("--curriculum", type=Path, help="curricula/*.yaml")
    made.add_argument(
        "--algo", choices=("fdcc", "td3", "sac", "ppo"), help="this agent instead of the configured one"
    )
    made.add_argument("--resume", type=Path, metavar="RUN", help="go on with this run's folder")
    made.add_argument(
        "--runs", type=Path, default=Path("runs"), help="where run folders are made (default: runs)"
    )
    made.add_argument("--json", type=Path, metavar="FILE", help="write the table's numbers to this file too")
    made.add_argument("--no-evaluation", action="store_true", help="stop after training")
    made.add_argument("overrides", nargs="*", metavar="key=value", help="override of the configuration")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = parser().parse_args(arguments)
    return guarded(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the options ask for."""
    # PyTorch takes seconds to import; mistakes on the command line are found before.
    from agents.search import config as tuning_config
    from agents.search import run as mpcc_tuning
    from agents.training import run as training
    from eval import metrics

    if options.algo is None and tuning_config.is_tuning(_configuration(options)):
        from eval.comparison import search as tuned

        tuning = mpcc_tuning.plan(options.config, options.curriculum, options.overrides, options.resume)
        outcome = mpcc_tuning.run(tuning, options.runs, tuned.score(tuning.config))
        if not outcome.interrupted and not options.no_evaluation and tuning.config.evaluation is not None:
            tuned.after_tuning(tuning, outcome.folder, options.json)
        return 130 if outcome.interrupted else 0
    plan = training.plan(options.config, options.curriculum, options.overrides, options.algo, options.resume)
    outcome = training.run(plan, options.runs, metrics.brief)
    if outcome.interrupted:
        return 130
    if not options.no_evaluation and plan.config.evaluation is not None:
        from eval.comparison import training as comparison

        comparison.after_training(plan.config, outcome.folder, options.json)
    return 0


def _configuration(options: argparse.Namespace) -> dict[str, Any]:
    """The data that a new run, or one that goes on, is configured with; none where there is no such file."""
    path = options.config if options.resume is None else options.resume / "config.yaml"
    return read_mapping(path) if path is not None and path.exists() else {}


if __name__ == "__main__":
    sys.exit(main())
