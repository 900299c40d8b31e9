# SPDX-License-Identifier: GPL-2.0-or-later
"""Gain of training: trained against untrained and random policies, over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ns3_env.agents.baselines.constant import RandomPolicy
from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.inputs import make_scenario, read_inputs
from ns3_env.agents.training.checkpoint import load_policy
from ns3_env.errors import ConfigError
from ns3_env.eval.comparisons.compare import evaluation_scenario
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.eval.output import table

#: Training runs that are compared.
MAX_SEEDS = 1000


def gain(
    config: Path,
    curriculum: Path,
    overrides: Sequence[str],
    seeds: Sequence[int],
    runs: Path,
    json_file: Path | None = None,
    console: Console | None = None,
) -> bool:
    """Trains with several seeds and compares mean returns: trained, untrained, random actions.

    Prints one row per seed; the margin is the least trained return less the largest of the others, and has
    to exceed the spread (largest less least) of the trained returns.

    Returns:
        Whether it does.

    Raises:
        ConfigError: the number of seeds is none, or a file is wrong.
    """
    from ns3_env.agents.training import run as training

    if len(seeds) > MAX_SEEDS:
        raise ConfigError(f"--seeds: {len(seeds)} of them: each is a training run; at most {MAX_SEEDS}")
    inputs = read_inputs(config, curriculum)
    if inputs.kind != "train":
        raise ConfigError(f"{config}: kind: what is tuned does not learn; train.py says what it gains")
    rows: list[dict[str, float]] = []
    for seed in seeds:
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
    for seed, row in zip(seeds, rows, strict=True):
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
