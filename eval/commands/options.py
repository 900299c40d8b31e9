# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that several commands have, each with one name and form; files that --json may overwrite."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ns3_env.config.command_line import POLICY_HELP, AnyOrder
from ns3_env.config.imports import trust_all, trust_named_in
from ns3_env.config.units import nanoseconds
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.programs.executable import HANG_TIMEOUT_VARIABLE
from ns3_env.programs.plugins import load_plugins

#: The function of a command; returns its exit code, or None for 0.
Work = Callable[[argparse.Namespace], "int | None"]

MAX_SEEDS = 10_000
_SEEDS = re.compile(r"(\d+)(?:-(\d+))?")


def of_process() -> AnyOrder:
    """The parent of every command's parser: options for all simulators of the process."""
    parent = AnyOrder(add_help=False)
    parent.add_argument(
        "--hang-timeout",
        type=seconds,
        default=argparse.SUPPRESS,
        metavar="S",
        help="seconds of computing without a sign of life after which a simulator is ended "
        f"(default: 30, or the variable {HANG_TIMEOUT_VARIABLE})",
    )
    return parent


def set_process(options: argparse.Namespace) -> None:
    """Applies the command line's options to this process and those that it starts."""
    if hasattr(options, "hang_timeout"):
        os.environ[HANG_TIMEOUT_VARIABLE] = repr(options.hang_timeout)
    if getattr(options, "allow_imports", False):
        trust_all()
    trust_named_in(getattr(options, "overrides", ()))
    load_plugins(getattr(options, "plugin", ()))


def add_kinds(
    options: argparse.ArgumentParser, kinds: Mapping[str, Callable[[argparse.ArgumentParser], Work]]
) -> Work:
    """A command of several kinds: each adds its options, and its docstring is its help."""
    parsers = options.add_subparsers(dest="kind", required=True, parser_class=AnyOrder)
    works = {}
    for name, kind in kinds.items():
        parser = parsers.add_parser(name, help=kind.__doc__, description=kind.__doc__, parents=[of_process()])
        works[name] = kind(parser)
    return lambda arguments: works[arguments.kind](arguments)


def names(text: str) -> list[str]:
    """Returns the names between commas."""
    return [name.strip() for name in text.split(",")] if text else []


def seeds(text: str) -> list[int]:
    """``1-20``, ``7`` or ``1,4,10-12`` as a list."""
    numbers: list[int] = []
    for part in text.split(","):
        match = _SEEDS.fullmatch(part.strip())
        if match is None:
            raise argparse.ArgumentTypeError(f"{text!r}: expected seeds as 1-20 or 1,4,7")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= MAX_SEEDS or last >= 2**63:
            raise argparse.ArgumentTypeError(
                f"{part.strip()}: seeds are in 0 to 2^63 - 1, the first one first, at most {MAX_SEEDS}"
            )
        numbers += range(first, last + 1)
    if len(set(numbers)) < len(numbers):
        raise argparse.ArgumentTypeError(f"{text}: a seed is there twice")
    return numbers


def seconds(text: str) -> float:
    """A time above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def count(text: str) -> int:
    """A whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return value


def add_overrides(options: argparse.ArgumentParser, example: str) -> None:
    """``key=value`` ..."""
    options.add_argument("overrides", nargs="*", metavar="key=value", help=f"e.g. {example}")


def add_controllers(options: argparse.ArgumentParser, default: str) -> None:
    """``--controllers A,B``"""
    options.add_argument(
        "--controllers",
        type=names,
        default=[],
        metavar="A,B,...",
        help=f"e.g. dcqcn,hpcc (default: {default})",
    )


def add_seeds(options: argparse.ArgumentParser, default: str) -> None:
    """``--seeds 1-20``"""
    options.add_argument("--seeds", type=seeds, metavar="1-20", help=f"or 1,4,7 (default: {default})")


def add_out(options: argparse.ArgumentParser, what: str, required: bool = True, metavar: str = "DIR") -> None:
    """``--out DIR``"""
    options.add_argument("--out", type=Path, required=required, metavar=metavar, help=what)


