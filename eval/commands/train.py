# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains policies: ``train.py --config configs/fdcc.yaml --curriculum curricula/incast.yaml``.

Several ``--config`` are trained in turn and compared in one table.

A configuration has ``kind: train`` (an agent learns) or ``kind: search`` (attributes or weights).

Exit codes: 0 done; 2 a mistake in the input, named in one line; 130 interrupted, a checkpoint is saved.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ns3_env.agents.configuration.registry import AGENTS
from ns3_env.agents.configuration.run_folder import Outcome, RunFolder
from ns3_env.config.command_line import AnyOrder, guarded, typed
from ns3_env.config.folders import find_file
from ns3_env.config.imports import trust_named_in
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ConfigError
from ns3_env.eval.commands import options as shared
from ns3_env.eval.commands.options import check_json

if TYPE_CHECKING:
    from ns3_env.agents.configuration.inputs import Inputs


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command_line = AnyOrder(
        prog=typed("train"),
        parents=[shared.of_process()],
        description="Trains the configured policy, then compares it with the simulator's controllers.",
        epilog="key=value overrides the configuration: train.decisions=5000 agent.hidden=32 seed=3",
    )
    several: dict[str, Any] = {"type": Path, "action": "append", "default": []}
    command_line.add_argument(
        "--config",
        **several,
        help="configs/*.yaml; several are trained in turn, and compared on incasts that none has seen",
    )
    command_line.add_argument(
        "--curriculum",
        **several,
        help="curricula/*.yaml; of several --config one each (default: incast, of searches incast_whole)",
    )
    command_line.add_argument(
        "--algo",
        metavar="NAME",
        help=f"this agent instead of the configured one: {', '.join(AGENTS)}, or pkg.module:class, "
        "e.g. sb3_contrib:TQC",
    )
    command_line.add_argument("--resume", **several, metavar="RUN", help="continue this run's folder")
    shared.add(command_line, "--runs", "--json")
    command_line.add_argument("--no-evaluation", action="store_true", help="stop after training")
    shared.add(command_line, "--allow-imports", "--plugin")
    command_line.add_argument(
        "overrides", nargs="*", metavar="key=value", help="override of the configuration"
    )
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = parser().parse_args(arguments)
    return guarded(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Trains or searches, as the options specify, and compares; several runs are done in sequence."""
    from ns3_env.agents.configuration.inputs import read_inputs

    check_json(options.json)
    trust_named_in([options.algo or "", *map(str, options.curriculum)])
    shared.set_process(options)
    sources = sources_of(options)
    # PyTorch's import needs seconds; mistakes on the command line are reported before.
    inputs = [read_inputs(*source) for source in sources]
    jobs = [(_Search if one.kind == "search" else _Learning)(one, options) for one in inputs]
    if len(jobs) > 1:
        return _several(jobs, sources, options)
    outcome = jobs[0].run(options.runs)
    if outcome.interrupted:
        return 130
    if not options.no_evaluation:
        jobs[0].compare(outcome.folder, options.json)
    return 0


class _Learning:
    """A run of an agent that learns.

    Attributes:
        name: name of the run in tables.
    """

    def __init__(self, inputs: Inputs, options: argparse.Namespace) -> None:
        """Checks all that the run needs. Raises ConfigError, ScenarioError."""
        from ns3_env.agents.training import run as training

        self._plan = training.plan(inputs, options.overrides, options.algo)
        self.name = self._plan.config.name

    def run(self, parent: Path) -> Outcome:
        """Trains, in a new folder of ``parent`` or in that of a resumed run."""
        from ns3_env.agents.training import run as training
        from ns3_env.eval import metrics
        from ns3_env.eval.comparisons.learning_curves import draw_learning

        outcome = training.run(self._plan, parent, metrics.brief)
        run = outcome.folder.path
        with suppress(ConfigError, ImportError):  # nothing scored yet; no matplotlib
            print(f"learning: {draw_learning([run], run / 'learning.png')}", flush=True)
        return outcome

    def compare(self, folder: RunFolder, json_file: Path | None) -> None:
        """Shows the table of the configuration's evaluation, if it has one."""
        if self._plan.config.evaluation is not None:
            from ns3_env.eval.comparisons import compare as comparison

            comparison.after_training(self._plan.config, folder, json_file)


class _Search:
    """A run that searches a controller's attributes, or a network's weights; see ``_Learning``."""

    def __init__(self, inputs: Inputs, options: argparse.Namespace) -> None:
        from ns3_env.agents.search.plan import plan as planned
        from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES

        if options.algo is not None:
            raise ConfigError(f"{inputs.config_source}: kind: search: --algo is for a run of kind 'train'")
        self._plan = planned(inputs, options.overrides, METRICS_OF_EPISODES)
        self.name = self._plan.subject.label

    def run(self, parent: Path) -> Outcome:
        from ns3_env.agents.search.run import run as run_search

        return run_search(self._plan, parent)

    def compare(self, folder: RunFolder, json_file: Path | None) -> None:
        if self._plan.config.evaluation is not None:
            from ns3_env.eval.comparisons import compare_search as comparison

            comparison.after_search(self._plan, folder, json_file)


#: Configuration, curriculum, and folder of a resumed run: the arguments of ``read_inputs``.
_Source = tuple[Path | None, Path | None, Path | None]
#: Error about a search among several runs.
_WHY = (
    "a search is judged by slowdowns: its stages are 2- to 32-to-1 as those of curricula/incast.yaml, but of "
    "flows that end, where those are cut"
)
#: Default curricula of several runs, by kind.
_CURRICULA = {"train": Path("curricula/incast.yaml"), "search": Path("curricula/incast_whole.yaml")}


def sources_of(options: argparse.Namespace) -> list[_Source]:
    """Returns the sources of each run, resumed runs first. Raises ConfigError."""
    configs, curricula, resumed = options.config, options.curriculum, options.resume
    if len(configs) + len(resumed) < 2:
        config, curriculum, run = ((paths or [None])[-1] for paths in (configs, curricula, resumed))
        return [(config, curriculum, run)]
    if options.algo is not None or options.json is not None:
        raise ConfigError("command line: --algo and --json are of one run, and there are several")
    if not curricula:
        kinds = [read_mapping(find_file(config, "configs")).get("kind", "train") for config in configs]
        curricula = [_CURRICULA.get(kind, _CURRICULA["train"]) for kind in kinds]
    if len(curricula) != len(configs):
        raise ConfigError(
            "command line: of several --config each has its --curriculum, in order, or none has"
        )
    pairs = zip(configs, curricula, strict=True)
    return [*((None, None, run) for run in resumed), *((*pair, None) for pair in pairs)]


def _several(
    jobs: Sequence[_Learning | _Search], sources: Sequence[_Source], options: argparse.Namespace
) -> int:
    """Trains one after the other, and compares all on the same incasts.

    Ctrl-C keeps the completed work, and prints the command that resumes it.
    """
    from ns3_env.eval.comparisons.trained import compare_trained, refuse_names, show_next

    refuse_names([job.name for job in jobs])
    runs: dict[str, Path] = {}
    interrupted = False
    try:
        for job, (config, curriculum, resumed) in zip(jobs, sources, strict=True):
            print(f"run {len(runs) + 1} of {len(jobs)}: {resumed or f'{config} on {curriculum}'}", flush=True)
            if curriculum == _CURRICULA["search"]:
                print(_WHY, flush=True)
            outcome = job.run(options.runs)
            runs[job.name] = outcome.folder.path
            if interrupted := outcome.interrupted:
                return 130
        if options.no_evaluation:
            return 0
        untrained = {f"{name}-untrained": RunFolder(run).untrained_policy for name, run in runs.items()}
        there = {name: file for name, file in untrained.items() if file.exists()}
        done = compare_trained({**runs, **there}, next(iter(runs.values())) / "comparison")
        show_next(runs)
        return 0 if done else 1
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        if interrupted:
            left = [
                f"--config {config} --curriculum {curriculum}"
                for config, curriculum, _ in sources[len(runs) :]
            ]
            again = " ".join([typed("train"), *(f"--resume {run}" for run in runs.values()), *left])
            print(f"all of them go on with: {again}", file=sys.stderr, flush=True)
