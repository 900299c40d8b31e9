# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``thresholds``: table of constant, random and learned thresholds on held-back scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ns3_env.agents.thresholds.config import read_config
from ns3_env.agents.thresholds.learner import PortActor, load, problem_of, train, untrained
from ns3_env.config.folders import find_file
from ns3_env.decision.actions import EcnThresholds
from ns3_env.decision.task import Task
from ns3_env.eval.output.table import cell, markdown_table, write_json
from ns3_env.eval.thresholds.episodes import (
    LARGE_BYTES,
    SMALL_BYTES,
    Episode,
    Learned,
    Rule,
    constant,
    random_choice,
    reference_slowdowns,
    run_episode,
)
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.tasks import task
from ns3_env.tasks.anchors import geometric_mean
from ns3_env.tasks.definition import TaskSpec

#: Constant thresholds of papers, and the link rate that they are of: HPCC's evaluation (the published
#: simulator's), DCQCN's own, and the published simulator's one threshold of DCTCP.
PUBLISHED: dict[str, tuple[tuple[float, float, float], float]] = {
    "HPCC's evaluation": ((100e3, 400e3, 0.2), 25e9),
    "DCQCN's paper": ((5e3, 200e3, 0.01), 40e9),
    "DCTCP's": ((30e3, 30e3, 1.0), 10e9),
}
#: The entry whose score is 0, and the controller of flows whose score is 100, as on the leaderboard.
BASE, REFERENCE = "HPCC's evaluation", "oracle"
BY_SLOWDOWN, BY_REWARD = "constant, by slowdown", "constant, by reward"
#: Training scenarios that constant thresholds are chosen on.
TUNING = 100

Episodes = Mapping[str, Sequence[Episode]]


def evaluate(
    spec: TaskSpec, runs: Sequence[Path], tuning: int = TUNING
) -> tuple[dict[str, list[Episode]], float]:
    """Episodes of the test scenarios under each entry, and the geometric mean of the reference's slowdowns.

    The two constant ones are those of the table that do best on ``tuning`` training scenarios. A learned
    policy comes with its untrained self, and with the thresholds that it chose most often, held constant.
    """
    problem, action = spec.problem(), spec.action
    assert isinstance(action, EcnThresholds)
    tests = [spec.test(number) for number in range(spec.tests)]
    with closing(Simulator(max(64, 2 * spec.slots))) as simulator:

        def run(scenarios: Iterable[Scenario], rule: Rule, problem: Task = problem) -> list[Episode]:
            return [run_episode(simulator, scenario, problem, rule) for scenario in scenarios]

        rules = [constant(row, action.at_rate_bps) for row in action.table]
        trained_on = [spec.training(seed) for seed in range(tuning)]
        tuned = [run(trained_on, rule) for rule in rules]
        by_slowdown = int(np.argmin([_geometric(row) for row in tuned]))
        by_reward = int(np.argmax([_mean(row, "reward") for row in tuned]))
        entries = {name: run(tests, constant(row, rate)) for name, (row, rate) in PUBLISHED.items()}
        entries[f"{BY_SLOWDOWN}: {_label(action, by_slowdown)}"] = run(tests, rules[by_slowdown])
        entries[f"{BY_REWARD}: {_label(action, by_reward)}"] = run(tests, rules[by_reward])
        entries["random"] = run(tests, random_choice(action, 1))
        for folder in runs:
            config, model = load(folder)
            before = Learned(PortActor(untrained(config), config.history), problem)
            entries[f"{folder.name}, untrained"] = run(tests, before, problem_of(config))
            learned = Learned(PortActor(model, config.history), problem)
            entries[folder.name] = run(tests, learned, problem_of(config))
            most = int(learned.chosen.argmax())
            share = learned.chosen[most] / learned.chosen.sum()
            entries[f"{folder.name}, only its {_label(action, most)} ({share:.0%})"] = run(tests, rules[most])
        ideal = [reference_slowdowns(simulator, scenario, REFERENCE).mean() for scenario in tests]
    return entries, geometric_mean(ideal)


