# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of the controllers' pinned curves, drawn by ``python -m eval plot curves``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.output.curves import CURVES, draw_curves
from ns3_env.simulator import list_controllers

BUILT_IN = {
    *(
        "bcn",
        "dcqcn",
        "dctcp",
        "fixed-window",
        "hpcc",
        "hpcc-pint",
        "mpcc",
        "nscc",
        "oracle",
        "powertcp",
        "qcn",
    ),
    *("qcn", "smcc", "swift", "theta-powertcp", "timely"),
}
#: Controllers of which curves lie in the source tree.
PINNED = {path.name.rsplit("-", 1)[0] for path in CURVES.glob("*to1.csv")}
PNG = b"\x89PNG\r\n\x1a\n"


def test_every_pinned_controller_has_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "curves", "--out", str(tmp_path / "new" / "folder")]) == 0
    pictures = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert {path.stem for path in pictures} == PINNED
    assert all(path.read_bytes().startswith(PNG) for path in pictures)


def test_the_built_in_controllers_are_pinned_and_only_what_there_is() -> None:
    assert BUILT_IN <= PINNED <= set(list_controllers())
    assert {path.name for name in PINNED for path in CURVES.glob(f"{name}-*")} == {
        f"{name}-{senders}to1.csv" for name in PINNED for senders in (2, 8)
    }


def test_a_folder_without_curves_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no curves here"):
        draw_curves(tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_folder_where_a_picture_belongs_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "dctcp.png").mkdir()
    with pytest.raises(ScenarioError, match=r"dctcp\.png was not drawn here"):
        draw_curves(tmp_path)
