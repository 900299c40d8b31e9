# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``compare``: a policy with controllers, published results with ours."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.config.command_line import POLICY_HELP
from ns3_env.eval.commands import options as shared


def add(options: argparse.ArgumentParser) -> shared.Work:
    """a policy with controllers, or flow completion times with published ones"""
    return shared.add_kinds(options, {"policy": _policy, "published": _published})


def _policy(options: argparse.ArgumentParser) -> shared.Work:
    """a run's agent, or a policy's file, with the simulator's controllers"""
    options.add_argument("policy", type=Path, metavar="POLICY", help=POLICY_HELP)
    shared.add_overrides(options, "evaluation.episodes=5")
    shared.add(options, "--metric", "--plugin", "--allow-imports", "--json")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.comparisons.evaluate import evaluate

        evaluate(arguments.policy, arguments.overrides, arguments.json)

    return work


def _published(options: argparse.ArgumentParser) -> shared.Work:
    """flow completion times with those of the published simulator"""
    options.add_argument(
        "networks",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="networks that your build of the published simulator ran; none: the three included ones",
    )
    options.add_argument(
        "--random",
        type=shared.count,
        metavar="N",
        help="draw this number of networks into DIR, if they are missing",
    )
    options.add_argument("--seed", type=shared.count, default=1, help="of the draw (default: 1)")
    options.add_argument(
        "--run",
        type=Path,
        action="append",
        default=[],
        metavar="RUN",
        help="a folder of eval run: its flows, with the starts they had, become a network in DIR; repeatable",
    )
    options.add_argument(
        "--preset",
        choices=("default", "published"),
        help="use it instead of the scenarios' own",
    )
    shared.add(options, "--json")

    def work(arguments: argparse.Namespace) -> int:
        from ns3_env.errors import ConfigError
        from ns3_env.eval.papers.published import networks, published_scenarios

        if arguments.networks is None:
            if arguments.random is not None or arguments.run:
                option = "--run" if arguments.run else "--random"
                raise ConfigError(f"{option}: name the folder where the networks go: compare published DIR")
            published_scenarios.report(arguments.json, preset=arguments.preset)
            return 0
        exact = networks.report(
            arguments.networks,
            arguments.random,
            arguments.seed,
            arguments.json,
            preset=arguments.preset,
            runs=arguments.run,
        )
        return 0 if exact else 1

    return work