_REPEATED: Mapping[str, Any] = {"action": "append", "default": []}
#: Options that are the same in every command that has them.
_COMMON: Mapping[str, Mapping[str, Any]] = {
    "--runs": {
        "type": Path,
        "default": Path("runs"),
        "help": "where run folders are made (default: runs)",
    },
    "--format": {
        "default": "",
        "metavar": "pdf,svg,png",
        "help": "each panel as a file too, as wide as a paper's column",
    },
    "--label": {
        **_REPEATED,
        "metavar": "NAME=TEXT",
        "help": "what figures call an entry or an axis, e.g. hpcc-80='HPCC (η = 0.8)' traffic.flows=flows; "
        "may be repeated",
    },
    "--json": {"type": Path, "metavar": "FILE", "help": "write the numbers shown to this file too"},
    "--checkpoint": {**_REPEATED, "metavar": "NAME=PATH", "help": f"a trained policy: {POLICY_HELP}"},
    "--policy": {
        **_REPEATED,
        "metavar": "NAME=PKG.MODULE:FACTORY",
        "help": "a policy in Python, which the factory makes; may be repeated",
    },
    "--metric": {
        **_REPEATED,
        "metavar": "PKG.MODULE:NAME",
        "help": "your own metric, a function under @metric; may be repeated",
    },
    "--plugin": {
        **_REPEATED,
        "metavar": "FILE",
        "help": "a shared object with your own controllers; may be repeated",
    },
    "--allow-imports": {"action": "store_true", "help": "run the code that files and checkpoints name"},
    "--ray": {
        "metavar": "ADDRESS|auto|local",
        "help": "as tasks of a Ray cluster: HOST:PORT of its head, auto: that of this machine, local: one "
        "for as long as this runs",
    },
    "--queue-series": {
        "type": nanoseconds,
        "metavar": "NS",
        "help": "sample the queues at this interval, e.g. 10us",
    },
}


def add(options: argparse.ArgumentParser, *names: str) -> None:
    """Adds these of the options that are the same in several commands."""
    for name in names:
        options.add_argument(name, **_COMMON[name])


def labels(texts: Sequence[str]) -> dict[str, str]:
    """Returns the text of each ``--label``. Raises ConfigError for one of another form."""
    pairs = [text.partition("=") for text in texts]
    for (name, _, label), text in zip(pairs, texts, strict=True):
        if not (name and label):
            raise ConfigError(f"--label: expected NAME=TEXT, found {text!r}")
    return {name: label for name, _, label in pairs}


#: Keys of which each command's JSON has one, three levels down at most.
_MARKS = {"fct_slowdown_avg", "ref_avg", "packet_hops_per_s", "experiment"}
_MAX_BYTES = 64 << 20


def check_json(path: Path | None) -> None:
    """Before anything runs: None, a new file, an empty one, or one that an earlier command wrote.

    Raises:
        ScenarioError: it is anything else, or its folder is not there.
    """
    if path is None:
        return
    if not path.absolute().parent.is_dir():
        raise ScenarioError(f"--json: there is no folder {path.absolute().parent}")
    if path.is_symlink():
        raise ScenarioError(f"--json: {path} is a symbolic link: name the file itself")
    if not path.exists():
        return
    if not path.is_file():
        raise ScenarioError(f"--json: {path} is no file: name another")
    if path.stat().st_size > 0 and not _is_ours(path):
        raise ScenarioError(
            f"--json: {path} is there, and no command here has written it: name another, or remove it"
        )


def _is_ours(path: Path) -> bool:
    if path.stat().st_size > _MAX_BYTES:
        return False
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return False
    return text == json.dumps(content, indent=2) + "\n" and bool(_MARKS & _keys(content, 3))


def _keys(content: Any, levels: int) -> set[str]:
    if not isinstance(content, dict) or levels == 0:
        return set()
    return set(content).union(*(_keys(value, levels - 1) for value in content.values()))
