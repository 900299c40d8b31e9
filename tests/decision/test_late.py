# SPDX-License-Identifier: GPL-2.0-or-later
"""Infos that are worked out when somebody looks are dicts and lists to whoever does."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ns3_env.decision.late import LateDict, LateList
from ns3_env.decision.observations import INDEX, Telemetry

PLAIN = {"a": 1, "b": [2]}

LOOKS_AT_A_DICT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "unpacked": lambda d: {**d},
    "keywords": lambda d: dict(**d),
    "updated": lambda d: {"c": 0} | d,
    "or": lambda d: d | {"c": 0},
    "in": lambda d: ("a" in d, "c" in d),
    "get": lambda d: (d.get("a"), d.get("c", 5)),
    "item": lambda d: d["b"],
    "pop": lambda d: (d.pop("a"), dict(d)),
    "set": lambda d: (d.setdefault("c", 3), d.update(a=9), dict(d)),
    "len": lambda d: (len(d), bool(d)),
    "lists": lambda d: (list(d), list(d.items()), list(d.values()), list(reversed(d))),
    "equal": lambda d: (d == PLAIN, PLAIN == d, d != PLAIN),  # noqa: SIM300
    "text": lambda d: (repr(d), str(d), f"{d}"),
    "json": json.dumps,
    "pickle": lambda d: pickle.loads(pickle.dumps(d)),
    "copy": lambda d: (d.copy(), copy.copy(d), copy.deepcopy(d)),
}

LOOKS_AT_A_LIST: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "unpacked": lambda x: [*x],
    "names": lambda x: (lambda a, b, c: (a, b, c))(*x),
    "for": lambda x: [(i, y) for i, y in enumerate(x)],
    "zip": lambda x: list(zip(x, "abc", strict=True)),
    "item": lambda x: (x[0], x[-1], x[1:]),
    "sum": lambda x: (x + [4], [0] + x, x * 2),  # noqa: RUF005
    "len": lambda x: (len(x), bool(x), 2 in x, x.index(3), x.count(1)),
    "set": lambda x: (x.append(4), x.__setitem__(0, 9), list(x)),
    "order": lambda x: (sorted(x), list(reversed(x)), x < [2], x == [1, 2, 3], [1, 2, 3] == x),  # noqa: SIM300
    "array": lambda x: np.array(x).tolist(),
    "extended": lambda x: [0, *x],
    "text": repr,
    "json": json.dumps,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "copy": lambda x: (x.copy(), copy.copy(x), copy.deepcopy(x)),
}


@pytest.mark.parametrize("look", LOOKS_AT_A_DICT.values(), ids=LOOKS_AT_A_DICT)
def test_a_late_dict_shows_what_a_dict_would(look: Callable[[dict[str, Any]], Any]) -> None:
    calls: list[int] = []

    def make() -> dict[str, Any]:
        calls.append(1)
        return copy.deepcopy(PLAIN)

    late = LateDict(make)
    assert isinstance(late, dict)
    assert not calls
    assert look(late) == look(copy.deepcopy(PLAIN))
    assert len(calls) == 1


@pytest.mark.parametrize("look", LOOKS_AT_A_LIST.values(), ids=LOOKS_AT_A_LIST)
def test_a_late_list_shows_what_a_list_would(look: Callable[[list[Any]], Any]) -> None:
    calls: list[int] = []

    def make() -> list[int]:
        calls.append(1)
        return [1, 2, 3]

    late = LateList(make)
    assert isinstance(late, list)
    assert not calls
    assert look(late) == look([1, 2, 3])
    assert len(calls) == 1


def test_telemetry_names_the_known_fields_of_its_own_record() -> None:
    record = np.arange(float(len(INDEX)))
    record[3] = np.nan
    telemetry = Telemetry(record)
    expected = {name: float(i) for name, i in INDEX.items() if i != 3}
    assert telemetry == expected
    assert list(telemetry) == list(expected)
