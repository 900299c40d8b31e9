# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a run's agent with controllers on the same unseen flows: the table, the figure, files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure, SubFigure

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig, RunConfig
from ns3_env.agents.configuration.inputs import make_scenario
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.command_line import new_console, typed
from ns3_env.config.files import write_file
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.folder import flows_in
from ns3_env.eval.benchmark.yardsticks import METRIC, ROW, beside, ways
from ns3_env.eval.episodes.policy import Episode, begin_controllers, collected, run_policy, seeds_of, summary
from ns3_env.eval.metrics import mean, measure, without_nan
from ns3_env.eval.output import table
from ns3_env.eval.output.multiples import draw_queues, panels_in
from ns3_env.eval.output.plots import (
    COLOURS,
    FOLDER,
    Style,
    for_paper,
    legend,
    save,
    settings,
    size,
    styles,
    write_picture,
)
from ns3_env.eval.output.progress import progress_lines
from ns3_env.eval.output.results import rows_of, write_rows
from ns3_env.eval.report.figures import draw_slowdowns
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Placement, Policy
from ns3_env.policies.released import CONSTANT_WINDOW, named_controller, released_names
from ns3_env.programs.executable import references
from ns3_env.programs.transport import Transport
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.results import bottleneck


def draw_comparison(evaluation: Path, formats: Sequence[str] = ()) -> Path:
    """Draws the queue of every controller's first episode in an evaluation folder, and all its flows.

    Args:
        evaluation: the folder ``evaluation`` of a run; gets ``comparison.png``.
        formats: both panels also become files of these formats, in ``figures`` of the folder.

    Returns:
        The picture's path.

    Raises:
        ScenarioError: the folder contains no episodes, or the picture is a symbolic link.
    """
    target = evaluation / "comparison.png"
    refuse_link(target)
    names = [path.name.removesuffix(".queues.json") for path in sorted(evaluation.glob("*.queues.json"))]
    if not names:
        raise ScenarioError(
            f"{evaluation}: no episodes here (no NAME.queues.json): run `{typed('eval')} compare policy RUN`"
        )
    names.sort(key=lambda name: (list(COLOURS).index(name) if name in COLOURS else len(COLOURS), name))
    looks = styles(names, references=references())
    height = max(4.0, 1.3 + 0.95 * len(names))
    figure = Figure(figsize=size(11, height), layout="constrained")
    for part, draw in zip(np.asarray(figure.subfigures(1, 2)).flat, _PANELS.values(), strict=True):
        draw(part, evaluation, looks)
    write_picture(figure, target)
    with for_paper():
        for name, draw in _PANELS.items() if formats else ():
            figure = Figure(figsize=size(4.9, max(3.5, 0.8 * height)), layout="constrained")
            draw(figure, evaluation, looks)
            save(figure, evaluation / FOLDER, name, formats)
    return target


def _draw_queues(where: Figure | SubFigure, evaluation: Path, looks: Mapping[str, Style]) -> None:
    """Draws the bottleneck's queue over time, a panel for each controller, in ms and kB."""
    files = {name: (evaluation / f"{name}.queues.json").read_text(encoding="utf-8") for name in looks}
    queues = {name: (bottleneck(json.loads(text)[0]) or {}).get("series") for name, text in files.items()}
    curves = {
        name: (np.asarray(series["t_ns"]) / 1e6, np.asarray(series["bytes"]) / 1e3)
        for name, series in queues.items()
        if series
    }
    if curves:
        draw_queues(where, panels_in(where, list(curves), looks), list(curves.values()), "ms")


def _draw_slowdowns(where: Figure | SubFigure, evaluation: Path, looks: Mapping[str, Style]) -> None:
    with matplotlib.rc_context(settings()):
        axes = where.subplots()
    flows = {name: [flows_in(evaluation / f"{name}.flows.csv", "compare again")] for name in looks}
    draw_slowdowns(axes, flows, looks)
    axes.grid(alpha=0.3, linewidth=0.6)
    legend(where, axes)


#: A panel's file, and the function that draws it.
_PANELS = {"queue": _draw_queues, "slowdown": _draw_slowdowns}


def means(
    episodes_by_name: Mapping[str, Sequence[Episode]], transport: Transport
) -> dict[str, dict[str, float]]:
    """Means of the metrics over episodes, by name; "way", if known, is the share of the gap closed, %."""
    rows = {name: {x.seed: x.metrics for x in episodes} for name, episodes in episodes_by_name.items()}
    by_seed = {name: {seed: row[METRIC] for seed, row in of_seeds.items()} for name, of_seeds in rows.items()}
    shares = ways(by_seed, transport)
    return {
        name: {**mean([*of_seeds.values()]), **({"way": shares[name]} if shares else {})}
        for name, of_seeds in rows.items()
    }


def show_table(
    title: str, episodes_by_name: Mapping[str, Sequence[Episode]], learned: str, transport: Transport
) -> None:
    """Prints the table, and compares the learned policy with a constant window if that was run."""
    metrics = {name: [episode.metrics for episode in episodes] for name, episodes in episodes_by_name.items()}
    table.show(title, means(episodes_by_name, transport))
    if ROW in episodes_by_name:
        print(beside(learned, metrics[learned], metrics[ROW]))


