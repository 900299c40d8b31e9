# SPDX-License-Identifier: GPL-2.0-or-later
"""What does tuning a controller gain? The same flows under it, tuned and not, on seeds never tuned on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich import box
from rich.console import Console
from rich.table import Table

from agents.search.gain import compare_seeds, describe_gain, find_ends
from agents.search.objective import make_score, with_recordings
from agents.search.run import Plan
from agents.training.checkpoint import load_controller
from agents.training.environment import make_scenario
from agents.training.run_folder import RunFolder
from eval.comparison.episodes import show_played
from eval.metrics import mean, without_nan
from eval.play.policy import Episode
from eval.show import table
from ns3_env.episode_pool import Players
from ns3_env.errors import ScenarioError
from ns3_env.results import Floats
from ns3_env.scenario import Controller, Scenario
from ns3_env.vec_env import episode_seed


def after_tuning(plan: Plan, folder: RunFolder, json_file: Path | None = None) -> None:
    """Compares the run's last checkpoint: tables, the gain, the run's evaluation/ and ``json_file``.

    Raises:
        ConfigError: the configuration has no evaluation, or there is no checkpoint.
        ScenarioError, SimulatorError: the simulator refuses a scenario, or failed.
    """
    config = plan.config
    if config.evaluation is None:
        raise ScenarioError(f"{folder.path / 'config.yaml'}: evaluation: missing")
    checkpoint = folder.latest_checkpoint()[0]
    tuned = load_controller(checkpoint)
    after, before = f"{tuned.name}-tuned", f"{tuned.name}-untuned"
    players = {after: tuned, before: Controller(name=tuned.name, attributes=config.controller.untuned)}
    players |= {name: Controller(name=name) for name in config.evaluation.controllers if name != tuned.name}
    source = f"{folder.path / 'config.yaml'}: evaluation"
    env = config.env.of_agent()
    shown = make_scenario(env, config.evaluation.scenario, f"{source}.scenario")
    unseen = make_scenario(env, config.evaluation.returns or config.evaluation.scenario, f"{source}.returns")
    seeds = [episode_seed(config.evaluation.seed, i) for i in range(config.evaluation.episodes)]
    places = {
        stage.name: scenario
        for stage, scenario in zip(plan.curriculum.config.stages, plan.curriculum.scenarios, strict=True)
    }
    with Players(config.env.simulators, hang_timeout_s=config.env.hang_timeout_s) as pool:
        played = _play(pool, shown, players, seeds)
        rewards = _rewards(pool, {**places, "unseen": unseen}, players, seeds, make_score(config.env))
    title = f"{shown.agent_flow_count} flows, {shown.topology.kind}, unseen ({folder.path})"
    show_played(title, played, folder)
    Console().print(_reward_table(rewards))
    gains = {
        "stages, unseen seeds": compare_seeds(_over(rewards[after], places), _over(rewards[before], places)),
        "unseen scenario": compare_seeds(rewards[after]["unseen"], rewards[before]["unseen"]),
    }
    print(f"gain of {after} over {before} in the reward of a decision, {len(seeds)} seeds:")
    for name, found in gains.items():
        print(f"  {name}: {describe_gain(found)}")
    was, now = (mean([episode.metrics for episode in played[name]]) for name in (before, after))
    print(
        "  what the reward does not say: "
        f"slowdown {was['fct_slowdown_avg']:.2f} -> {now['fct_slowdown_avg']:.2f}, "
        f"goodput {was['goodput']:.3f} -> {now['goodput']:.3f} (first table)"
    )
    for line in find_ends(config.controller.parameters, tuned.attributes):
        print(line)
    print(f"tuned, to put into a scenario ({checkpoint}):\n{_as_yaml(tuned)}", end="")
    content: dict[str, Any] = {
        name: {
            **without_nan(mean([episode.metrics for episode in episodes])),
            "reward": {place: _finite(values) for place, values in rewards[name].items()},
        }
        for name, episodes in played.items()
    }
    content[after]["attributes"], content[after]["gain"] = tuned.attributes, gains
    table.write_json(folder.path / "evaluation" / "table.json", content)
    if json_file is not None:
        table.write_json(json_file, content)


def _play(
    pool: Players, scenario: Scenario, players: Mapping[str, Controller], seeds: Sequence[int]
) -> dict[str, list[Episode]]:
    """Episodes of every controller, one for each seed."""

    def begin(controller: Controller, seed: int) -> Future[dict[str, Any]]:
        own = scenario.under(controller.name, controller.attributes)
        return pool.submit(own.with_seed(seed), lambda results: results)

    waiting = {name: [begin(controller, seed) for seed in seeds] for name, controller in players.items()}
    return {
        name: [Episode(seed, future.result()) for seed, future in zip(seeds, futures, strict=True)]
        for name, futures in waiting.items()
    }


def _rewards(
    pool: Players,
    places: Mapping[str, Scenario],
    players: Mapping[str, Controller],
    seeds: Sequence[int],
    judge: Callable[[Mapping[str, Any]], float],
) -> dict[str, dict[str, Floats]]:
    """Reward of a decision by controller and scenario, (seeds,) each."""
    waiting = {
        name: {
            place: [pool.submit(with_recordings(scenario, who, seed), judge) for seed in seeds]
            for place, scenario in places.items()
        }
        for name, who in players.items()
    }
    return {
        name: {place: np.array([f.result() for f in futures]) for place, futures in by_place.items()}
        for name, by_place in waiting.items()
    }


def _over(rewards: Mapping[str, Floats], places: Mapping[str, Scenario]) -> Floats:
    """Mean over these scenarios, seed by seed."""
    means: Floats = np.mean([rewards[place] for place in places], axis=0)
    return means


def _as_yaml(controller: Controller) -> str:
    """What to put into a scenario."""
    return yaml.safe_dump({"controllers": [controller.model_dump()]}, sort_keys=False)


def _finite(values: Floats) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]


def _reward_table(rewards: Mapping[str, Mapping[str, Floats]]) -> Table:
    """Mean reward over seeds: a row for each controller, a column for each scenario."""
    places = list(next(iter(rewards.values())))
    shown = Table(
        title="reward of a decision, mean over seeds",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    shown.add_column("controller", no_wrap=True)
    for place in places:
        shown.add_column(place, justify="right")
    for name, by_place in rewards.items():
        shown.add_row(name, *(table.cell(float(by_place[place].mean()), ".4f") for place in places))
    return shown
