# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``thresholds``: learned ECN thresholds trained, and compared with constant ones."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.eval.commands import options as shared

#: Digits of each column.
_FORMS = {
    "score": ".1f",
    "utilisation": ".3f",
    "reward": ".4f",
    "queue (kB)": ".1f",
    "ratio": ".3f",
    "±": ".3f",
}


def add(options: argparse.ArgumentParser) -> shared.Work:
    """ECN thresholds of switches' ports: constant, random and learned ones on held-back scenarios"""
    options.add_argument("run", nargs="*", type=Path, help="folders of learned thresholds")
    options.add_argument(
        "--train", type=Path, metavar="CONFIG", help="train first: configs/thresholds.yaml, a folder per seed"
    )
    options.add_argument("--seeds", default="1", metavar="N-M", help="of --train (default: 1)")
    shared.add_runs(options)
    shared.add_json(options)
    return _work


def _work(options: argparse.Namespace) -> None:
    from ns3_env.agents.thresholds.config import read_config
    from ns3_env.agents.thresholds.learner import train
    from ns3_env.config.folders import find_file
    from ns3_env.eval.output.table import cell, markdown_table, write_json
    from ns3_env.eval.papers.over_seeds import parse_seeds
    from ns3_env.eval.thresholds.compare import evaluate, table
    from ns3_env.tasks import task

    runs = list(options.run)
    if options.train is not None:
        config = read_config(find_file(options.train, "configs"))
        for seed in parse_seeds(options.seeds):
            runs.append(options.runs / f"{config.name}-{seed}")
            train(config.model_copy(update={"seed": seed}), runs[-1])
    rows = table(*evaluate(task("Thresholds"), runs))
    headings = list(next(iter(rows.values())))
    print(
        "\n".join(
            markdown_table(
                ["thresholds", *headings],
                (
                    [name, *(cell(row[x], _FORMS.get(x, ".2f")) for x in headings)]
                    for name, row in rows.items()
                ),
            )
        )
    )
    if options.json is not None:
        write_json(options.json, rows)
