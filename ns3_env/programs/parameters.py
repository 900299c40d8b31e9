# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters of controllers as their own papers set them; the defaults are the published simulator's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Attributes = Mapping[str, bool | int | float | str]

#: Attributes by controller; docs/sources/baselines.md has each number's source.
PAPER: dict[str, Attributes] = {
    # Zhu 2015: a CNP per 50 µs, timers of 55 µs, a byte counter of 10 MB, F = 5, R_AI = 40 Mb/s at 40 Gb/s;
    # marks from 5 to 200 kB, 1 %. R_HAI is not printed: the published simulator's.
    "dcqcn": {
        "AlphaInterval": "55us",
        "DecreaseInterval": "50us",
        "IncreaseInterval": "55us",
        "ByteCounter": 10e6,
        "KeepTarget": False,
        "FastRecoveryStages": 5,
        "AdditiveIncrease": 1e-3,
        "Kmin": 5e3,
        "Kmax": 200e3,
        "Pmax": 0.01,
        "MarkingRate": 40e9,
    },
    # Alizadeh 2010: one packet per round trip
    "dctcp": {"PacketIncrease": True},
    # Li 2019: maxStage = 5, W_AI = 80 B per base RTT of 13 µs at 100 Gb/s
    "hpcc": {"MaxStage": 5, "AdditiveIncrease": 4.9e-4},
    # Mittal 2015: the published simulator's numbers, without hyper increase below T_low
    "timely": {"HyperBelowLow": False},
}
PUBLISHED = "published"
PRESETS = (PUBLISHED, "paper")


def parameters_of(controller: str, parameters: str) -> Attributes:
    """The attributes of a controller under a preset; those of "published" are the defaults.

    Raises:
        ValueError: there is no such preset, or the controller has no "paper".
    """
    if parameters not in PRESETS:
        raise ValueError(f"parameters: is {parameters!r}, must be {' or '.join(PRESETS)}")
    if parameters == PUBLISHED:
        return {}
    if controller not in PAPER:
        raise ValueError(
            f"parameters: {controller!r} has no {parameters!r}; those that have: {', '.join(PAPER)}"
        )
    return PAPER[controller]


def with_preset(data: Any, controller_key: str) -> Any:
    """A controller as a file writes it, its ``parameters: paper`` replaced by its attributes.

    The file's own attributes override the preset's.

    Args:
        data: content of the file.
        controller_key: key of the controller's name in it.
    """
    if not (isinstance(data, Mapping) and isinstance(data.get("parameters"), str)):
        return data
    rest = {key: value for key, value in data.items() if key != "parameters"}
    attributes = parameters_of(str(data.get(controller_key)), data["parameters"])
    return {**rest, "attributes": {**attributes, **rest.get("attributes", {})}}
