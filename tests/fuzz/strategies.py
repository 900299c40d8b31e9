# SPDX-License-Identifier: GPL-2.0-or-later
"""Hypothesis strategies for wrong inputs: good files with parts changed, and other texts."""

import copy
from typing import Any

from hypothesis import strategies as st

from tests.scenario.json_places import places

NUMBERS = st.one_of(
    st.sampled_from(
        [-1, 0, 1, 0.5, 1.5, -0.0, 1e-300, 1e12, 1e30, 1e308, 2**31, 2**53 + 1, 2**63, 2**64, 10**20, 10**400]
    ),
    st.integers(),
    st.integers(0, 1 << 70),
    st.floats(),
)
TEXTS = st.one_of(
    st.sampled_from(
        ["", " ", "nan", "inf", "1", "-1", "1e400", "auto", "agent", "hpcc", "true", "\x00", "ñ", "x" * 300]
    ),
    st.text(max_size=20),
)
LEAVES = st.one_of(NUMBERS, TEXTS, st.booleans(), st.none())
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


@st.composite
def changed(draw: st.DrawFn, good: dict[str, Any]) -> dict[str, Any]:
    """``good`` after one to three changes: a value, a key more, a key less, a key of another name."""
    content = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        all_places = list(places(content))
        if not all_places:
            break
        path = draw(st.sampled_from(all_places))
        at = content
        for key in path[:-1]:
            at = at[key]  # type: ignore[index]
        last = path[-1]
        how = draw(st.sampled_from(["value", "number", "near", "near", "near", "less", "more"]))
        if how == "value":
            at[last] = draw(VALUES)  # type: ignore[index]
        elif how == "number":
            at[last] = draw(NUMBERS)  # type: ignore[index]
        elif how == "near":
            at[last] = near(draw, at[last])  # type: ignore[index]
        elif how == "less":
            del at[last]  # type: ignore[arg-type]
        elif isinstance(at, dict):
            at[draw(TEXTS)] = draw(VALUES)
    return content


def near(draw: st.DrawFn, value: Any) -> Any:
    """Draws a similar value that may be valid: bounds are nearby."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        other = draw(st.sampled_from([value + 1, value - 1, value * 2, value // 2, value * 1000, -value]))
        return float(other) if abs(other) < 2**53 and draw(st.booleans()) else other
    if isinstance(value, float):
        return value * draw(st.sampled_from([1.5, 0.5, 10, 1e3, 1e6, -1, 1e-6]))
    return copy.deepcopy(value)


#: YAML's special characters more often than other characters.
YAML_TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="-:?[]{}&*!|>'\"%@`#,\n ab1.<0_~=", max_size=80),
    st.binary(max_size=60).map(lambda data: data.decode("latin-1")),
)


@st.composite
def cut(draw: st.DrawFn, text: str) -> str:
    """``text`` with a part inserted, removed or doubled."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 12))
        piece = draw(st.one_of(YAML_TEXTS, st.just(text[at : at + length] * 2)))
        text = text[:at] + piece + text[at + length :]
    return text
