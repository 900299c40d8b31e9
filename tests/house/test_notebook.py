# SPDX-License-Identifier: GPL-2.0-or-later
"""The notebooks run from their first cells to their last, and contain their outputs."""

import os
import re
from typing import Any

import pytest

from tests.paths import ROOT

nbformat = pytest.importorskip("nbformat", reason="the extra dev is not installed")
nbclient = pytest.importorskip("nbclient", reason="the extra dev is not installed")
pytest.importorskip("ipykernel", reason="the extra dev is not installed")

FOLDER = ROOT / "docs/notebooks"
FIRST_HOUR, THEOREMS = "first-hour", "smcc-theorems"
#: Settings that make a notebook short enough for a test: a training of a second, few random states.
SHORT = {FIRST_HOUR: ("FIRST_HOUR_DECISIONS", "1000"), THEOREMS: ("SMCC_POINTS", "20")}
#: A line of a table: a controller and its numbers.
ROW = re.compile(r"^([a-z][\w-]*) {2,}[\d.].*$", re.MULTILINE)
#: A trained policy differs with the number of decisions.
TRAINED = "mine"
#: A claim and its verdict, and all that is behind it.
CLAIM = re.compile(r"^\| (.+) \| (holds|does not hold|cannot be told) \| .+ \|$", re.MULTILINE)


def stored(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def execute(name: str) -> Any:
    """The notebook, run again."""
    notebook = stored(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(*SHORT[name])
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


def outputs(notebook: Any, kind: str) -> list[str]:
    """All outputs of a kind, as "image/png", in their order."""
    every = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output[kind] for output in every if kind in output]


def said(notebook: Any) -> list[str]:
    """Outputs of each code cell."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in cells]


@pytest.mark.slow
def test_the_first_hours_stored_outputs_are_those_of_today() -> None:
    before, now = said(stored(FIRST_HOUR)), said(execute(FIRST_HOUR))
    assert before[1] == now[1]
    tables = [[ROW.findall(text) for text in texts] for texts in (before, now)]
    assert tables[0] == tables[1]
    assert [len(table) for table in tables[0] if table] == [4, 7, 2]
    rows = [[row[0].split() for text in texts for row in ROW.finditer(text)] for texts in (before, now)]
    same = [[row for row in table if row[0] != TRAINED] for table in rows]
    assert same[0] == same[1]


def test_each_claim_on_smccs_theory_has_the_verdict_that_is_stored() -> None:
    table = outputs(stored(THEOREMS), "text/markdown")[-1]
    claims = dict(CLAIM.findall(table))
    verdicts = list(claims.values())
    assert [verdicts.count(one) for one in ("holds", "does not hold", "cannot be told")] == [7, 2, 2]
    (theorem_3,) = [verdict for text, verdict in claims.items() if "(Theorem 3)" in text]
    assert theorem_3 == "holds"
    assert dict(CLAIM.findall(outputs(execute(THEOREMS), "text/markdown")[-1])) == claims
