# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of refusals in tests/data/refusals.yaml."""

import re
from collections.abc import Mapping
from typing import Any

from ns3_env.config.yaml import parse, put, read_mapping
from tests.paths import DATA

#: Tables of scenarios that Python accepts, and of contents that are no scenarios.
INSIDE = ("inside the simulator", "no way per packet")
OTHERS = ("policy header", "suite")


def refusals(*names: str) -> list[tuple[dict[str, Any], str]]:
    """Contents of scenarios and the sentences on them, of these tables."""
    tables = read_mapping(DATA / "refusals.yaml")
    return [
        (changed(tables[name]["base"], text.strip()), sentence.strip())
        for name in names
        for text, sentence in re.findall(r"(.+?)\s+-> ([^\n]+)", tables[name]["rows"], re.DOTALL)
    ]


def scenario_tables() -> list[str]:
    """Tables of scenarios that Python refuses."""
    return [name for name in read_mapping(DATA / "refusals.yaml") if name not in (*INSIDE, *OTHERS)]


def fits(sentence: str, line: str, source: str = "s.yaml") -> bool:
    """Whether the line starts with this sentence on the source; " ... " matches any words."""
    words = ".*".join(re.escape(part.strip()) for part in f" {sentence}".split(" ... "))
    return re.match(f"{re.escape(source)}: {words}", line) is not None


def changed(base: Mapping[str, Any], yaml_text: str) -> dict[str, Any]:
    """A mapping with the YAML's keys, each of which may be the dotted path of a place in it."""
    content = dict(base)
    for key, value in parse(yaml_text).items():
        content = put(content, str(key), value)
    return content
