# SPDX-License-Identifier: GPL-2.0-or-later
"""The first hour's notebook runs from its first cell to its last, and holds what comes out."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from tests.paths import ROOT

nbformat = pytest.importorskip("nbformat", reason="the extra dev is not installed")
nbclient = pytest.importorskip("nbclient", reason="the extra dev is not installed")
pytest.importorskip("ipykernel", reason="the extra dev is not installed")

NOTEBOOK = ROOT / "docs/notebooks/first-hour.ipynb"
#: A line of a table: a controller and its numbers.
ROW = re.compile(r"^([a-z][\w-]*) {2,}[\d.].*$", re.MULTILINE)
#: What is trained differs with the number of decisions.
TRAINED = "mine"


@pytest.fixture(scope="module")
def stored() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def played() -> Any:
    """Run again, with a training of a second."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIRST_HOUR_DECISIONS", "1000")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


def said(notebook: Any) -> list[str]:
    """What each cell of code printed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


def pictures(notebook: Any) -> int:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


def test_the_stored_outputs_are_those_of_today(stored: Any, played: Any) -> None:
    before, now = said(stored), said(played)
    assert before[1] == now[1]
    tables = [[ROW.findall(text) for text in texts] for texts in (before, now)]
    assert tables[0] == tables[1]
    assert [len(table) for table in tables[0] if table] == [4, 7, 2]
    rows = [[row[0].split() for text in texts for row in ROW.finditer(text)] for texts in (before, now)]
    same = [[row for row in table if row[0] != TRAINED] for table in rows]
    assert same[0] == same[1]


def test_the_policys_file_plays_as_its_run_does(stored: Any) -> None:
    rows = [row[0].split() for text in said(stored) for row in ROW.finditer(text) if row[1] == TRAINED]
    assert len(rows) == 2
    assert rows[0] == rows[1]


def test_a_constant_window_of_one_bdp_bounds_the_queue_and_pauses_nothing(stored: Any) -> None:
    rows = [row[0].split() for text in said(stored) for row in ROW.finditer(text)]
    ((_, _, _, queue_bytes, _, *_, pauses, _),) = [row for row in rows if row[0] == "constant-window"]
    assert float(queue_bytes.replace(",", "")) < 4 * 85_800, "four flows, a window of one BDP each"
    assert pauses == "0"


def test_its_pictures_are_stored(stored: Any) -> None:
    assert pictures(stored) == 3
    assert NOTEBOOK.stat().st_size < 1_500_000
