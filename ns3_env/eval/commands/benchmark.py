# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``benchmark``: controllers x scenarios x seeds, on all cores or a Ray cluster."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.eval.commands import options as shared


def add(options: argparse.ArgumentParser) -> shared.Work:
    """a suite, or a scenario: controllers x scenarios x seeds, over a grid of keys if wanted"""
    options.add_argument("suite", type=Path, metavar="SUITE", help="its YAML or name, or a scenario's")
    options.add_argument(
        "--over",
        nargs="+",
        action="extend",
        default=[],
        metavar="key=a,b,c",
        help="a grid over these values, or over key=range(start,stop,step); "
        "e.g. traffic.load=0.1,0.3 hpcc.Eta=0.9,0.95",
    )
    shared.add_controllers(options, "the suite's")
    shared.add_seeds(options, "the suite's; of a scenario 1-8")
    shared.add_out(options, "new, or one to go on with (default: runs/benchmark-...)", required=False)
    options.add_argument("--jobs", type=int, metavar="N", help="cells at a time (default: cores)")
    shared.add_ray(options)
    options.add_argument("--policy", action="append", default=[], metavar="NAME=PKG.MODULE:FACTORY")
    shared.add_checkpoint(options)
    shared.add_metric(options)
    shared.add_plugin(options)
    shared.add_allow_imports(options)
    return _work


def _work(given: argparse.Namespace) -> int:
    from ns3_env.eval import report
    from ns3_env.eval.benchmark.runner import benchmark
    from ns3_env.eval.benchmark.sweep import suite_of
    from ns3_env.eval.commands.report import show

    suite, folder = suite_of(given.suite, given.over, given.controllers, given.seeds)
    out = given.out or folder
    done = benchmark(
        suite,
        out,
        given.jobs,
        given.policy,
        given.checkpoint,
        allow_imports=given.allow_imports,
        ray=given.ray,
    )
    show(f"report: {report.write(out)}")
    return 0 if done else 1
