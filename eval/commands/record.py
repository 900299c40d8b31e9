# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a policy on a task as a Minari dataset: ``ns3-env record LongShort --policy dispatcher``.

Exit codes: 0 done; 2 a mistake in the input, named in one line.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ns3_env.config.command_line import AnyOrder, guarded
from ns3_env.errors import ConfigError


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command_line = AnyOrder(
        prog="ns3-env record",
        description="Writes what the flows of a task observed, did and were paid under a policy as a Minari "
        "dataset, for learning offline. Scenarios are training scenarios; an episode is a flow.",
    )
    command_line.add_argument("task", help="name or id of a task, e.g. LongShort")
    command_line.add_argument(
        "--policy",
        required=True,
        metavar="NAME",
        help="a released policy, a training run, a policy's file, mpcc, or random",
    )
    command_line.add_argument("--episodes", type=int, default=20, metavar="N", help="scenarios (default: 20)")
    command_line.add_argument("--seed", type=int, default=1, help="draws the scenarios (default: 1)")
    command_line.add_argument(
        "--noise",
        type=float,
        default=0.0,
        metavar="DEVIATION",
        help="standard deviation of noise on the actions (default: 0)",
    )
    command_line.add_argument(
        "--id", metavar="ID", help="id of the dataset (default: ns3_env/TASK/POLICY-v0, in lower case)"
    )
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = parser().parse_args(arguments)
    return guarded(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """Records as the options specify, and prints how to load the dataset."""
    from ns3_env.agents.trajectories import record
    from ns3_env.tasks import task

    if options.episodes < 1:
        raise ConfigError(f"--episodes: must be at least 1, is {options.episodes}")
    try:
        spec = task(options.task)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    name = options.policy.rstrip("/").rpartition("/")[2].partition(".")[0]
    dataset_id = options.id or f"ns3_env/{spec.name.lower()}/{name.lower()}-v0"
    dataset = record(
        options.task, options.policy, options.episodes, dataset_id, seed=options.seed, noise=options.noise
    )
    print(
        f"{dataset.total_steps:,} decisions of {dataset.total_episodes:,} flows; in Python: "
        f'minari.load_dataset("{dataset_id}")'
    )
    return 0
