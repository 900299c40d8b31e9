# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``paper``: a paper's experiment, its numbers next to the published ones."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.config.command_line import POLICY_HELP
from ns3_env.eval.commands import options as shared
from ns3_env.programs.parameters import PRESETS


def add(options: argparse.ArgumentParser) -> shared.Work:
    """an experiment of a paper: its figures and tables, compared with the published ones"""
    options.add_argument("name", nargs="?", metavar="NAME", help="see --list")
    options.add_argument("--list", action="store_true", help="every experiment, and what --scale changes")
    shared.add_out(options, "default: runs/paper/NAME", required=False)
    options.add_argument(
        "--scale", type=float, metavar="X", help="of the paper's size (default: by experiment)"
    )
    options.add_argument("--full", action="store_true", help="the paper's size: --scale 1")
    options.add_argument(
        "--seeds",
        default="1",
        metavar="N-M",
        help="e.g. 1-5: intervals, and the number of seeds that confirm a claim",
    )
    options.add_argument(
        "--parameters",
        choices=PRESETS,
        help="of controllers: their own papers', or the published simulator's (default: by experiment)",
    )
    options.add_argument(
        "--checkpoint",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help=f"a trained policy, instead of the released one, or in addition: {POLICY_HELP}",
    )
    options.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="put the results (in --out) onto a page, and their numbers into tables/ next to it",
    )
    shared.add(options, "--json")
    return _work


def _work(options: argparse.Namespace) -> None:
    from ns3_env.eval.papers.experiments import dispatch

    dispatch(options)
