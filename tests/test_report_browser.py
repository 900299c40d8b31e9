# SPDX-License-Identifier: GPL-2.0-or-later
"""Does the report fit a screen and a phone in a real browser, and ask for nothing?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ns3_env.eval.report import write
from tests import report_folder
from tests.browser import Browser, browser, find_chromium

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium installed (Debian: apt install chromium)"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with long names, errors and many controllers."""
    names = ["dcqcn", "hpcc", "mpcc", "timely", "swift", "dctcp"]
    own = {"name": "a-controller-of-mine-with-a-rather-long-name", "controller": "hpcc"}
    path = report_folder.write(
        tmp_path_factory.mktemp("bench") / "run", report_folder.suite(scenarios=1, controllers=[*names, own])
    )
    report_folder.fail(path, "equal", "hpcc", 2, "SimulatorDied: " + "x" * 400)
    return write(path)


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with browser(CHROMIUM) as opened:
        yield opened


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_asks_for_nothing(tab: Browser, page: Path, width: int, dark: bool) -> None:
    tab.open(page, width, dark=dark)
    tab.evaluate("document.querySelectorAll('details').forEach(x => x.open = true)")
    assert tab.evaluate("innerWidth") == width
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    first = "[...document.querySelectorAll('tr > :first-child:not([colspan])')]"
    assert tab.evaluate(f"Math.max(...{first}.map(x => x.offsetWidth))") < max(0.6 * width, 300)
    assert tab.evaluate("[...document.images].filter(x => x.naturalWidth == 0).length") == 0
    assert tab.evaluate("document.images.length") > 5
    assert tab.requests() == [page.as_uri()]
    assert tab.failures() == []
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, ground[4:-1].split(","))) < 64) == dark
