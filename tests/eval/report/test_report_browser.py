# SPDX-License-Identifier: GPL-2.0-or-later
"""The report in a real browser: its fit on screen and phone, sorting, ratios, and no requests."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ns3_env.eval.report import write
from tests.samples import report_folder

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium installed (Debian: apt install chromium)"
)


class Tab:
    """A browser's tab, and its requests and failures since the page was opened."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def open(self, page: Path, width: int, dark: bool = False) -> None:
        """Loads a file at a viewport of ``width`` pixels and waits until it and its pictures are loaded."""
        self.page = self.browser.new_page(
            viewport={"width": width, "height": 900},
            is_mobile=width < 600,
            color_scheme="dark" if dark else "light",
        )
        self.requests: list[str] = []
        self.failures: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("requestfailed", lambda request: self.failures.append(request.url))
        self.page.on("pageerror", lambda error: self.failures.append(str(error)))
        self.page.goto(page.absolute().as_uri())
        self.page.wait_for_function("[...document.images].every(x => x.complete)")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        return self.page.evaluate(expression)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with long names, errors and many controllers."""
    names = ["dcqcn", "hpcc", "mpcc", "timely", "swift", "dctcp"]
    controller = {"name": "a-controller-of-mine-with-a-rather-long-name", "controller": "hpcc"}
    path = report_folder.write(
        tmp_path_factory.mktemp("bench") / "run",
        report_folder.suite(scenarios=1, controllers=[*names, controller]),
    )
    report_folder.fail(path, "equal", "hpcc", 2, "SimulatorDied: " + "x" * 400)
    return write(path)


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Tab(browser)
        browser.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_asks_for_nothing(tab: Tab, page: Path, width: int, dark: bool) -> None:
    tab.open(page, width, dark=dark)
    tab.evaluate("document.querySelectorAll('details').forEach(x => x.open = true)")
    assert tab.evaluate("innerWidth") == width
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    first = "[...document.querySelectorAll('tr > :first-child:not([colspan])')]"
    assert tab.evaluate(f"Math.max(...{first}.map(x => x.offsetWidth))") < max(0.6 * width, 300)
    assert tab.evaluate("[...document.images].filter(x => x.naturalWidth == 0).length") == 0
    assert tab.evaluate("document.images.length") > 5
    assert [url for url in tab.requests if not url.startswith("data:")] == [page.as_uri()]
    assert tab.failures == []
    ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, ground[4:-1].split(","))) < 64) == dark


#: Names in the summary's first scenario, from above.
ROWS = "document.querySelector('#summary-table tbody').querySelectorAll('tr[data-controller]')"
NAMES = f"[...{ROWS}].map(row => row.dataset.controller)"


def cell(controller: str, metric: str) -> str:
    """The summary's cell of a controller and a metric."""
    place = f'#summary-table td[data-metric="{metric}"][data-controller="{controller}"]'
    return f"document.querySelector({place!r}).innerText"


@pytest.fixture
def small(tab: Tab, tmp_path: Path) -> Tab:
    """The report of three controllers, of which "fast" is the best and hpcc, on average, the worst."""
    tab.open(write(report_folder.write(tmp_path / "run", report_folder.suite(scenarios=1))), 1280)
    return tab


def test_a_click_sorts_each_scenario_and_the_third_undoes_it(small: Tab) -> None:
    click = "document.querySelectorAll('#summary-table thead th')[{}].click()"
    assert small.evaluate(NAMES) == ["fast", "hpcc", "mpcc"]
    small.evaluate(click.format(2))
    assert small.evaluate(NAMES) == ["fast", "hpcc", "mpcc"]
    assert small.evaluate("document.querySelectorAll('thead th')[2].ariaSort") == "ascending"
    small.evaluate(click.format(2))
    assert small.evaluate(NAMES) == ["mpcc", "hpcc", "fast"]
    last = "document.querySelector('#summary-table tbody').lastElementChild.className"
    assert small.evaluate(last) == "winner"
    small.evaluate(click.format(2))
    assert small.evaluate(NAMES) == ["fast", "hpcc", "mpcc"]
    small.evaluate(click.format(0))
    small.evaluate(click.format(0))
    assert small.evaluate(NAMES) == ["mpcc", "hpcc", "fast"]
    assert small.failures == []


def test_values_are_shown_as_ratios_to_a_chosen_baseline(small: Tab) -> None:
    select = "document.getElementById('baseline')"
    choose = f"(x => {{{{ x.value = '{{}}'; x.dispatchEvent(new Event('change')); }}}})({select})"
    of_mpcc, of_hpcc = (report_folder.SLOWDOWNS[name] for name in ("mpcc", "hpcc"))
    ratios = [a / b for a, b in zip(of_mpcc, of_hpcc, strict=True)]
    geometric = f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}"
    assert geometric != f"{sum(ratios) / len(ratios):.3f}"
    before = small.evaluate(cell("mpcc", "fct_slowdown_avg"))
    assert before.startswith("3.20")
    small.evaluate(choose.format("hpcc"))
    assert small.evaluate(cell("mpcc", "fct_slowdown_avg")) == f"× {geometric}"
    assert small.evaluate(cell("hpcc", "fct_slowdown_avg")) == "× 1.000"
    assert small.evaluate(cell("mpcc", "unfinished_flows")) == "± 0", "of zeros the difference"
    small.evaluate(choose.format(""))
    assert small.evaluate(cell("mpcc", "fct_slowdown_avg")) == before
    assert small.failures == []
