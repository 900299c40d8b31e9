# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``compare``: a policy with controllers, training with none, variants, published results."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.config.command_line import POLICY_HELP
from ns3_env.eval.commands import options as shared


def add(options: argparse.ArgumentParser) -> shared.Work:
    """a policy with controllers, trained with untrained, an agent's variants, or published results"""
    kinds = {"policy": _policy, "training": _training, "variants": _variants, "published": _published}
    return shared.add_kinds(options, kinds)


def _policy(options: argparse.ArgumentParser) -> shared.Work:
    """a run's agent, or a policy's file, with the simulator's controllers"""
    options.add_argument("policy", type=Path, metavar="POLICY", help=POLICY_HELP)
    shared.add_overrides(options, "evaluation.episodes=5")
    shared.add_metric(options)
    shared.add_plugin(options)
    shared.add_allow_imports(options)
    shared.add_json(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.comparisons.evaluate import evaluate

        evaluate(given.policy, given.overrides, given.json)

    return work


def _training(options: argparse.ArgumentParser) -> shared.Work:
    """trained policies with untrained and random ones, over seeds"""
    options.add_argument("config", type=Path, metavar="CONFIG", help="configs/*.yaml")
    options.add_argument("--curriculum", type=Path, required=True, help="curricula/*.yaml")
    shared.add_overrides(options, "train.decisions=5000")
    shared.add_seeds(options, "1-3")
    shared.add_runs(options)
    shared.add_plugin(options)
    shared.add_json(options)

    def work(given: argparse.Namespace) -> int:
        from ns3_env.eval.comparisons.gain import gain

        drawn = given.seeds or [1, 2, 3]
        passed = gain(given.config, given.curriculum, given.overrides, drawn, given.runs, given.json)
        return 0 if passed else 1

    return work


def _variants(options: argparse.ArgumentParser) -> shared.Work:
    """variants of an agent's configuration, several seeds each: what makes it learn"""
    options.add_argument("file", type=Path, metavar="FILE", help="configs/ablations/*.yaml")
    shared.add_out(options, "new, or one to go on with")
    shared.add_ray(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.comparisons.ablation import ablate

        print(ablate(given.file, given.out, given.ray).read_text(encoding="utf-8"))

    return work


def _published(options: argparse.ArgumentParser) -> shared.Work:
    """flow completion times with those of the published simulator"""
    options.add_argument(
        "networks",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="networks that your build of the published simulator played; none: three that come along",
    )
    options.add_argument(
        "--random",
        type=shared.count,
        metavar="N",
        help="draw so many networks into DIR, where they are not there",
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
        type=lambda text: "published" if text == "reference" else text,
        choices=("default", "published"),
        help="play it in the place of the scenarios' own",
    )
    shared.add_json(options)

    def work(given: argparse.Namespace) -> int:
        from ns3_env.errors import ConfigError
        from ns3_env.eval.papers.published import networks, published_scenarios

        if given.networks is None:
            if given.random is not None or given.run:
                option = "--run" if given.run else "--random"
                raise ConfigError(f"{option}: name the folder where the networks go: compare published DIR")
            published_scenarios.report(given.json, preset=given.preset)
            return 0
        exact = networks.report(
            given.networks,
            given.random,
            given.seed,
            given.json,
            preset=given.preset,
            runs=given.run,
        )
        return 0 if exact else 1

    return work
