# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints what learned from datasets of three qualities scores on each task.

Usage: python docs/make/offline_table.py [--tasks Incast Bursts ...]. Minutes for each task; finished
recordings and tests are kept. Needs the extra minari.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
from pictures import ROOT, mean_cell

from ns3_env.eval.output.table import markdown_table
from ns3_env.tasks import TASKS

#: Of the example's datasets, in the order of the table's columns.
QUALITIES = ("expert", "medium", "mixed")
LEARNERS = {"clone": "cloned", "td3bc": "TD3+BC"}


def row(name: str, out: Path) -> list[str]:
    """Records, learns and tests; the task's row."""
    scores = out / "scores" / "scores.parquet"
    if not scores.exists():
        command = [sys.executable, "examples/offline_rl.py", "--task", name, "--out", str(out)]
        threads = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL, env=threads)
        print(f"{name}: played", file=sys.stderr)
    by_entry = pd.read_parquet(scores).groupby("entry")["score"]
    learned = [f"{learner}-{quality}" for quality in QUALITIES for learner in LEARNERS]
    cells = [mean_cell(by_entry.get_group(entry).to_numpy()) for entry in learned]
    return [name, f"{by_entry.get_group('expert').mean():.0f}", *cells]


def main() -> None:
    """Writes the table."""
    known = [name for name, spec in TASKS.items() if spec.fields == TASKS["Incast"].fields]
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--tasks", nargs="+", choices=known, default=known, metavar="TASK")
    arguments.add_argument("--out", type=Path, default=ROOT / "runs" / "offline")
    options = arguments.parse_args()
    columns = [f"{learner}, {quality}" for quality in QUALITIES for learner in LEARNERS.values()]
    rows = [row(name, options.out.absolute() / name) for name in options.tasks]
    text = "\n".join(markdown_table(["task", "the expert", *columns], rows))
    if options.tasks == known:
        (ROOT / "docs" / "tables" / "offline.txt").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
