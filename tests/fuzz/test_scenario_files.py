# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged topologies, flow lists and size distributions: read, or refused by the file's name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ns3_env.scenario import Scenario
from tests.fuzz.strategies import YAML_TEXTS, cut
from tests.fuzz.tried import attempt
from tests.samples.published_texts import FLOWS, TOPOLOGY

SIZES = "# sizes\n0 0\n1000 50\n1e6 100\n"
WORDS = st.one_of(
    st.integers(-1, 5).map(str),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["1Gbps", "1us", "1e99", "\u0663", "\u00b2", "9" * 40, "0x1", "nan", "1e-3s", "#", "\0"]),
    YAML_TEXTS,
)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with one word replaced, or cut off."""
    if draw(st.booleans()):
        return draw(cut(text))
    words = text.split(" ")
    words[draw(st.integers(0, len(words) - 1))] = draw(WORDS)
    return " ".join(words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@given(topology=damaged(TOPOLOGY), flows=damaged(FLOWS), sizes=damaged(SIZES), which=st.integers(0, 2))
def test_files_are_read_or_refused_by_name(
    topology: str, flows: str, sizes: str, which: int, folder: Path
) -> None:
    whole = [TOPOLOGY, FLOWS, SIZES]
    whole[which] = (topology, flows, sizes)[which]
    for name, text in zip(("topology.txt", "flow.txt", "sizes.txt"), whole, strict=True):
        (folder / name).write_bytes(text.encode("utf-8", "replace"))
    poisson = {"kind": "poisson", "sizes": {"file": "sizes.txt"}, "load": 1e-6, "duration_ns": "1us"}
    content = {
        "time_limit_ns": "3000s",
        "topology": {"kind": "published", "file": "topology.txt"},
        "traffic": {"kind": "mix", "parts": [{"kind": "published", "file": "flow.txt"}, poisson]},
        "controllers": [{"name": "hpcc"}],
    }
    made = attempt("published", lambda: Scenario.from_mapping(content, "s.yaml", folder), "s.yaml: ")
    if made is not None:
        assert made.flow_count >= 2
        assert all(size >= 1 for size in made.flows().size_bytes)
