# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains a policy: ``train.py --config configs/fdcc.yaml --curriculum curricula/incast.yaml``.

A configuration says ``kind: train`` (an agent learns) or ``kind: search`` (attributes or weights).

Exit codes: 0 done; 2 a mistake in the input, named in one line; 130 interrupted, a checkpoint is saved.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ns3_env.agents.configuration.inputs import Inputs, read_inputs
from ns3_env.agents.configuration.registry import AGENTS
from ns3_env.config.command_line import AnyOrder, guarded, typed
from ns3_env.config.imports import trust
from ns3_env.errors import ConfigError
from ns3_env.eval.commands import options as shared
from ns3_env.eval.commands.options import check_json

#: ``pkg.module:name`` in what was typed.
_NAME_OF_CODE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command_line = AnyOrder(
        prog=typed("train"),
        parents=[shared.of_process()],
        description="Trains the configured policy, then compares it with the simulator's controllers.",
        epilog="key=value overrides the configuration: train.decisions=5000 agent.hidden=32 seed=3",
    )
    command_line.add_argument("--config", type=Path, help="configs/*.yaml")
    command_line.add_argument("--curriculum", type=Path, help="curricula/*.yaml")
    command_line.add_argument(
        "--algo",
        metavar="NAME",
        help=f"this agent instead of the configured one: {', '.join(AGENTS)}, or pkg.module:class, "
        "e.g. sb3_contrib:TQC",
    )
    command_line.add_argument("--resume", type=Path, metavar="RUN", help="go on with this run's folder")
    shared.add_runs(command_line)
    shared.add_json(command_line)
    command_line.add_argument("--no-evaluation", action="store_true", help="stop after training")
    shared.add_allow_imports(command_line)
    shared.add_plugin(command_line)
    command_line.add_argument(
        "overrides", nargs="*", metavar="key=value", help="override of the configuration"
    )
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = parser().parse_args(arguments)
    return guarded(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Trains or searches, as the options say."""
    check_json(options.json)
    more = [*options.overrides, options.algo or "", str(options.curriculum or "")]
    trust(name for text in more for name in _NAME_OF_CODE.findall(text))
    shared.set_process(options)
    # PyTorch takes seconds to import; mistakes on the command line are found before.
    inputs = read_inputs(options.config, options.curriculum, options.resume)
    return search(inputs, options) if inputs.kind == "search" else learn(inputs, options)


def learn(inputs: Inputs, options: argparse.Namespace) -> int:
    """An agent learns, and is compared."""
    from ns3_env.agents.training import run as training
    from ns3_env.eval import metrics

    plan = training.plan(inputs, options.overrides, options.algo)
    outcome = training.run(plan, options.runs, metrics.brief)
    _draw_learning(outcome.folder.path)
    if outcome.interrupted:
        return 130
    if not options.no_evaluation and plan.config.evaluation is not None:
        from ns3_env.eval.comparisons import compare as comparison

        comparison.after_training(plan.config, outcome.folder, options.json)
    return 0


def _draw_learning(run: Path) -> None:
    """learning.png in the run's folder, where there is something to draw, and something to draw it with."""
    from ns3_env.eval.comparisons.learning_curves import draw_learning

    with suppress(ConfigError, ImportError):  # nothing scored yet; no matplotlib
        draw_learning([run], run / "learning.png")


def search(inputs: Inputs, options: argparse.Namespace) -> int:
    """A controller's attributes, or a network's weights, are searched, and what is found is compared."""
    from ns3_env.agents.search.plan import plan as planned
    from ns3_env.agents.search.run import run as run_search
    from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES

    if options.algo is not None:
        raise ConfigError(f"{inputs.config_source}: kind: search: --algo is for a run of kind 'train'")
    plan = planned(inputs, options.overrides, METRICS_OF_EPISODES)
    outcome = run_search(plan, options.runs)
    if outcome.interrupted:
        return 130
    if not options.no_evaluation and plan.config.evaluation is not None:
        from ns3_env.eval.comparisons import compare_search as comparison

        comparison.after_search(plan, outcome.folder, options.json)
    return 0
