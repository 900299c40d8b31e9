# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluation: episodes, metrics, benchmarks, reports, the papers' experiments."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

    from ns3_env.eval.output.results import Results

if __name__ == "eval" and sys.argv[:1] != ["-m"]:  # `python -m eval` is a command of the clone
    raise ImportError("this folder is a part of ns3_env: import ns3_env.eval")

__all__ = ["load_flows", "load_results"]


def load_results(folder: str | Path, of: str = "episode") -> Results:
    """Loads the results that a command wrote into a folder: see ``ns3_env.eval.results.loading``."""
    from ns3_env.eval.results import loading

    return loading.load_results(folder, of)


def load_flows(folder: str | Path) -> pandas.DataFrame:
    """Loads the flows of a run's or a benchmark's episodes: see ``ns3_env.eval.results.loading``."""
    from ns3_env.eval.results import loading

    return loading.load_flows(folder)
