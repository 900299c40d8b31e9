# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws a log of a cluster's jobs, such as configs/suites/hour.csv.

python examples/job_log.py hour.csv --jobs 300 --hours 1 --seed 1

Jobs arrive at random times (exponential gaps). Half of them have one GPU, the others 2 to 64, few of them
many; durations are log-normal. It is used as traffic: {kind: job_log, file: hour.csv, ...}.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

#: Numbers of GPUs, and their shares of jobs.
GPUS = (1, 2, 4, 8, 16, 32, 64)
SHARES = (0.5, 0.1, 0.12, 0.14, 0.08, 0.04, 0.02)
MEDIAN_S = 900
#: Standard deviation of the durations' logarithm.
SPREAD = 1.2


def draw(jobs: int, hours: float, seed: int) -> str:
    """A log of about this duration as CSV."""
    random = np.random.default_rng(seed)
    arrivals = random.exponential(hours * 3600 / jobs, jobs).cumsum()
    gpus = random.choice(GPUS, jobs, p=SHARES)
    durations = MEDIAN_S * np.exp(SPREAD * random.standard_normal(jobs))
    rows = zip(arrivals, gpus, durations, strict=True)
    lines = [f"{arrival:.0f},{count},{max(duration, 1):.0f}" for arrival, count, duration in rows]
    return "\n".join(["arrival_s,gpus,duration_s", *lines, ""])


def main() -> None:
    """Writes the log."""
    options = argparse.ArgumentParser(description="Draws a log of a cluster's jobs.")
    options.add_argument("file", metavar="FILE", type=Path)
    options.add_argument("--jobs", type=int, default=300)
    options.add_argument("--hours", type=float, default=1.0)
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    arguments.file.write_text(draw(arguments.jobs, arguments.hours, arguments.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
