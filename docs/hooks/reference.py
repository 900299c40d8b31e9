# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds pages to the site that the code declares: tasks, attributes of controllers, commands."""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from ns3_env.eval.commands.evaluation import parser as eval_parser
from ns3_env.eval.commands.export import parser as export_parser
from ns3_env.eval.commands.lists import parser as list_parser
from ns3_env.eval.commands.train import parser as train_parser
from ns3_env.programs.executable import describe_controllers
from ns3_env.programs.parameters import PAPER
from ns3_env.programs.scripts import parser as config_parser
from ns3_env.programs.transport import SHOWN, TRANSPORTS
from ns3_env.scenario.script import parser as script_parser

TASKS = Path(__file__).parents[1] / "make" / "task_pages.py"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds ``each-task.md``, ``each-controller.md`` and ``commands.md``."""
    pages = {
        "each-task.md": runpy.run_path(str(TASKS))["page"],
        "each-controller.md": controllers,
        "commands.md": commands,
    }
    for name, make in pages.items():
        files.append(File.generated(config, name, content=make()))
    return files


def controllers() -> str:
    """Returns the page of all controllers' attributes, as the simulators declare them."""
    lines = [
        "# Each controller's attributes",
        "Attributes of the [controllers](controllers.md) with their defaults, as `rdma-sim` and `tcp-sim` "
        "declare them; `paper` is what `parameters: paper` sets.",
    ]
    for transport in TRANSPORTS:
        lines.append(f"## Over {SHOWN[transport]}")
        for name, declared in describe_controllers(transport=transport).items():
            if declared["attributes"]:
                lines += [f"### {name}" + (" over TCP" if transport == "tcp" else ""), _table(name, declared)]
    return "\n\n".join(lines) + "\n"


def _table(controller: str, declared: dict[str, Any]) -> str:
    paper = PAPER.get(controller, {})
    rows = [["attribute", "default", *(["paper"] if paper else []), "meaning"]]
    rows.append(["---"] * len(rows[0]))
    for attribute, default in declared["attributes"].items():
        meaning = declared["meanings"][attribute].replace("|", "\\|").replace("<", "&lt;")
        of_paper = [str(paper.get(attribute, ""))] if paper else []
        rows.append([f"`{attribute}`", default.lstrip("+"), *of_paper, meaning])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def commands() -> str:
    """Returns the page of all commands and their options, as their parsers describe them."""
    lines = ["# Commands", "Each command's options, as `--help` prints them."]
    parsers = {
        "train.py": train_parser(),
        "export.py": export_parser(),
        "python -m eval": eval_parser(),
        "ns3-env list": list_parser(),
        "ns3-env config": config_parser(),
        "ns3-env script": script_parser(),
    }
    for name, parser in parsers.items():
        for title, one in _commands(name, parser):
            one.prog = title
            lines += [f"## {title}", f"```text\n{one.format_help()}```"]
    return "\n\n".join(lines) + "\n"


def _commands(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yields the commands below a parser; the parser itself where it has none."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield name, parser
    for action in below:
        for word, one in action.choices.items():
            yield from _commands(f"{name} {word}", one)
