# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of the script ``ns3``: ``run TARGET -- --key=value``, ``path``, ``structs TARGET``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence

from ns3_env.config.command_line import guarded
from ns3_env.errors import ConfigError
from ns3_env.ns3ai.segments import SegmentError
from ns3_env.ns3ai.targets import TARGETS, check, find_target, merged, read_command_line, read_settings
from ns3_env.ns3ai.tree import path

_USAGE = (
    "ns3 run TARGET [-- --key=value ...] | path [-- --key=value ...] | structs TARGET [-- --fields=...]\n"
    "targets:\n" + "\n".join(f"  {name:15} {target.what}" for name, target in TARGETS.items())
)


def main(
    arguments: Sequence[str],
    *,
    defaults: Mapping[str, str] | None = None,
    checked: Callable[[], object] = lambda: None,
) -> int:
    """Runs the command.

    Args:
        arguments: arguments of the command line.
        defaults: default settings of every run, which the arguments override.
        checked: function called before a run, once the request is known to be possible.

    Exit code: 2 if the request is impossible, or there is no segment; 1 if a simulator failed.
    """
    return guarded(lambda: _answer(list(arguments), defaults or {}, checked))


def _answer(arguments: list[str], defaults: Mapping[str, str], checked: Callable[[], object]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_USAGE)
        return 0
    if arguments[0] == "path":
        print(path(read_command_line(["run", *arguments])[1]))
        return 0
    if arguments[0] == "structs":
        checked()
        from ns3_env.ns3ai.flows_player import DEFAULT_FIELDS, element_structs

        name, options = read_command_line(["run", *arguments[1:]])
        settings = read_settings(merged(defaults, options), name)
        settings.arguments()  # unknown fields are refused
        fields = DEFAULT_FIELDS[find_target(name).transport]
        print(element_structs(fields if settings.fields is None else settings.fields.split(",")))
        return 0
    name, options = read_command_line(arguments)
    target, settings = find_target(name), read_settings(merged(defaults, options), name)
    try:
        check(target, settings)
    except (SegmentError, ValueError) as error:
        raise ConfigError(f"ns3 run {name}: {error}") from None
    checked()
    from ns3_env.ns3ai.player import PeerGone

    try:
        importlib.import_module(f"ns3_env.ns3ai.{target.player}").play(target, settings)
    except (PeerGone, SegmentError, ValueError) as error:
        raise ConfigError(f"ns3 run {name}: {error}") from None
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
