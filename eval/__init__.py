# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluation: episodes, metrics, benchmarks, reports, the papers' experiments."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

if __name__ == "eval" and sys.argv[:1] != ["-m"]:  # `python -m eval` is a command of the clone
    raise ImportError("this folder is a part of ns3_env: import ns3_env.eval")

__all__ = ["load_flows", "load_results"]


def load_results(folder: str | Path) -> pandas.DataFrame:
    """The cells of a benchmark's or a sweep's folder, a row each: see ``ns3_env.eval.benchmark.frames``."""
    from ns3_env.eval.benchmark import frames as results

    return results.load_results(folder)


def load_flows(folder: str | Path) -> pandas.DataFrame:
    """The flows of all those cells, a row each: see ``ns3_env.eval.benchmark.frames``."""
    from ns3_env.eval.benchmark import frames as results

    return results.load_flows(folder)
