# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``run``: a scenario under controllers and policies."""

from __future__ import annotations

import argparse
from pathlib import Path

from ns3_env.eval.commands import options as shared


def add(options: argparse.ArgumentParser) -> shared.Work:
    """a scenario under controllers and trained policies, with everything traced if wanted"""
    options.add_argument(
        "scenario",
        type=Path,
        metavar="SCENARIO",
        help="its YAML or name, or the config.yaml of a benchmark's cell",
    )
    shared.add_overrides(options, "traffic.load=0.5, or hpcc.Eta=0.9")
    shared.add_controllers(options, "the scenario's own")
    shared.add(options, "--policy", "--checkpoint")
    shared.add_seeds(options, "the scenario's")
    shared.add_out(options, "a folder per controller")
    options.add_argument(
        "--trace",
        action="store_true",
        help="record windows, rates, queues, marks, pauses and states too, and draw them: trace.png",
    )
    options.add_argument(
        "--watch",
        action="store_true",
        help="a film of the network and all flows under these controllers, for a browser: film.html",
    )
    shared.add(options, "--queue-series")
    options.add_argument("--pcap", action="store_true", help="capture every port's frames")
    shared.add(options, "--metric", "--format", "--label", "--plugin", "--allow-imports", "--json")
    return _work


def _work(options: argparse.Namespace) -> None:
    from ns3_env.eval.episodes.scenario import run
    from ns3_env.eval.output.table import lacking

    formats = []
    if options.format:
        from ns3_env.eval.output.plots import parse_formats

        formats = parse_formats(options.format)
    labels = shared.labels(options.label)
    trace = None
    if options.trace:
        from ns3_env.eval.episodes.trace import TraceFiles

        trace = TraceFiles(formats)
    film = None
    if options.watch:
        from ns3_env.eval.film import page as film_page
        from ns3_env.eval.film.recording import FilmFiles

        film_page.refuse_other(options.out)
        film = FilmFiles()
    entries = run(
        options.scenario,
        options.controllers,
        options.out,
        options.json,
        seeds=options.seeds or (),
        trace=trace,
        film=film,
        queue_series_ns=options.queue_series,
        pcap=options.pcap,
        policies=options.policy,
        checkpoints=options.checkpoint,
        overrides=options.overrides,
        allow_imports=options.allow_imports,
    )
    if len(entries) > 1 and (text := lacking("matplotlib", "pandas")) is not None:
        print(f"no figure: {text}")
    elif len(entries) > 1:
        from ns3_env.eval.report.entries import draw_entries

        print(f"figure: {draw_entries(options.out, entries, labels, formats)}")
    elif formats and trace is None:
        print("no figure: there is one entry; --trace draws what happened under it")
    if options.watch:
        for page in film_page.write_films(options.out):
            print(page)
