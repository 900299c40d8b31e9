# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows and keeps compared episodes: the table, the figure, a file for each."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.config.files import naming, write_file
from ns3_env.eval.benchmark.constant_window import ROW, beside
from ns3_env.eval.benchmark.way import METRIC, ways
from ns3_env.eval.comparisons.figure import draw_comparison
from ns3_env.eval.episodes.policy import Episode
from ns3_env.eval.metrics import mean
from ns3_env.eval.output import table
from ns3_env.programs.transport import Transport


def means(played: Mapping[str, Sequence[Episode]], transport: Transport) -> dict[str, dict[str, float]]:
    """Means of the metrics over episodes, by name, and where it is known the "way" to the oracle, %."""
    rows = {name: [episode.metrics for episode in episodes] for name, episodes in played.items()}
    by_seed = {
        name: {episode.seed: row[METRIC] for episode, row in zip(played[name], own, strict=True)}
        for name, own in rows.items()
    }
    known = ways(by_seed, transport)
    return {name: {**mean(own), **({"way": known[name]} if known else {})} for name, own in rows.items()}


def show_table(
    title: str, played: Mapping[str, Sequence[Episode]], learned: str, transport: Transport
) -> None:
    """The table, and how the one that learned stands beside a constant window, where that has played."""
    metrics = {name: [episode.metrics for episode in episodes] for name, episodes in played.items()}
    table.show(title, means(played, transport))
    if ROW in played:
        print(beside(learned, metrics[learned], metrics[ROW]))


def show_played(
    title: str,
    played: Mapping[str, Sequence[Episode]],
    folder: RunFolder,
    learned: str,
    transport: Transport,
) -> None:
    """The table of ``show_table``; the run's evaluation/ gets every controller's episodes and the figure."""
    show_table(title, played, learned, transport)
    target = folder.path / "evaluation"
    target.mkdir(exist_ok=True)
    for name, episodes in played.items():
        write_episodes(target, name, episodes)
    print(f"figure: {draw_comparison(target)}")


def write_episodes(folder: Path, name: str, episodes: Sequence[Episode]) -> None:
    """NAME.flows.csv (a row per flow) and NAME.queues.json (per port), to draw figures from again."""
    path = folder / f"{name}.flows.csv"
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
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
    write_file(folder / f"{name}.queues.json", json.dumps(queues))
