# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged files of other projects' formats: each is played, or refused in a line."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from tests.samples.job_texts import JSONIZER, MICRO_ASTRA, PING_PONG, SIMAI
from tests.samples.published_texts import MATRIX, TWO_TIERS

INCAST = {"kind": "incast", "flows": 2, "size_bytes": 1000}
STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "x.goal": (PING_PONG, {"traffic": {"kind": "goal", "file": "x.goal"}}),
    "w.txt": (MICRO_ASTRA, {"traffic": {"kind": "workload", "file": "w.txt", "npus": 8}}),
    "s.txt": (SIMAI, {"traffic": {"kind": "workload", "file": "s.txt"}}),
    "m.cm": (MATRIX, {"traffic": {"kind": "connections", "file": "m.cm"}}),
    "t.0.json": (JSONIZER, {"traffic": {"kind": "chakra", "file": "t"}}),
    "t.topo": (TWO_TIERS, {"topology": {"kind": "htsim", "file": "t.topo"}, "traffic": INCAST}),
}


def mutant(text: str, random: np.random.Generator) -> str:
    """A text with something replaced, cut out, doubled or cut off."""
    a, b = sorted(int(x) for x in random.integers(len(text) + 1, size=2))
    b = min(b, a + int(random.integers(1, 30)))
    kind = random.integers(5)
    if kind == 0:
        return (
            text[:a]
            + str(random.choice([*"0-9{}[],:\n\t x>", "1e9", "99999999999999999999", "null"]))
            + text[b:]
        )
    if kind == 1:
        return text[:a] + text[b:]
    if kind == 2:
        return text[:b] + text[a:]
    return text[:a] if kind == 3 and a > len(text) // 2 else text[:a] + text[a + 1 :]


@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_played_or_refused(name: str, tmp_path: Path) -> None:
    random, play_count = np.random.default_rng(1), 0
    refusals: list[str] = []
    text, section = FORMATS[name]
    for rank in range(2):
        (tmp_path / f"t.{rank}.json").write_text(JSONIZER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(150):
            (tmp_path / name).write_text(mutant(text, random))
            try:
                scenario = Scenario.from_mapping({"topology": STAR, **section}, "x.yaml", tmp_path)
            except ScenarioError as error:
                refusals += str(error).splitlines()
                continue
            assert min(scenario.flows().size_bytes) >= 0
            play_count += 1
    assert 0 < play_count < 150
    assert all(line.startswith("x.yaml: ") for line in refusals)
