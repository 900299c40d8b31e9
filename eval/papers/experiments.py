# SPDX-License-Identifier: GPL-2.0-or-later
"""List of the papers' experiments, and the command that runs one: ``python -m eval paper NAME``."""

from __future__ import annotations

import argparse
import difflib
import json
import math
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ns3_env.agents.configuration.run_folder import versions
from ns3_env.config.command_line import new_console
from ns3_env.config.files import write_file
from ns3_env.config.folders import refuse_links, replace_folder
from ns3_env.errors import ScenarioError
from ns3_env.eval.episodes.entry import trained_policies
from ns3_env.eval.output.progress import progress_lines
from ns3_env.eval.output.results import PARQUET, Row, write_rows
from ns3_env.eval.output.table import write_json
from ns3_env.eval.papers.declared import Policies
from ns3_env.eval.papers.experiment import Experiment, Setup
from ns3_env.eval.papers.outcome import Outcome, combine, parse_seeds
from ns3_env.eval.papers.show import RESULT, refresh, show
from ns3_env.simulator import Simulator, list_controllers

#: Modules with experiments, by paper, in the papers' order.
MODULES = {
    "mpcc": "open_loop state_switch link limits",
    "fdcc": "motivation pay link incasts",
    "smcc": "queues bottlenecks incast",
    "rttmpc": "sharing ten_gigabit buffers",
    "tdctcp": "incast sweeps",
    "irn": "lossy",
    "hpcc": "fct",
    "clusters": "collectives",
}
#: Every experiment by its name, in the order in which its module declares them.
EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    one.name: one
    for paper, modules in MODULES.items()
    for module in modules.split()
    for one in vars(import_module(f"ns3_env.eval.papers.{paper}.{module}")).values()
    if isinstance(one, Experiment)
}
#: The default folder of experiments' folders.
RUNS = Path("runs") / "paper"


def dispatch(options: argparse.Namespace) -> None:
    """Executes the command line. Raises as :func:`paper` and ``show.refresh``."""
    if options.list:
        list_experiments()
    elif options.page is None:
        paper(
            options.name,
            options.out,
            options.scale,
            options.full,
            options.json,
            checkpoints=options.checkpoint,
            seeds=parse_seeds(options.seeds),
            parameters=options.parameters,
        )
    elif options.name is not None:
        raise ScenarioError("--page takes what was run: give no name with it")
    else:
        pictures = options.page.parent.parent / "images" / "paper"
        for name in refresh(options.page, options.out or RUNS, pictures):
            print(name)


def paper(
    name: str | None,
    out: Path | None = None,
    scale: float | None = None,
    full: bool = False,
    json_file: Path | None = None,
    *,
    checkpoints: Sequence[str] = (),
    seeds: Sequence[int] = (1,),
    parameters: str | None = None,
) -> dict[str, Any]:
    """Runs one experiment, prints its tables, and writes its folder, complete or not at all.

    The folder gets result.json, whose content is returned, a PNG and a CSV of its curves for each figure; an
    earlier experiment's is replaced. Arguments are those of the command line.
    Seeds are run in sequence, pictures are of the first; 1: those that the cases declare.

    Raises:
        ScenarioError: the experiment does not exist, or an option is wrong.
        SimulatorError: the simulator failed.
    """
    experiment = _experiment(name)
    scale = _scale(experiment, scale, full)
    policies = _policies(experiment, checkpoints)
    preset = _preset(experiment, parameters)
    out = out or RUNS / experiment.name
    _refuse_foreign(out)
    console = new_console()
    start = time.monotonic()
    outcomes: list[Outcome] = []
    with (
        console.status(experiment.name) as status,
        progress_lines(console, lambda: str(status.status)),
        Simulator() as simulator,
    ):

        def progress(text: str) -> None:
            of_seeds = f", seed {len(outcomes) + 1} of {len(seeds)}" if len(seeds) > 1 else ""
            status.update(f"{experiment.name}{of_seeds}: {text}")

        for seed in seeds:
            setup = Setup(simulator, scale, progress, policies, seed, parameters)
            outcomes.append(experiment.run(setup))
    seconds = time.monotonic() - start
    several = len(seeds) > 1
    over = f"; seeds {seeds[0]} to {seeds[-1]}: mean [95 % interval]" if several else ""
    # the published simulator's parameters are those that everything else here has
    by_paper = "; controllers as their own papers set them" if preset.get("parameters") == "paper" else ""
    result = {
        "experiment": experiment.name,
        "title": experiment.title,
        "source": experiment.declared.source,
        "scale": scale,
        "size": f"scale {scale:g} of the {experiment.declared.what_scales}{over}{by_paper}",
        **preset,
        "seconds": round(seconds, 1),
        "versions": versions(),
        **({"seeds": list(seeds)} if several else {}),
        **combine([outcome.as_dict() for outcome in outcomes]),
    }
    numbers = [
        row for seed, one in zip(seeds, outcomes, strict=True) for row in one.numbers(experiment.name, seed)
    ]
    replace_folder(out, lambda folder: _write(folder, result, outcomes[0], numbers))
    console.print(f"{experiment.title} ({experiment.declared.source}), {result['size']}", highlight=False)
    show(result, console)
    console.print(f"{out}: {seconds:.1f} s", highlight=False)
    if json_file is not None:
        write_json(json_file, result)
    return result


