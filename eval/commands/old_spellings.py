# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewrites command lines of version 0.1 as they are typed today."""

from __future__ import annotations

from collections.abc import Sequence

#: Commands that only have another name.
_RENAMED = {
    "evaluate": ["compare", "policy"],
    "gain": ["compare", "training"],
    "ablation": ["compare", "variants"],
    "reference": ["compare", "published"],
    "figure": ["plot", "comparison"],
    "map": ["plot", "policy"],
    "learning": ["plot", "learning"],
    "curves": ["plot", "curves"],
}
#: Options that became the first positional argument, by the command of today.
_POSITIONAL = {
    ("run",): "--scenario",
    ("benchmark",): "--suite",
    ("compare", "training"): "--config",
    ("compare", "published"): "--published",
}


def of_today(given: Sequence[str]) -> list[str] | None:
    """The command line as it is typed today; None where it is one of today's.

    >>> of_today(["trace", "my.yaml", "--controller", "hpcc", "--out", "x"])
    ['run', 'my.yaml', '--out', 'x', '--trace', '--controllers', 'hpcc']
    """
    rest = [part for text in given for part in _parted(text)]
    if not rest:
        return None
    if rest[0] == "trace":
        return _trace(rest[1:])
    if rest[0] == "sweep":
        return _sweep(rest[1:])
    command = _RENAMED.get(rest[0], rest[:1])
    rest = rest[1:]
    for positions, option in _POSITIONAL.items():
        if command == list(positions) and option in rest:
            value, rest = _taken(rest, option)
            rest = [*value, *rest]
            break
    else:
        if command == list(given[:1]):
            return None
    return [*command, *(_seeds(rest) if command == ["compare", "training"] else rest)]


def _parted(text: str) -> list[str]:
    """An option and its value, where they are one word."""
    option, equals, value = text.partition("=")
    return [option, value] if equals and option.startswith("--") else [text]


def _taken(given: Sequence[str], option: str) -> tuple[list[str], list[str]]:
    """(the option's value, the rest)."""
    if option not in given:
        return [], list(given)
    at = given.index(option)
    return list(given[at + 1 : at + 2]), [*given[:at], *given[at + 2 :]]


def _seeds(given: Sequence[str]) -> list[str]:
    """``--seeds N`` meant 1 to N."""
    value, rest = _taken(given, "--seeds")
    return [*rest, "--seeds", f"1-{value[0]}"] if value and value[0].isdigit() else list(given)


def _trace(given: Sequence[str]) -> list[str]:
    controller, rest = _taken(given, "--controller")
    checkpoint, rest = _taken(rest, "--checkpoint")
    seed, rest = _taken(rest, "--seed")
    interval, rest = _taken(rest, "--sample-ns")
    if checkpoint and controller:
        player = ["--checkpoint", f"{controller[0]}={checkpoint[0]}"]
    else:
        player = ["--controllers", *controller] if controller else []
    return [
        *("run", *rest, "--trace", *player),
        *(("--seeds", *seed) if seed else ()),
        *(("--queue-series", *interval) if interval else ()),
    ]


def _sweep(given: Sequence[str]) -> list[str]:
    rest = _seeds(given)
    axes: list[str] = []
    kept: list[str] = []
    value = False
    for text in rest:
        is_axis = "=" in text and not value and not text.startswith("--")
        (axes if is_axis else kept).append(text)
        value = text.startswith("--") and text not in ("--allow-imports", "-h", "--help")
    return ["benchmark", *kept, *(("--over", *axes) if axes else ())]
