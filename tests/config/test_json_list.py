# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists of objects in JSON: the same as read at once, and with their lines."""

from __future__ import annotations

import io
import json

import pytest

from ns3_env.config.json_list import JsonList, open_list


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("count", [0, 1, 3000])
def test_objects_are_those_of_the_whole_list(count: int, indent: int | None) -> None:
    """Some are larger than what is read at a time."""
    content = [{"id": i, "text": '[{,\\"' * (i % 7), "more": list(range(i % 999))} for i in range(count)]
    text = json.dumps(content, indent=indent)
    rows = JsonList(io.StringIO(text + "\n \n"))
    assert list(rows.objects()) == content
    assert rows.line == text.count("\n") + 3


def test_a_fault_has_the_line_of_its_object() -> None:
    data = b'{"head": 1,\n"rows": [\n{"a": 1},\n{"a" 2}]}'
    rows = open_list(data, data.index(b"["))
    with pytest.raises(ValueError, match="no JSON: Expecting ':' delimiter"):
        list(rows.objects(is_all=False))
    assert rows.line == 4


def test_an_object_without_an_end_is_not_read_to_the_end_of_the_file() -> None:
    text = io.StringIO('[{"a": "' + "x" * 1_000_000)
    with pytest.raises(ValueError, match="no object ends within 1000 characters"):
        list(JsonList(text, most=1000).objects())
    assert text.tell() < 300_000
