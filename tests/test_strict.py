# SPDX-License-Identifier: GPL-2.0-or-later
"""Does a fault in a file say where it is and what would be right, whatever model it is in?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.strict import Strict, validate
from ns3_env.yaml_files import parse, read_mapping


class Cat(Strict):
    kind: Literal["cat"] = "cat"
    lives: int = Field(default=9, ge=1)


class Dog(Strict):
    kind: Literal["dog"] = "dog"
    tricks: list[str]


class House(Strict):
    animals: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = Field(default_factory=list)
    best: Annotated[Cat | Dog, Field(discriminator="kind")] = Cat()
    size: float = 1.0


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ({"sise": 2}, ["h.yaml: unknown key 'sise'; the nearest known one is 'size'"]),
        ({"best": {"lifes": 1}}, ["h.yaml: best: Unable to extract tag using discriminator 'kind'"]),
        (
            {"best": {"kind": "cat", "lifes": 1, "ages": 2}},
            [
                "h.yaml: best: unknown key 'lifes'; the nearest known one is 'lives'",
                "h.yaml: best: unknown key 'ages'; the nearest known one is 'lives'",
            ],
        ),
        ({"animals": [{"kind": "dog"}]}, ["h.yaml: animals.0.tricks: Field required"]),
        (
            {"animals": [{"kind": "cat"}, {"kind": "cat", "lives": 0}], "size": []},
            [
                "h.yaml: animals.1.lives: Input should be greater than or equal to 1 (it is 0)",
                "h.yaml: size: Input should be a valid number (it is [])",
            ],
        ),
        ({"size": float("inf")}, ["h.yaml: size: Input should be a finite number (it is inf)"]),
    ],
)
def test_a_fault_is_a_line_with_file_key_and_value(data: dict[str, Any], lines: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        validate(data, House, "h.yaml")
    assert str(caught.value).splitlines() == lines


def test_the_union_of_kinds_names_what_is_known() -> None:
    with pytest.raises(ScenarioError, match=r"^h: best: .*'cow'.*'cat', 'dog'"):
        validate({"best": {"kind": "cow"}}, House, "h", raises=ScenarioError)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    with pytest.raises(ConfigError, match=r"x\.yaml: No such file"):
        read_mapping(file)
    for text, fault in (("a: [", "not YAML"), ("- 1", "expected keys and values, found list")):
        file.write_text(text)
        with pytest.raises(ScenarioError, match=rf"x\.yaml: {fault}"):
            read_mapping(file, ScenarioError)
    file.write_bytes(b"a: \xff")
    with pytest.raises(ConfigError, match=r"x\.yaml: not YAML"):
        read_mapping(file)


def test_values_are_read_as_yaml() -> None:
    assert parse("[1, 2.5, true, null, 100.0e+9, {a: b}]") == [1, 2.5, True, None, 1e11, {"a": "b"}]
