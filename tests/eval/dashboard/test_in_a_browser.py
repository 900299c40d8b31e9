# SPDX-License-Identifier: GPL-2.0-or-later
"""The dashboard in Chromium: runs side by side, the values of their files, rows as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ns3_env.eval.dashboard.server import Dashboard
from tests.eval.dashboard import samples
from tests.eval.report.browser import find_chromium

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, sync_playwright

BROWSER = find_chromium()
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1440, "height": 900})
        browser.close()


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return [samples.write(tmp_path / "one"), samples.write(tmp_path / "two", 10, 3.0, seed=2)]


@pytest.fixture
def page(tab: Page, runs: list[Path]) -> Iterator[Page]:
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    with Dashboard(lambda: runs) as dashboard:
        tab.goto(dashboard.address)
        tab.wait_for_function("window.dashboard && dashboard.all.length")
        yield tab
        tab.goto("about:blank")
    assert said == [], "a console message or an error"


def panel(page: Page, column: str) -> list[str]:
    """What stands above a panel's chart."""
    return page.locator(f'.panel[data-column="{column}"] h3 div span').all_inner_texts()


def test_two_runs_stand_side_by_side_with_the_values_of_their_files(page: Page) -> None:
    boxes = [page.locator(f'.run[data-run="{name}"]').bounding_box() for name in ("one", "two")]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    assert panel(page, "curriculum/stage") == ["4-to-1", "2"]
    assert panel(page, "train/actor_loss") == ["6", "30"]
    assert panel(page, "validation/score") == ["-1", "-3"]
    assert panel(page, "validation_episode/queue_bytes") == ["6 kB", "30 kB"]
    assert panel(page, "decisions a second") == ["5", "5"]
    card = page.inner_text('.run[data-run="two"]')
    for text in ("fdcc, seed 2", "learning 80 %", "1,000 of 2,000 decisions · 50 %", "90 %"):
        assert text in card
    for i, (rows, scale) in enumerate(((6, 1.0), (10, 3.0))):
        found = page.evaluate(f"dashboard.runs[{i}].column('episode/reward')")
        assert found == [-scale / number for number in range(1, rows + 1)]
        drawn = page.evaluate(f"dashboard.all.find((x) => x.what.column === 'train/actor_loss').lines[{i}]")
        assert drawn == [[100 * number, scale * number] for number in range(1, rows + 1)]


def test_new_rows_appear_while_they_are_written(page: Page, runs: list[Path]) -> None:
    samples.add(runs[0], samples.row(7)[:9])
    page.wait_for_timeout(2000)
    assert page.evaluate("dashboard.runs[0].rows.length") == 6
    samples.add(runs[0], samples.row(7)[9:] + "\n" + samples.row(8) + "\n")
    page.wait_for_function("dashboard.runs[0].rows.length === 8")
    assert panel(page, "train/actor_loss") == ["8", "30"]
    assert page.evaluate("dashboard.runs[0].column('time/total_timesteps')") == [100 * n for n in range(1, 9)]


def test_a_run_that_begins_is_shown(page: Page, runs: list[Path]) -> None:
    runs.append(samples.write(runs[0].parent / "three", 2))
    page.wait_for_selector('.run[data-run="three"]')
    assert len(panel(page, "episode/reward")) == 3


def test_keys_stop_zoom_and_hide(page: Page) -> None:
    page.keyboard.press("Space")
    assert page.inner_text("#follow") == "Follow"
    page.keyboard.press("Space")
    assert page.inner_text("#follow") == "Following"
    whole = page.evaluate("dashboard.span()")
    page.keyboard.press("+")
    near = page.evaluate("dashboard.all[0].graph.xAxisRange()")
    assert near == [pytest.approx((whole[0] + whole[1]) / 2), whole[1]]
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("dashboard.span()[1]") < whole[1]
    page.keyboard.press("0")
    assert page.evaluate("dashboard.all[0].graph.xAxisRange()") == whole
    page.keyboard.press("2")
    assert panel(page, "train/actor_loss") == ["6"]
    page.click('.run[data-run="two"] button')
    assert panel(page, "train/actor_loss") == ["6", "30"]


def test_the_pointer_shows_the_values_there(page: Page) -> None:
    chart = page.locator('.panel[data-column="train/actor_loss"] .chart')
    x = page.evaluate(
        "dashboard.all.find((x) => x.what.column === 'train/actor_loss').graph.toDomXCoord(300)"
    )
    chart.hover(position={"x": x, "y": 60})
    assert panel(page, "train/actor_loss") == ["3", "9"]
    assert panel(page, "curriculum/stage") == ["2-to-1", "2-to-1"]
    page.mouse.move(5, 5)
    assert panel(page, "train/actor_loss") == ["6", "30"]


def test_wall_time_takes_the_place_of_decisions(page: Page) -> None:
    page.select_option("#over", "hours")
    assert page.evaluate("dashboard.all[0].lines[0].at(-1)[0]") == pytest.approx(120 / 3600)


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(390, 844, "dark"), (800, 1000, "light"), (1440, 900, "dark")]
)
def test_nothing_is_wider_than_the_screen(page: Page, width: int, height: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1440, "height": 900})


def test_the_end_of_the_server_is_said(tab: Page, runs: list[Path]) -> None:
    with Dashboard(lambda: runs) as dashboard:
        tab.goto(dashboard.address)
        tab.wait_for_function("window.dashboard && dashboard.all.length")
    tab.wait_for_selector("#facts.gone")
    assert "has ended" in tab.inner_text("#facts")
    assert len(panel(tab, "episode/reward")) == 2
