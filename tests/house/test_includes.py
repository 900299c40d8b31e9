# SPDX-License-Identifier: GPL-2.0-or-later
"""A header compiles by itself: its source includes it first, or the build compiles it alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.paths import ROOT

CPP = ROOT / "ns3_env" / "cpp"
SOURCES = [path for path in sorted(CPP.rglob("*.cc")) if path.with_suffix(".h").exists()]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(CPP)))
def test_a_source_includes_its_own_header_first(source: Path) -> None:
    first = re.search(r'#include ["<](.+)[">]', source.read_text())
    assert first is not None
    assert first[1] == source.with_suffix(".h").name
