# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a search's result with other controllers, on the same flows and on seeds never trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ns3_env.agents.configuration.inputs import make_scenario
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.search.objectives import Episode, Objective
from ns3_env.agents.search.plan import Plan
from ns3_env.agents.search.trials import compare_seeds, describe_gain
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.yardsticks import ROW
from ns3_env.eval.comparisons.compare import means, show_played, write_table
from ns3_env.eval.episodes.policy import Episode as Played
from ns3_env.eval.episodes.policy import begin_controllers, collected, seeds_of
from ns3_env.eval.metrics import mean, without_nan
from ns3_env.eval.output import table
from ns3_env.policies.released import CONSTANT_WINDOW
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.controllers import CONTROLLER_FILE
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.results import Floats


def after_search(plan: Plan, folder: RunFolder, json_file: Path | None = None) -> None:
    """Compares the run's last checkpoint: tables, the gain, the run's evaluation/ and ``json_file``.

    Raises:
        ConfigError: the configuration has no evaluation, or the run has no checkpoint.
        ScenarioError, SimulatorError: the simulator refuses a scenario, or failed.
    """
    config = plan.config
    if config.evaluation is None:
        raise ScenarioError(f"{folder.path / 'config.yaml'}: evaluation: missing")
    checkpoint = folder.latest_checkpoint()[0]
    controller = resolve(checkpoint).controller()
    after = plan.subject.label
    players = {after: controller}
    if plan.subject.before is not None:
        players |= dict([plan.subject.before])
    players |= {
        name: Controller(name=name) for name in config.evaluation.controllers if name != controller.name
    }
    source = f"{folder.path / 'config.yaml'}: evaluation"
    env = config.env.of_agent()
    table_scenario = make_scenario(env, config.evaluation.scenario, f"{source}.scenario")
    unseen = make_scenario(env, config.evaluation.returns or config.evaluation.scenario, f"{source}.returns")
    seeds = seeds_of(config.evaluation.seed, config.evaluation.episodes)
    places = plan.curriculum.examples()
    if all(scenario.transport == "rdma" for scenario in (table_scenario, unseen, *places.values())):
        players[ROW] = CONSTANT_WINDOW
    with LocalPool(config.env.simulators) as pool:
        episodes_by_name = collected(begin_controllers(pool, table_scenario, players, seeds))
        scores = _scores(pool, {**places, "unseen": unseen}, players, seeds, plan.objective)
    title = f"{table_scenario.flow_count} flows, {table_scenario.topology.kind}, unseen ({folder.path})"
    title += table_scenario.measured_text()
    show_played(title, episodes_by_name, folder, after, table_scenario.transport)
    table.print_table(_score_table(scores, plan.objective.heading))
    gains: dict[str, Any] = {}
    if plan.subject.before is not None:
        before = plan.subject.before[0]
        gains = {
            "stages, unseen seeds": compare_seeds(
                _over(scores[after], places), _over(scores[before], places)
            ),
            "unseen scenario": compare_seeds(scores[after]["unseen"], scores[before]["unseen"]),
        }
        _show_gains(gains, after, before, plan.objective.heading, episodes_by_name)
    file = folder.path / CONTROLLER_FILE
    print(f"found: {file if file.exists() else checkpoint}", *plan.subject.remarks(controller), sep="\n")
    content: dict[str, Any] = {
        name: {
            **without_nan(values),
            "reward": {
                place: [float(x) if np.isfinite(x) else None for x in rewards]
                for place, rewards in scores[name].items()
            },
        }
        for name, values in means(episodes_by_name, table_scenario.transport).items()
    }
    content[after]["attributes"], content[after]["gain"] = controller.attributes, gains
    write_table(folder, content, json_file)


def _show_gains(
    gains: Mapping[str, Any],
    after: str,
    before: str,
    heading: str,
    episodes_by_name: Mapping[str, list[Played]],
) -> None:
    """Prints the gain over the one before, and the effects that the objective does not cover."""
    seeds = len(next(iter(gains.values()))["by_seed"])
    print(f"gain of {after} over {before} in the {heading}, {seeds} seeds:")
    for name, gained in gains.items():
        print(f"  {name}: {describe_gain(gained)}")
    was, now = (mean([episode.metrics for episode in episodes_by_name[name]]) for name in (before, after))
    print(
        "  what this does not say: "
        f"slowdown {was['fct_slowdown_avg']:.2f} -> {now['fct_slowdown_avg']:.2f}, "
        f"goodput {was['goodput']:.3f} -> {now['goodput']:.3f} (first table)"
    )


def _scores(
    pool: LocalPool,
    places: Mapping[str, Scenario],
    players: Mapping[str, Controller],
    seeds: Sequence[int],
    objective: Objective,
) -> dict[str, dict[str, Floats]]:
    """Scores by controller and scenario, (seeds,) each."""
    waiting = {
        name: {
            place: [objective.begin(pool, Episode(place, scenario.with_seed(seed)), who) for seed in seeds]
            for place, scenario in places.items()
        }
        for name, who in players.items()
    }
    return {
        name: {place: np.array([f.result().score for f in futures]) for place, futures in by_place.items()}
        for name, by_place in waiting.items()
    }


def _over(scores: Mapping[str, Floats], places: Mapping[str, Scenario]) -> Floats:
    """Mean over these scenarios, seed by seed."""
    means: Floats = np.mean([scores[place] for place in places], axis=0)
    return means


def _score_table(scores: Mapping[str, Mapping[str, Floats]], heading: str) -> Table:
    """Mean score over seeds: a row for each scenario, a column for each controller."""
    score_table = table.new_table(f"{heading}; mean over seeds", "scenario", scores, (0, 1, 0, 0))
    for place in next(iter(scores.values())):
        means = (float(by_place[place].mean()) for by_place in scores.values())
        score_table.add_row(place, *(table.cell(value, ".4f") for value in means))
    return score_table
