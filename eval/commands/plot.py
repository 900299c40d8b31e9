# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``plot``: pictures of runs, policies and controllers."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.config.command_line import POLICY_HELP
from ns3_env.eval.commands import options as shared


def add(options: argparse.ArgumentParser) -> shared.Work:
    """learning curves, a comparison, a policy's map, a job, pinned curves, a film"""
    kinds = {
        "learning": _learning,
        "comparison": _comparison,
        "policy": _policy,
        "timeline": _timeline,
        "curves": _curves,
        "watch": _watch,
    }
    return shared.add_kinds(options, kinds)


def _learning(options: argparse.ArgumentParser) -> shared.Work:
    """scores of runs over training, seeds together"""
    options.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders of runs of one kind")
    shared.add_out(options, "a .png or .svg", metavar="FILE")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.comparisons.learning_curves import draw_learning

        print(draw_learning(arguments.runs, arguments.out))

    return work


def _comparison(options: argparse.ArgumentParser) -> shared.Work:
    """a run's comparison with controllers, drawn again from its files"""
    options.add_argument("run", type=Path, metavar="RUN", help="folder of a training run")
    shared.add(options, "--format")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.comparisons.compare import draw_comparison
        from ns3_env.eval.output.plots import parse_formats

        print(draw_comparison(arguments.run / "evaluation", formats=parse_formats(arguments.format)))

    return work


def _policy(options: argparse.ArgumentParser) -> shared.Work:
    """a policy's action over two observed fields"""
    options.add_argument("policy", type=Path, metavar="POLICY", help=POLICY_HELP)
    options.add_argument("given", nargs="*", metavar="FIELD=VALUE", help="e.g. flow_count=16")
    shared.add_out(options, "a .png or .svg", metavar="FILE")
    options.add_argument("--x", default="qlen=0..1", metavar="FIELD=LOW..HIGH")
    options.add_argument("--y", default="pacing_rate=0.01..1", metavar="FIELD=LOW..HIGH")
    options.add_argument("--panel", metavar="FIELD=A,B,...", help="a panel for each, e.g. remaining=0.3,3,30")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.comparisons.policy_map import policy_map

        print(
            policy_map(
                arguments.policy,
                arguments.out,
                arguments.x,
                arguments.y,
                arguments.panel,
                arguments.given,
            )
        )

    return work


def _timeline(options: argparse.ArgumentParser) -> shared.Work:
    """ranks of a training job over time, under each controller of a ``run``"""
    options.add_argument("run", type=Path, metavar="DIR", help="the --out of run")
    shared.add_out(options, "a .png or .svg", metavar="FILE")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.report.timelines import draw_timelines

        print(draw_timelines(arguments.run, arguments.out))

    return work


def _curves(options: argparse.ArgumentParser) -> shared.Work:
    """rates and queues of the pinned incasts"""
    shared.add_out(options, "gets a picture per controller")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.output.curves import draw_curves

        for picture in draw_curves(arguments.out):
            print(picture)

    return work


def _watch(options: argparse.ArgumentParser) -> shared.Work:
    """the film of a folder that ``run --watch`` left, written again from its files"""
    options.add_argument("out", type=Path, metavar="DIR", help="the --out of run --watch")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.film.page import write_films

        for page in write_films(arguments.out):
            print(page)

    return work