def show_played(
    title: str,
    episodes_by_name: Mapping[str, Sequence[Episode]],
    folder: RunFolder,
    learned: str,
    transport: Transport,
) -> None:
    """The table of ``show_table``; the run's evaluation/ gets every controller's episodes and the figure."""
    show_table(title, episodes_by_name, learned, transport)
    target = folder.path / "evaluation"
    target.mkdir(exist_ok=True)
    for name, episodes in episodes_by_name.items():
        write_episodes(target, name, episodes)
    write_rows(
        target,
        (
            row
            for name, episodes in episodes_by_name.items()
            for episode in episodes
            for row in rows_of(name, folder.path.name, episode.seed, measure(episode.results))
        ),
    )
    print(f"figure: {draw_comparison(target)}")


def write_episodes(folder: Path, name: str, episodes: Sequence[Episode]) -> None:
    """NAME.flows.csv (a row per flow) and NAME.queues.json (per port), to draw figures from again."""
    columns = list(episodes[0].results["flows"])
    rows = (
        [number, episode.seed, *row]
        for number, episode in enumerate(episodes)
        for row in zip(*(episode.results["flows"][column] for column in columns), strict=True)
    )
    write_file(folder / f"{name}.flows.csv", table.csv_text(["episode", "seed", *columns], rows))
    queues = [
        {"seed": episode.seed, "queues": episode.results["queues"], "totals": episode.results["totals"]}
        for episode in episodes
    ]
    write_file(folder / f"{name}.queues.json", json.dumps(queues))


def evaluation_scenario(config: RunConfig, source: str) -> Scenario:
    """The scenario that is compared on. Raises ConfigError, ScenarioError."""
    if config.evaluation is None:
        raise ConfigError(f"{source}: evaluation: missing")
    return make_scenario(config.env, config.evaluation.scenario, f"{source}: evaluation.scenario")


def against(
    name: str, policy: Policy, env: EnvConfig, scenario: Scenario, evaluation: EvaluationConfig
) -> dict[str, list[Episode]]:
    """Episodes of the policy, under this name, of each controller, and of a constant window of one BDP, on
    the same flows of the scenario."""
    seed, episodes = evaluation.seed, evaluation.episodes
    where = placement_of(policy)
    if where == "python":
        print(f"{name} has no policy's file: it decides in Python")
    others = opponents(scenario, evaluation)
    policy_episodes: dict[str, list[Episode]] = {}
    with LocalPool() as pool:
        controller_futures = begin_controllers(pool, scenario, others, seeds_of(seed, episodes))

        def line() -> str:
            over = sum(all(future.done() for future in futures) for futures in controller_futures.values())
            return f"comparison: {len(policy_episodes) + over} of {1 + len(others)} played"

        with progress_lines(new_console(), line):
            policy_episodes[name] = run_policy(policy, env, scenario, seed, episodes, placement=where)
            return policy_episodes | collected(controller_futures)


def opponents(scenario: Scenario, evaluation: EvaluationConfig) -> dict[str, Controller]:
    """The controllers that are compared with, by a table's names; under TCP there is no constant window."""
    others = {
        f"{name} (released)" if name in released_names() else name: named_controller(name)
        for name in evaluation.controllers
    }
    return {**others, ROW: CONSTANT_WINDOW} if scenario.transport == "rdma" else others


def placement_of(policy: Policy) -> Placement:
    """Returns the place of decisions: the simulator, but Python without a file for it."""
    return "simulator" if isinstance(policy, NetworkPolicy) else "python"


def as_json(episodes_by_name: Mapping[str, Sequence[Episode]], transport: Transport) -> dict[str, Any]:
    """The table's numbers, and the returns."""
    return {
        name: {**without_nan(values), **summary(episodes_by_name[name])}
        for name, values in means(episodes_by_name, transport).items()
    }


def after_training(config: RunConfig, folder: RunFolder, json_file: Path | None = None) -> None:
    """Compares the run's last checkpoint: the table, the run's evaluation/ and ``json_file``."""
    scenario = evaluation_scenario(config, str(folder.path / "config.yaml"))
    assert config.evaluation is not None
    policy = resolve(folder.latest_checkpoint()[0]).policy()
    episodes_by_name = against(config.agent.name, policy, config.env, scenario, config.evaluation)
    inside = placement_of(policy) == "simulator"
    where = "inside the simulator" if inside else "across the channel"
    title = (
        f"{scenario.agent_flow_count} flows, {scenario.topology.kind}, unseen; {config.agent.name} decides "
        f"{where} ({folder.path})"
    )
    show_played(title, episodes_by_name, folder, config.agent.name, scenario.transport)
    content = as_json(episodes_by_name, scenario.transport)
    write_table(folder, content, json_file)


def write_table(folder: RunFolder, content: Mapping[str, Any], json_file: Path | None) -> None:
    """Writes a comparison's numbers into the run's evaluation/ and into ``json_file``."""
    for file in filter(None, (folder.path / "evaluation" / "table.json", json_file)):
        table.write_json(file, content)
