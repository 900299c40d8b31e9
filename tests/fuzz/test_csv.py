# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged lists of flows: the flows that they hold, or errors that name the file."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ns3_env.config.bounds import MAX_BYTES, MAX_TIME_NS
from ns3_env.scenario import Scenario
from tests.fuzz.strategies import YAML_TEXTS, cut
from tests.fuzz.tried import attempt

COLUMNS = ["src", "dst", "size_bytes", "start_ns"]
GOOD = "src,dst,size_bytes,start_ns\n0,4,1000,0\n1,4,2000,10\n2,4,30000000,4000\n"

CELLS = st.one_of(
    st.integers(0, 5).map(str),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["", " ", "+1", "1e3", "0x1", "1_000", "٣", "²", '"', '"1"', "1\n", "nan", "9" * 40]),
    YAML_TEXTS,
)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A header, mostly the right one in any order, and rows that are mostly of its length."""
    header = draw(st.one_of(st.permutations(COLUMNS), st.lists(st.sampled_from([*COLUMNS, "x"]), max_size=5)))
    sane = st.tuples(
        st.integers(0, 4).map(str),
        st.integers(0, 4).map(str),
        st.integers(1, 9).map(str),
        st.integers(0, 9).map(str),
    ).map(list)
    rows = draw(st.lists(st.one_of(sane, sane, st.lists(CELLS, min_size=3, max_size=5)), max_size=4))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return "".join(",".join(row) + end for row in [list(header), *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("csv")


@given(
    text=st.one_of(tables(), cut(GOOD)), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])
)
def test_flows_are_those_of_the_file(text: str, encoding: str, folder: Path) -> None:
    path = folder / "flows.csv"
    path.write_bytes(text.encode(encoding, "replace"))
    content = {"traffic": {"kind": "csv", "file": "flows.csv"}, "controllers": [{"name": "hpcc"}]}
    made = attempt("csv", lambda: Scenario.from_mapping(content, "s.yaml", folder), "s.yaml: ")
    if made is None:
        return
    flows = made.flows()
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, *rows = [row for row in csv.reader(file) if row]
    order = [[name.strip() for name in header].index(name) for name in COLUMNS]
    assert len(rows) == len(flows)
    for row, *made_row in zip(rows, flows.src, flows.dst, flows.size_bytes, flows.start_ns, strict=True):
        assert [int(row[i]) for i in order] == made_row
    assert all(1 <= size <= MAX_BYTES for size in flows.size_bytes)
    assert all(0 <= start <= MAX_TIME_NS for start in flows.start_ns)
    assert {*flows.src, *flows.dst} <= {0, 1, 2, 3, 4}
