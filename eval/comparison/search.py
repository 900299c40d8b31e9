# SPDX-License-Identifier: GPL-2.0-or-later
"""What does tuning MPCC gain over the thesis's 1:10? The same flows under both, on seeds never tuned on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console
from rich.table import Table

from agents.search.config import Attributes, Parameter, TuningConfig
from agents.search.objective import recorded_reward
from agents.search.optimiser import coordinate
from agents.search.run import Plan, Score, recorded
from agents.training.environment import action_and_reward, agent_scenario
from agents.training.run_folder import RunFolder
from agents.training.tuned import read_tuned
from eval.comparison.training import show_played
from eval.metrics import mean, without_nan
from eval.play.policy import Episode
from eval.show import table
from ns3_env.episode_pool import Players
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Controller, Scenario
from ns3_env.vec_env import episode_seed

Floats = npt.NDArray[np.float64]

#: Rows of the tables: the run's own, and the thesis's W_Q:W_R = 1:10.
TUNED, THESIS = "mpcc-tuned", "mpcc-1-10"
#: A setting within this share of its range's width is at its end.
_END = 0.02


def score(config: TuningConfig) -> Score:
    """What an episode is worth: the reward of a decision, as recorded. Raises ConfigError."""
    _, reward = action_and_reward(config.env.of_agent(), "configuration")
    return lambda results: recorded_reward(results, reward, config.env.clock.rtt_fraction)


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
    tuned = read_tuned(checkpoint)
    if tuned is None:
        raise ScenarioError(f"{checkpoint}: holds no tuned controller")
    players: dict[str, Controller] = {
        TUNED: Controller(name=tuned.controller, attributes=tuned.attributes),
        THESIS: Controller(name=config.agent.name, attributes=config.thesis()),
    }
    players |= {name: Controller(name=name) for name in config.evaluation.controllers if name != "mpcc"}
    source = f"{folder.path / 'config.yaml'}: evaluation"
    env = config.env.of_agent()
    shown = agent_scenario(env, config.evaluation.scenario, f"{source}.scenario")
    unseen = agent_scenario(env, config.evaluation.returns or config.evaluation.scenario, f"{source}.returns")
    seeds = [episode_seed(config.evaluation.seed, i) for i in range(config.evaluation.episodes)]
    places = {
        stage.name: scenario
        for stage, scenario in zip(plan.curriculum.config.stages, plan.curriculum.scenarios, strict=True)
    }
    with Players(config.env.simulators) as pool:
        played = _play(pool, shown, players, seeds)
        rewards = _rewards(pool, {**places, "unseen": unseen}, players, seeds, score(config))
    title = f"{shown.agent_flow_count} flows, {shown.topology.kind}, unseen ({folder.path})"
    show_played(title, played, folder)
    Console().print(_reward_table(rewards))
    gains = {
        "stages, unseen seeds": gain(_over(rewards[TUNED], places), _over(rewards[THESIS], places)),
        "unseen scenario": gain(rewards[TUNED]["unseen"], rewards[THESIS]["unseen"]),
    }
    print(f"gain of {TUNED} over {THESIS} in the reward of a decision, {len(seeds)} seeds:")
    for name, found in gains.items():
        print(f"  {name}: {sentence(found)}")
    was, now = (mean([episode.metrics for episode in played[name]]) for name in (THESIS, TUNED))
    print(
        "  what the reward does not say: "
        f"slowdown {was['fct_slowdown_avg']:.2f} -> {now['fct_slowdown_avg']:.2f}, "
        f"goodput {was['goodput']:.3f} -> {now['goodput']:.3f} (first table)"
    )
    for line in at_an_end(config.agent.parameters, tuned.attributes):
        print(line)
    print(f"tuned, to put into a scenario ({checkpoint}):\n{tuned.as_yaml()}", end="")
    content: dict[str, Any] = {
        name: {
            **without_nan(mean([episode.metrics for episode in episodes])),
            "reward": {place: _finite(values) for place, values in rewards[name].items()},
        }
        for name, episodes in played.items()
    }
    content[TUNED]["attributes"], content[TUNED]["gain"] = tuned.attributes, gains
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
            place: [
                pool.submit(recorded(scenario, who.name, dict(who.attributes), seed), judge) for seed in seeds
            ]
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


def gain(tuned: Floats, before: Floats) -> dict[str, Any]:
    """What was gained, seed by seed on the same flows; ``certain``: all seeds say the same, and are several.

    Args:
        tuned: rewards (seeds,).
        before: rewards (seeds,) of the same seeds.
    """
    by_seed = tuned - before
    return {
        "mean": float(by_seed.mean()),
        "share": float(by_seed.mean() / abs(before.mean())) if before.mean() else None,
        "by_seed": [float(x) for x in by_seed],
        "seeds_spread_before": float(before.max() - before.min()),
        "certain": bool(len(by_seed) > 1 and (by_seed.min() > 0 or by_seed.max() < 0)),
    }


def sentence(found: Mapping[str, Any]) -> str:
    """The gain in words, and plainly whether it is one."""
    by_seed, share = found["by_seed"], found["share"]
    percent = "" if share is None else f" ({100 * share:+.2f} %)"
    text = f"{found['mean']:+.4f}{percent}"
    if len(by_seed) < 2:
        return f"{text}; one seed says nothing of the spread: evaluation.episodes=5"
    text += f", by seed from {min(by_seed):+.4f} to {max(by_seed):+.4f}"
    if not found["certain"]:
        return f"{text}: within the seeds' spread, no gain is shown"
    return f"{text}: {'a gain' if found['mean'] > 0 else 'a loss'} with every seed"


def at_an_end(parameters: Mapping[str, Parameter], attributes: Attributes) -> list[str]:
    """A line for each range that the best setting lies at an end of: beyond may be better ones."""
    lines = []
    for name, parameter in parameters.items():
        share = coordinate(parameter, float(attributes[name]))
        if not parameter.integer and not _END < share < 1 - _END:
            lines.append(
                f"{name} = {float(attributes[name]):.3g} is at an end of its range, {parameter.low:g} to "
                f"{parameter.high:g}: where it may go beyond, widen agent.parameters.{name}"
            )
    return lines


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
