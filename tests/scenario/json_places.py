# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's JSON, every place in it, and the range that the simulator declares there."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

from ns3_env import _native
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.record import Measurement
from ns3_env.scenario.reliability import Corruption, Nic, SelectiveRepeat
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import ConstantRate, Incast, Mix
from ns3_env.simulator import EpisodeEnd, Simulator

Place = tuple[str | int, ...]


def valid() -> dict[str, Any]:
    """A scenario as small as its parts allow, with every key there is."""
    content = Scenario(
        time_limit_ns=200_000,
        topology=Dumbbell(senders=2),
        traffic=Mix(
            parts=[
                Incast(flows=2, size_bytes=5_000, spread_ns=0),
                ConstantRate(src=0, dst=2, rate_bps=2e9, stop_ns=100_000, phase_ns=0),
            ]
        ),
        controllers=[Controller(name="dcqcn", attributes={"Gain": 0.5})],
        measurement=Measurement(end_ns=100_000),
        recovery=SelectiveRepeat(),
        corruption=[Corruption(link=(0, 3), bit_error_rate=1e-9)],
        nic=Nic(cnp_delay_ns=1000),
    ).to_simulator_json()
    content["min_rate_bps"] = 1e8
    content["record"] = {k: v for k, v in content["record"].items() if v is not None}
    return content


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """The path of everything in it, itself not."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def at(content: Any, path: Place) -> Any:
    for key in path:
        content = content[key]
    return content


def replaced(content: dict[str, Any], path: Place, value: Any) -> dict[str, Any]:
    other = copy.deepcopy(content)
    at(other, path[:-1])[path[-1]] = value
    return other


def named(path: Place) -> str:
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else ("." if text else "") + key
    return text


def last_name(place: Place) -> str:
    return next(key for key in reversed(place) if isinstance(key, str))


#: A reader's message if a number's place contains something else.
DECLARED = re.compile(r"is an object, must be in \[(\S+), (\S+)\](, a whole number)?")


def play(simulator: Simulator, text: str) -> dict[str, Any] | None:
    """The results of possibly invalid JSON; None if a flow asks for a decision. Raises ScenarioError."""
    assert simulator._agent is not None
    simulator._agent.write_blob(text.encode())
    simulator._agent.send(_native.COMMAND_RESET)
    message = simulator.receive()
    return message.results if isinstance(message, EpisodeEnd) else None


def is_in_its_range(simulator: Simulator, content: dict[str, Any], place: Place) -> bool:
    """Whether the number there is in the range that the reader itself declares."""
    try:
        play(simulator, json.dumps(replaced(content, place, {})))
    except ScenarioError as error:
        if (declared := DECLARED.search(str(error))) is not None:
            value = at(content, place)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            is_whole = declared[3] is None or (is_number and value == int(value))
            return is_number and is_whole and float(declared[1]) <= value <= float(declared[2])
    return True
