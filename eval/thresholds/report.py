# SPDX-License-Identifier: GPL-2.0-or-later
"""Report of the command ``thresholds``: trains, if requested, compares, and prints a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ns3_env.agents.thresholds.config import read_config
from ns3_env.agents.thresholds.learner import train
from ns3_env.config.folders import find_file
from ns3_env.eval.output.table import cell, markdown_table, write_json
from ns3_env.eval.thresholds.compare import evaluate, table
from ns3_env.tasks import task

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