def list_experiments() -> None:
    """Prints every experiment, its source, and the effect of ``--scale``."""
    console = new_console()
    for one in EXPERIMENTS.values():
        of = one.declared
        console.print(f"{one.name}: {one.title}", highlight=False)
        console.print(f"    {of.source}; --scale {of.scale:g}: {of.what_scales}", highlight=False)


def _experiment(name: str | None) -> Experiment[Any]:
    names = f"known: {', '.join(EXPERIMENTS)}"
    if name is None:
        raise ScenarioError(f"paper: name an experiment, or --list them; {names}")
    if name not in EXPERIMENTS:
        near = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ScenarioError(f"paper: unknown experiment {name!r}{hint} ({names})")
    return EXPERIMENTS[name]


def _policies(experiment: Experiment[Any], checkpoints: Sequence[str]) -> Policies:
    if checkpoints and not (experiment.entries and experiment.entries.released):
        raise ScenarioError(f"--checkpoint: no trained policy plays in {experiment.name}")
    return trained_policies(checkpoints, list_controllers()) if checkpoints else {}


def _scale(experiment: Experiment[Any], scale: float | None, full: bool) -> float:
    if full and scale is not None:
        raise ScenarioError("--full is --scale 1: give one of them")
    if scale is not None and not (math.isfinite(scale) and scale > 0):
        raise ScenarioError(f"--scale: must be a number above 0, is {scale:g}")
    return 1.0 if full else experiment.declared.scale if scale is None else scale


def _preset(experiment: Experiment[Any], parameters: str | None) -> dict[str, str]:
    """The parameters of the controllers, if the experiment has controllers with a choice of parameters."""
    if experiment.entries is not None:
        return {"parameters": parameters or experiment.entries.parameters}
    if parameters is not None:
        raise ScenarioError(
            f"--parameters: {experiment.name} has no controllers whose parameters can be chosen"
        )
    return {}


def _write(folder: Path, result: Mapping[str, Any], outcome: Outcome, numbers: Sequence[Row]) -> None:
    write_json(folder / RESULT, result)
    write_rows(folder, numbers)
    for name, drawing in outcome.pictures.items():
        write_file(folder / f"{name}.png", drawing.png())
        if text := drawing.csv():
            write_file(folder / f"{name}.csv", text)


def _refuse_foreign(folder: Path) -> None:
    """Only a folder that this command wrote is replaced."""
    refuse_links(folder)
    if folder.exists() and not folder.is_dir():
        raise ScenarioError(f"--out: {folder} is a file: name a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        content = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        mine = content["experiment"] in EXPERIMENTS
    except (OSError, ValueError, LookupError, TypeError):
        mine = False
    if not mine:
        raise ScenarioError(f"--out: {folder} holds files, but no experiment's {RESULT}: name another")
    names = {RESULT, PARQUET, *map(str, content.get("pictures", []))}
    others = sorted(x.name for x in folder.iterdir() if x.suffix != ".csv" and x.name not in names)
    if others:
        raise ScenarioError(f"--out: {folder} holds {others[0]}, which is no experiment's: name another")
