# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of a simulation as ``--key=value``, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ns3_env.errors import ConfigError

#: Other names of settings: ns-3's command line knows a seed as its run.
ALIASES: Mapping[str, str] = {"RngRun": "seed"}


def plain(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as text, as a command line has them; True is 1, False 0."""
    return {key: str(int(value) if isinstance(value, bool) else value) for key, value in settings.items()}


def command_line(settings: Mapping[str, Any]) -> list[str]:
    """What stands behind ``ns3 run TARGET``: nothing, or ``--`` and the settings."""
    written = [f"--{key}={value}" for key, value in plain(settings).items()]
    return ["--", *written] if written else []


def merged(held: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """All settings; those given win over those held, whatever name each goes by."""
    own = {ALIASES.get(key, key) for key in given}
    return {**{key: held[key] for key in held if ALIASES.get(key, key) not in own}, **given}


def read_command_line(arguments: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Target and settings of ``run TARGET [-- --key=value ...]``.

    What ns-3's script takes before ``--`` (``--no-build``) is passed over; target and settings may be one
    text.

    Raises ConfigError.
    """
    words = [word for argument in arguments for word in _parts(argument)]
    if len(words) < 2 or words[0] != "run" or words[1].startswith("-"):
        raise ConfigError("this `ns3` runs simulations alone: ns3 run TARGET [-- --key=value ...]")
    rest = words[2:]
    given = rest[rest.index("--") + 1 :] if "--" in rest else [word for word in rest if "=" in word]
    settings: dict[str, str] = {}
    for word in given:
        key, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not equals:
            raise ConfigError(
                f"{word}: a setting is --key=value; of a 0 ns3-ai's Python hands over the key alone: "
                "give it as text, '0'"
            )
        settings[key] = value
    return words[1], settings


def _parts(argument: str) -> list[str]:
    """``"TARGET --key=value"`` in one argument is two; a value keeps its spaces."""
    first, separator, rest = argument.partition(" --")
    if not separator or "=" in first:
        return [argument]
    return [first, *(f"--{part}" for part in rest.split(" --"))]
