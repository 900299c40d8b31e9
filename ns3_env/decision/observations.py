# SPDX-License-Identifier: GPL-2.0-or-later
"""Observations: the simulator's own table of telemetry fields, as Gymnasium spaces.

The table is declared once, in C++ (``ns3_env/cpp/channel/observation-fields.cc``). The simulator writes it
into the channel's header and this module reads the copy compiled into ``ns3_env._native``; the layout's
hash proves both equal.

An observed field is a declared one by name, or a formula over declared ones: ``"queueing = rtt - 1"``.
Formulas are read and calculated in C++ too (``ns3_env/cpp/policy/formula.h``).
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from ns3_env import _native
from ns3_env.config.model import nearest

#: The observation of Zhang 2023, section 4.2.
FDCC_FIELDS: tuple[str, ...] = (
    "rtt",
    "qlen",
    "switch_rate",
    "goodput",
    "rtt_slope",
    "qlen_slope",
    "pacing_rate",
    "last_action",
)

#: The observation of the tasks on RDMA: 26 B of telemetry, the message's size, which a sender knows, and the
#: scenario's wish for fairness.
RDMA_FIELDS: tuple[str, ...] = (
    "rtt",
    "qlen",
    "switch_rate",
    "fair_share",
    "goodput",
    "pacing_rate",
    "flow_count",
    "remaining",
    "attained",
    "last_action",
    "shorter_backlog",
    "fairness_weight",
)
#: Telemetry that flows of the tasks on RDMA do without (:func:`spared_attributes`): that of most packets.
RDMA_SPARED: Mapping[str, float] = {"telemetry_every_rtts": 0.2}


@dataclass(frozen=True)
class Field:
    """One field of a telemetry record.

    ``unit`` is that of the value in the record ("1" where normalised), ``normaliser`` names the divisor of
    the raw quantity; values lie in [``low``, ``high``].
    """

    name: str
    unit: str
    normaliser: str
    low: float
    high: float


#: Every field of a record, in its order.
FIELDS: tuple[Field, ...] = tuple(Field(*field) for field in _native.observation_fields())

#: Fields of a switch's port, which only its agent observes.
PORT_FIELDS: tuple[str, ...] = _native.PORT_FIELDS
#: Fields of a port's records that flows' records have as well; the base RTT is the interval of decisions.
TIMES = ("time_ns", "interval_ns", "base_rtt_ns")

#: Position of each field in a record.
INDEX: dict[str, int] = {field.name: i for i, field in enumerate(FIELDS)}


def field_indices(names: Sequence[str]) -> NDArray[np.intp]:
    """Positions of the named fields in a record. Raises KeyError, which names the nearest known field."""
    for name in names:
        if name not in INDEX:
            if is_formula(name):
                raise KeyError(f"{name!r} is a formula: expected a declared field's name")
            near = difflib.get_close_matches(name, INDEX, n=1, cutoff=0.0)
            raise KeyError(f"unknown observation field {name!r}; the nearest known one is {near[0]!r}")
    return np.array([INDEX[name] for name in names], dtype=np.intp)


def is_formula(field: str) -> bool:
    """Returns whether an observed field is a formula: ``NAME = EXPRESSION``."""
    return "=" in field


@cache
def formula(field: str) -> _native.Formula:
    """The formula in an observed field. Raises ValueError, naming the character that is wrong."""
    try:
        return _native.Formula(field)
    except _native.PolicyError as error:
        raise ValueError(str(error)) from None


def declared(fields: Sequence[str]) -> tuple[str, ...]:
    """Declared fields that these observed ones read, each once, in the order in which they need them.

    Raises KeyError for an unknown name, ValueError for a wrong formula.
    """
    read: list[str] = []
    for field in fields:
        read += formula(field).fields if is_formula(field) else [FIELDS[field_indices([field])[0]].name]
    return tuple(dict.fromkeys(read))


def agent_flags(fields: Sequence[str]) -> dict[str, bool]:
    """Attributes of "agent" that request those of these fields that are not always reported, as they cost
    time or bytes."""
    return {_native.REQUESTS[name]: True for name in declared(fields) if name in _native.REQUESTS}


#: Attributes of "agent" that :func:`spared_attributes` gives, by its arguments.
SPARED = {
    "decides_from_bdps": "DecidesFromBdps",
    "telemetry_from_bdps": "TelemetryFromBdps",
    "telemetry_every_rtts": "TelemetryEveryRtts",
}


def spared_attributes(
    decides_from_bdps: float = 0.0, telemetry_from_bdps: float = 0.0, telemetry_every_rtts: float = 0.0
) -> dict[str, float]:
    """Attributes of "agent" for the flows and the packets that a policy does not control; 0: none."""
    values = (decides_from_bdps, telemetry_from_bdps, telemetry_every_rtts)
    return {name: value for name, value in zip(SPARED.values(), values, strict=True) if value}


def wire_bytes(fields: Sequence[str]) -> int:
    """Returns the bytes on the wire that each packet carries for an agent that observes these fields.

    0 for values that a sender knows by itself (its window, its rate, marks, its last action); 8 for a
    timestamp (RTT); 8 more for queue and rate of only the most congested hop; 2 more for the number of flows
    there; 42 for a record of every hop (HPCC's header). Declared with the fields, in
    ``ns3_env/cpp/channel/observation-fields.cc``. Raises as ``declared``.
    """
    return _native.wire_bytes([int(i) for i in field_indices(declared(fields))])


def observation_space(fields: Sequence[str]) -> Box:
    """Box of float32, shape (len(fields),), with each field's declared range, or a formula's."""
    limit = _native.Formula.LIMIT
    chosen = [
        Field(formula(name).name, "1", "", -limit, limit)
        if is_formula(name)
        else FIELDS[field_indices([name])[0]]
        for name in fields
    ]
    return Box(
        low=np.array([field.low for field in chosen], dtype=np.float32),
        high=np.array([field.high for field in chosen], dtype=np.float32),
        dtype=np.float32,
    )


_positions = cache(field_indices)


def telemetry_names(*, ports: bool) -> tuple[str, ...]:
    """Names of the fields that infos have of a flow, or of a port."""
    both = ("time_ns", "interval_ns")
    return tuple(name for name in INDEX if (name in PORT_FIELDS) == ports or name in both)


def columns(records: NDArray[np.float64], fields: Sequence[str]) -> NDArray[Any]:
    """Values (k, len(fields)) of observed fields in records (k, all fields). Raises as ``declared``."""
    if any(map(is_formula, fields)):
        return _native.Reading(list(fields)).observe(records)
    return records[:, _positions(tuple(fields))]


def converted(values: NDArray[Any], fields: Sequence[str]) -> NDArray[Any]:
    """Observations (..., len(fields)) from values (..., D) of the fields ``declared(fields)``."""
    needed = declared(fields)
    if needed == tuple(fields):
        return values
    records = np.zeros((values[..., 0].size, len(FIELDS)))
    records[:, field_indices(needed)] = values.reshape(len(records), -1)
    return columns(records, fields).reshape(*values.shape[:-1], len(fields))


class Records(np.ndarray[tuple[int, int], np.dtype[np.float64]]):
    """Telemetry records (k, fields) whose columns have names: ``records["qlen"]`` is (k,).

    Otherwise an array; ``records.view(Records)`` names the columns of one.
    """

    def __getitem__(self, key: Any) -> Any:
        """A column for a name; anything else as of an array. Raises KeyError, naming the nearest field."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in INDEX:
            raise KeyError(f"unknown field {key!r}{nearest(key, list(INDEX))}")
        return self.view(np.ndarray)[..., INDEX[key]]


def column(records: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """The named field of records (k, fields): shape (k,)."""
    values: NDArray[np.float64] = records[:, INDEX[name]]
    return values


def elapsed(records: NDArray[np.float64]) -> NDArray[np.float64]:
    """Base RTTs since each flow's last decision, before its first one since its start: shape (k,)."""
    return column(records, "interval_ns") / column(records, "base_rtt_ns")


def named(records: NDArray[np.float64]) -> list[dict[str, float]]:
    """The values of each record (k, fields), by name, without those that its transport does not know."""
    return _native.named(records)
