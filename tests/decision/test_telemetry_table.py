# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of the table of observation fields against the enumeration of its fields, at compile time."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.paths import ROOT

TABLE = ROOT / "ns3_env/cpp/channel/observation-fields.cc"


def compiled(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Compiles an observation-fields.cc with this text."""
    source = folder / "observation-fields.cc"
    source.write_text(text, encoding="utf-8")
    options = ["-std=c++20", "-fsyntax-only", f"-I{TABLE.parent}", f"-I{ROOT}"]
    command = [os.environ.get("CXX", "c++"), *options, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("fault", ["none", "swapped", "missing"])
def test_rows_out_of_order_do_not_compile(fault: str, tmp_path: Path) -> None:
    text = TABLE.read_text(encoding="utf-8")
    (first, second) = re.findall(r"^    \{Field::(?:Goodput|RttSlope),.*\n", text, re.MULTILINE)
    faults = {"none": first + second, "swapped": second + first, "missing": first}
    done = compiled(text.replace(first + second, faults[fault]), tmp_path)
    if fault == "none":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0
        assert "the rows of FIELDS must stand in the order of the enumeration Field" in done.stderr
