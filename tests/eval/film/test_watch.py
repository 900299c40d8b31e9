# SPDX-License-Identifier: GPL-2.0-or-later
"""``run --watch`` and ``plot watch``: the page that they write, and their refusals."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.film.page import MARK, render
from tests.samples.files import dumped

SCENARIO = {
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 60_000},
    "time_limit_ns": 10_000_000,
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return dumped(tmp_path / "three.yaml", SCENARIO)


def watch(scenario: Path, out: Path, *more: str) -> int:
    return main(["run", str(scenario), "--controllers", "hpcc,mpcc", "--out", str(out), "--watch", *more])


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the film of two controllers; a test that changes it takes a copy."""
    folder = tmp_path_factory.mktemp("watched")
    assert watch(dumped(folder / "three.yaml", SCENARIO), folder / "out") == 0
    return folder / "out"


@pytest.fixture
def out(watched: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(watched, tmp_path / "copy"))


def test_the_film_is_one_file_that_names_no_other(watched: Path) -> None:
    page = (watched / "film.html").read_text()
    assert page.startswith(MARK)
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not any(name in markup for name in ("src=", "href=", "url(", "@import"))
    assert "Permission is hereby granted" in page
    assert sorted(path.name for path in (watched / "hpcc").iterdir()) == [
        "config.yaml",
        "film.npz",
        "flows.csv",
        "metrics.json",
        "queues.csv",
    ]


def test_the_film_is_written_again_from_the_folders(scenario: Path, out: Path) -> None:
    first = (out / "film.html").read_bytes()
    (out / "film.html").unlink()
    assert main(["plot", "watch", str(out)]) == 0
    assert (out / "film.html").read_bytes() == first
    assert watch(scenario, out) == 0  # an earlier film is replaced


def test_what_is_no_film_is_not_replaced_and_nothing_is_simulated(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "film.html").write_text("mine")
    assert watch(scenario, out) == 2
    assert "is no film of an earlier run" in capsys.readouterr().err.replace("\n", "")
    assert [path.name for path in out.iterdir()] == ["film.html"]
    assert main(["plot", "watch", str(tmp_path)]) == 2
    assert "run SCENARIO --watch" in capsys.readouterr().err.replace("\n", " ")


def test_a_damaged_recording_is_one_line(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut, with bytes of another value, with arrays of other shapes, and with indices that are nowhere."""
    file = out / "hpcc" / "film.npz"
    whole = file.read_bytes()
    random = np.random.default_rng(1)
    mutants = [whole[:end] for end in random.integers(len(whole), size=8)]
    mutants += [
        whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]
        for place, bit in zip(random.integers(len(whole), size=20), random.integers(8, size=20), strict=True)
    ]
    with np.load(BytesIO(whole)) as arrays:
        contents = dict(arrays)
    for name, array in contents.items():
        for other in (array[..., :-1], array[:0], array + 10**6, array.astype(object), array.astype("U9")):
            packed = BytesIO()
            np.savez_compressed(packed, **{**contents, name: other})
            mutants.append(packed.getvalue())
    capsys.readouterr()
    for mutant in [*mutants, b"", b"\x80\x04.", b"\x93NUMPY"]:
        file.write_bytes(mutant)
        code = main(["plot", "watch", str(out)])
        message = capsys.readouterr().err
        assert code in (0, 2)
        assert message.count("\n") == (1 if code else 0), message
        assert code == 0 or message.startswith(f"error: {out}")


def test_hostile_names_stay_text() -> None:
    """Names that end a script, start a comment in one, or are a placeholder of a part."""
    names = [
        "[[content]]",
        "[[script]]",
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "\"'`${x}\\1",
    ]
    runs = [{"name": name} for name in names]
    for title in names:
        page = render({"title": title, "runs": runs})
        tags = re.findall(r"<(/?script|!--)", page.replace(MARK, ""))
        assert tags == ["script", "/script"] * 3
        (content,) = re.findall(r'<script id="content" type="application/json">(.*?)</script>', page)
        assert json.loads(content) == {"title": title, "runs": runs}
        (heading,) = re.findall(r"<title>(.*) · film</title>", page)
        assert unescape(heading) == title
