# SPDX-License-Identifier: GPL-2.0-or-later
"""Who wins on an unseen incast? Trained, untrained and random agents, and the simulator's controllers."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.baselines import RandomPolicy
from agents.training.checkpoint import load_policy
from agents.training.config import RunConfig
from agents.training.environment import make_scenario
from agents.training.inputs import read_inputs
from agents.training.run_folder import RunFolder
from eval.comparison.figure import draw_comparison
from eval.metrics import mean, without_nan
from eval.play.policy import Episode, run_controller, run_policy, summary
from eval.show import table
from ns3_env.errors import ConfigError
from ns3_env.scenario import Scenario
from ns3_env.strict import validate


def evaluation_scenario(config: RunConfig, source: str) -> Scenario:
    """The scenario that is compared on. Raises ConfigError, ScenarioError."""
    if config.evaluation is None:
        raise ConfigError(f"{source}: evaluation: missing")
    return make_scenario(config.env, config.evaluation.scenario, f"{source}: evaluation.scenario")


def compare(config: RunConfig, checkpoint: Path, source: str) -> dict[str, list[Episode]]:
    """Episodes of the checkpoint's policy and of each configured controller, on the same flows."""
    scenario = evaluation_scenario(config, source)
    assert config.evaluation is not None
    seed, episodes = config.evaluation.seed, config.evaluation.episodes
    played: dict[str, list[Episode]] = {}
    played[config.agent.name] = run_policy(load_policy(checkpoint), config.env, scenario, seed, episodes)
    for name in config.evaluation.controllers:
        played[name] = run_controller(name, scenario, seed, episodes)
    return played


def as_json(played: Mapping[str, Sequence[Episode]]) -> dict[str, Any]:
    """The table's numbers, and the returns."""
    return {
        name: {**without_nan(mean([episode.metrics for episode in episodes])), **summary(episodes)}
        for name, episodes in played.items()
    }


def after_training(config: RunConfig, folder: RunFolder, json_file: Path | None = None) -> None:
    """Compares the run's last checkpoint: the table, the run's evaluation/ and ``json_file``."""
    checkpoint, _ = folder.latest_checkpoint()
    played = compare(config, checkpoint, str(folder.path / "config.yaml"))
    scenario = evaluation_scenario(config, "")
    title = f"{scenario.agent_flow_count} flows, {scenario.topology.kind}, unseen ({folder.path})"
    show_played(title, played, folder)
    content = as_json(played)
    table.write_json(folder.path / "evaluation" / "table.json", content)
    if json_file is not None:
        table.write_json(json_file, content)


def show_played(title: str, played: Mapping[str, Sequence[Episode]], folder: RunFolder) -> None:
    """The table; the run's evaluation/ gets every controller's episodes and the figure."""
    table.show(title, {name: mean([e.metrics for e in episodes]) for name, episodes in played.items()})
    target = folder.path / "evaluation"
    target.mkdir(exist_ok=True)
    for name, episodes in played.items():
        write_episodes(target, name, episodes)
    print(f"figure: {draw_comparison(target)}")


def write_episodes(folder: Path, name: str, episodes: Sequence[Episode]) -> None:
    """NAME.flows.csv (a row per flow) and NAME.queues.json (per port), to draw figures from again."""
    with (folder / f"{name}.flows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        columns = list(episodes[0].results["flows"])
        writer.writerow(["episode", "seed", *columns])
        for number, episode in enumerate(episodes):
            flows = episode.results["flows"]
            writer.writerows(
                [number, episode.seed, *row]
                for row in zip(*(flows[column] for column in columns), strict=True)
            )
    queues = [
        {"seed": episode.seed, "queues": episode.results["queues"], "totals": episode.results["totals"]}
        for episode in episodes
    ]
    (folder / f"{name}.queues.json").write_text(json.dumps(queues), encoding="utf-8")


def gain(
    config: Path,
    curriculum: Path,
    overrides: Sequence[str],
    seeds: int,
    runs: Path,
    json_file: Path | None = None,
    console: Console | None = None,
) -> bool:
    """Trains with several seeds and compares mean returns: trained, untrained, random actions.

    Prints one row per seed; the margin is the least trained return less the largest of the others, and has
    to exceed the spread (largest less least) of the trained returns.

    Returns:
        Whether it does.
    """
    from agents.training import run as training

    inputs = read_inputs(config, curriculum)
    if inputs.kind != "train":
        raise ConfigError(f"{config}: kind: what is tuned does not learn; train.py says what it gains")
    rows: list[dict[str, float]] = []
    for seed in range(1, seeds + 1):
        plan = training.plan(inputs, [*overrides, f"seed={seed}", "train.keep_checkpoints=1000"])
        outcome = training.run(plan, runs)
        if outcome.interrupted:
            raise KeyboardInterrupt
        checkpoints = sorted(outcome.folder.checkpoints.iterdir())
        rows.append(returns_of(plan.config, checkpoints[0], checkpoints[-1], str(config)))
    console = console or Console()
    shown = Table(title="mean return over the evaluation episodes", title_justify="left")
    shown.add_column("seed", justify="right")
    for kind in ("trained", "untrained", "random"):
        shown.add_column(f"{kind}\n(per decision)", justify="right")
    for seed, row in enumerate(rows, start=1):
        shown.add_row(
            str(seed),
            *(
                f"{row[kind]:.1f}\n({row[f'{kind}_reward']:.3f})"
                for kind in ("trained", "untrained", "random")
            ),
        )
    trained = [row["trained"] for row in rows]
    others = [row[kind] for row in rows for kind in ("untrained", "random")]
    spread, margin = max(trained) - min(trained), float(np.mean(trained)) - max(others)
    console.print(shown)
    console.print(
        f"margin over the best untrained or random: {margin:.1f}; spread of the trained: {spread:.1f}"
    )
    if json_file is not None:
        table.write_json(
            json_file, {"seeds": rows, "margin": margin, "spread": spread, "passed": margin > spread}
        )
    return margin > spread


def returns_of(config: RunConfig, untrained: Path, trained: Path, source: str) -> dict[str, float]:
    """Mean returns (KIND) and rewards of a decision (KIND_reward) of two checkpoints and of random actions.

    The sum over a flow's life favours a flow that starves: it lives long and decides often. Returns are
    therefore compared on ``evaluation.returns``, flows that are cut before they could end.
    """
    scenario = evaluation_scenario(config, source)
    assert config.evaluation is not None
    if config.evaluation.returns is not None:
        scenario = make_scenario(config.env, config.evaluation.returns, f"{source}: evaluation.returns")
    policies = {
        "trained": load_policy(trained),
        "untrained": load_policy(untrained),
        "random": RandomPolicy(config.env.fields, config.env.action.name, config.seed),
    }
    row: dict[str, float] = {}
    for kind, policy in policies.items():
        played = run_policy(policy, config.env, scenario, config.evaluation.seed, config.evaluation.episodes)
        row[kind] = float(np.mean([episode.mean_return for episode in played]))
        row[f"{kind}_reward"] = float(np.mean([episode.mean_reward for episode in played]))
    return row


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
