# SPDX-License-Identifier: GPL-2.0-or-later
"""Lookup of the project's own files by name, from any folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ns3_env.config.packaged import DATA, data_names, find_file
from ns3_env.errors import ConfigError


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_bare_name_and_a_path_as_in_a_clone_are_the_projects_own() -> None:
    own = DATA / "configs" / "fdcc.yaml"
    assert own.is_file()
    assert find_file(Path("fdcc"), "configs") == own
    assert find_file(Path("configs/fdcc.yaml"), "configs") == own
    assert find_file(Path("incast"), "curricula").is_file()
    assert "fdcc" in data_names("configs")


def test_a_file_that_is_there_comes_first(tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    for name in ("fdcc", "configs/fdcc.yaml"):
        (tmp_path / name).write_text("mine")
        assert find_file(Path(name), "configs") == Path(name)


def test_a_path_of_ones_own_stays_what_it_is() -> None:
    for name in ("none.yaml", "some/where", "/none", "configs/none.yaml"):
        assert find_file(Path(name), "configs") == Path(name)


def test_an_unknown_name_is_told_which_there_are() -> None:
    with pytest.raises(ConfigError, match=r"fdc: no such file, nor .*courier.*nearest known one is 'fdcc'"):
        find_file(Path("fdc"), "configs")
