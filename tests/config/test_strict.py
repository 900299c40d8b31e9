# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of any model: faults by their place, lookup by name, YAML as PyYAML writes it, lists in JSON."""

import io
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from pydantic import Field, create_model

from ns3_env.agents.search.config import NetworkConfig
from ns3_env.config.folders import DATA, data_names, find_file
from ns3_env.config.gone import KEYS
from ns3_env.config.json_list import JsonList, open_list
from ns3_env.config.model import Strict, validate
from ns3_env.config.yaml import parse, put, to_text
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.scenario import Controller, Scenario


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


def test_a_controller_may_be_its_name_alone() -> None:
    short = Scenario.from_mapping({"controllers": ["hpcc", {"name": "agent"}]}, "s")
    assert short.controllers == [Controller(name="hpcc"), Controller(name="agent")]
    assert short.model_dump()["controllers"][0] == {"name": "hpcc", "attributes": {}}


def test_an_override_makes_the_first_entry_of_a_list_that_is_not_there() -> None:
    assert put({}, "controllers.0.name", "hpcc") == {"controllers": [{"name": "hpcc"}]}
    assert put({"a": 1}, "seeds.0", 3) == {"a": 1, "seeds": [3]}
    with pytest.raises(ValueError, match="'1' is no entry of a list that is not there yet: it begins with 0"):
        put({}, "controllers.1.name", "hpcc")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_bare_name_and_a_path_as_in_a_clone_are_the_projects_own(elsewhere: None) -> None:
    file = DATA / "configs" / "fdcc.yaml"
    assert file.is_file()
    assert find_file(Path("fdcc"), "configs") == file
    assert find_file(Path("configs/fdcc.yaml"), "configs") == file
    assert find_file(Path("incast"), "curricula").is_file()
    assert "fdcc" in data_names("configs")


def test_a_file_that_is_there_comes_first(elsewhere: None, tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    for name in ("fdcc", "configs/fdcc.yaml"):
        (tmp_path / name).write_text("mine")
        assert find_file(Path(name), "configs") == Path(name)


def test_a_path_of_ones_own_stays_what_it_is(elsewhere: None) -> None:
    for name in ("none.yaml", "some/where", "/none", "configs/none.yaml"):
        assert find_file(Path(name), "configs") == Path(name)


def test_an_unknown_name_is_told_which_there_are(elsewhere: None) -> None:
    with pytest.raises(
        ConfigError, match=r"fdc: no such file, nor .*dispatcher.*nearest known one is 'fdcc'"
    ):
        find_file(Path("fdc"), "configs")


def models(base: type[Strict]) -> list[type[Strict]]:
    matches = [base] if base.__module__.startswith("ns3_env.scenario") else []
    return matches + [model for child in base.__subclasses__() for model in models(child)]


@pytest.mark.parametrize("word", ["none", "Off", False])
def test_every_key_that_may_be_null_says_so_where_another_word_for_none_stands(word: object) -> None:
    """Except if the word is one of the key's own values."""
    keys: set[str] = set()
    for model in models(Strict):
        for key, form in model.model_json_schema().get("properties", {}).items():
            if {"type": "null"} not in form.get("anyOf", form.get("oneOf", [])) or key in model.none_keys:
                continue
            if word != "none" and {"type": "boolean"} in form.get("anyOf", []):
                continue
            holder = create_model("Holder", __base__=Strict, place=(model, ...))
            with pytest.raises(ConfigError) as error:
                validate({"place": {key: word}}, holder, "x.yaml")
            assert str(error.value) == f"x.yaml: place.{key}: is {word!r}; write null for none", model
            keys.add(key)
    assert keys > {"ecn", "congestion_points", "failures", "pcap", "chunk_bytes", "headroom_frames", "group"}


@pytest.mark.parametrize(
    "text", ["", "8-to-1 within 100 µs: 'all'", "a\\b", "bell \a " * 20, "two\nlines", "😀 " * 40, "- x: 1"]
)
def test_odd_text_is_written_as_pyyaml_writes_it(text: str) -> None:
    content = {"b": text, "a": [1.5e300, None, True, {"n": text}]}
    assert to_text(content) == yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def test_merge_keys_have_a_bound() -> None:
    levels = ["a0: &a0 {k0: 1}"]
    levels += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 8)}]}}" for i in range(1, 9)]
    with pytest.raises(yaml.YAMLError, match=r"merge keys \(<<\) bring in more than 100000 keys"):
        parse("\n".join(levels))


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in KEYS.items() for key in keys])
def test_a_key_that_went_is_accepted_with_the_value_that_holds_and_refused_with_another(
    name: str, key: str
) -> None:
    model = create_model(name, __base__=Strict, kept=(int, 1))
    with pytest.warns(FutureWarning, match=f"key '{key}' went in 0.3: leave it out, 0.4 refuses it"):
        assert validate({"kept": 2, key: KEYS[name][key]}, model, "x.yaml") == model(kept=2)
    with pytest.raises(ConfigError, match=rf"x.yaml: key '{key}' went in 0.3: it is .* now, leave it out"):
        validate({key: -7}, model, "x.yaml")


def test_a_key_with_another_name_works_under_its_earlier_one_with_a_warning() -> None:
    with pytest.warns(FutureWarning, match="key 'history' is 'history_length' since 0.3"):
        config = validate({"fields": ["rtt"], "history": 3}, NetworkConfig, "x.yaml")
    assert config.history_length == 3
    with pytest.raises(
        ConfigError, match=r"x\.yaml: key 'history' is 'history_length' since 0\.3: leave 'history' out"
    ):
        validate({"fields": ["rtt"], "history": 3, "history_length": 3}, NetworkConfig, "x.yaml")


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