def _label(action: EcnThresholds, row: int) -> str:
    kmin, kmax, pmax = action.table[row]
    return f"{kmin / 1e3:g}/{kmax / 1e3:g} kB, {pmax:.0%}"


def _mean(episodes: Sequence[Episode], name: str) -> float:
    return float(np.mean([getattr(episode, name) for episode in episodes]))


def slowdown_of(episode: Episode) -> float:
    """Mean over the episode's flows."""
    return float(episode.slowdowns.mean())


def _geometric(episodes: Sequence[Episode]) -> float:
    """Geometric mean over episodes of their mean slowdowns."""
    return geometric_mean([slowdown_of(episode) for episode in episodes])


def score(entries: Episodes, reference: float, name: str) -> float:
    """0 for the base's slowdowns, 100 for those of the reference."""
    base = _geometric(entries[BASE])
    return float(100 * np.log(base / _geometric(entries[name])) / np.log(base / reference))


def measures(episodes: Sequence[Episode]) -> dict[str, float]:
    """Numbers of an entry: slowdowns over all flows of all tests, and means over ports and intervals."""
    slowdowns = np.concatenate([episode.slowdowns for episode in episodes])
    sizes = np.concatenate([episode.sizes for episode in episodes])
    small, large = slowdowns[sizes < SMALL_BYTES], slowdowns[sizes > LARGE_BYTES]
    return {
        "slowdown": _geometric(episodes),
        "small": float(small.mean()),
        "small p99": _p99(small),
        "large": float(large.mean()),
        "large p99": _p99(large),
        "queue (kB)": _mean(episodes, "queue_bytes") / 1e3,
        "utilisation": _mean(episodes, "utilisation"),
        "reward": _mean(episodes, "reward"),
    }


def _p99(values: NDArray[np.float64]) -> float:
    return float(np.percentile(values, 99))


def table(entries: Episodes, reference: float) -> dict[str, dict[str, float]]:
    """Score, measures, and slowdowns over those of the constant thresholds chosen by slowdown.

    Args:
        entries: the episodes of each entry.
        reference: geometric mean of the slowdowns that score 100.
    """
    against = next(row for name, row in entries.items() if name.startswith(BY_SLOWDOWN))
    return {
        name: {"score": score(entries, reference, name), **measures(row), **_ratio(row, against)}
        for name, row in entries.items()
    }


def _ratio(episodes: Sequence[Episode], against: Sequence[Episode]) -> dict[str, float]:
    """Geometric mean over tests of the ratio of slowdowns, and half of its 95 % interval."""
    pairs = zip(episodes, against, strict=True)
    logs = np.array([np.log(slowdown_of(one) / slowdown_of(other)) for one, other in pairs])
    ratio, error = float(np.exp(logs.mean())), float(logs.std(ddof=1) / np.sqrt(len(logs)))
    return {"ratio": ratio, "±": 1.96 * error * ratio}


#: Digits of each column.
_FORMS = {
    "score": ".1f",
    "utilisation": ".3f",
    "reward": ".4f",
    "queue (kB)": ".1f",
    "ratio": ".3f",
    "±": ".3f",
}


def train_seeds(file: Path, seeds: Sequence[int], parent: Path) -> list[Path]:
    """Trains the configuration with each seed, in a folder each of ``parent``."""
    config, folders = read_config(find_file(file, "configs")), []
    for seed in seeds:
        folders.append(parent / f"{config.name}-{seed}")
        train(config.model_copy(update={"seed": seed}), folders[-1])
    return folders


def report(runs: Sequence[Path], json_file: Path | None) -> None:
    """Prints the table of constant thresholds and of the policies in these folders."""
    rows = table(*evaluate(task("Thresholds"), runs))
    headings = list(next(iter(rows.values())))
    texts = ([name, *(cell(row[x], _FORMS.get(x, ".2f")) for x in headings)] for name, row in rows.items())
    print("\n".join(markdown_table(["thresholds", *headings], texts)))
    if json_file is not None:
        write_json(json_file, rows)
