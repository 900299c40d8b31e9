# SPDX-License-Identifier: GPL-2.0-or-later
"""A film in Chromium: it plays, zooms, searches, reacts to clicks, and shows the run's values."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from ns3_env.eval.commands.evaluation import main
from tests.samples.files import dumped, rows

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, sync_playwright

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")

SCENARIO = {
    "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4, "uplink_bps": 100e9},
    "traffic": {"kind": "incast", "size_bytes": 100_000, "spread_ns": 5_000},
    "time_limit_ns": 10_000_000,
}
STEP_NS = 500


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A film of two controllers, with every series as CSV next to it."""
    folder = tmp_path_factory.mktemp("film")
    scenario = dumped(folder / "burst.yaml", SCENARIO)
    command = ["run", str(scenario), "--controllers", "dcqcn,hpcc", "--out", str(folder / "out")]
    assert main([*command, "--watch", "--trace", "--queue-series", str(STEP_NS)]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def open_page(out: Path) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.said = []  # type: ignore[attr-defined]
        page.on("console", lambda message: page.said.append(message.text))  # type: ignore[attr-defined]
        page.on("pageerror", lambda error: page.said.append(str(error)))  # type: ignore[attr-defined]
        page.on("request", lambda request: page.said.append(request.url))  # type: ignore[attr-defined]
        page.goto((out / "film.html").as_uri())
        page.wait_for_function("window.film")
        yield page
        messages = [text for text in page.said if text != (out / "film.html").as_uri()]  # type: ignore[attr-defined]
        browser.close()
        assert messages == [], "a console message, an error, or a request for another file"


@pytest.fixture
def page(open_page: Page) -> Page:
    open_page.evaluate(
        "film.choose({kind: 'network', id: -1}); film.clock.show(0, film.clock.end); film.clock.seek(0)"
    )
    open_page.fill("#search", "")
    open_page.evaluate("document.activeElement.blur()")
    return open_page


def now(page: Page) -> float:
    return float(page.evaluate("film.clock.now"))


def test_playing_moves_the_time_and_space_stops_it(page: Page) -> None:
    page.click("#play")
    page.wait_for_function("film.clock.now > 0")
    assert page.inner_text("#play") == "Stop"
    page.keyboard.press("Space")
    assert page.inner_text("#play") == "Play"
    stopped = now(page)
    page.wait_for_timeout(100)
    assert now(page) == stopped
    assert page.inner_text("#now") != "0 ns"


def test_arrows_step_by_a_sample_and_the_keys_zoom(page: Page) -> None:
    page.keyboard.press("ArrowRight")
    assert now(page) == STEP_NS
    page.keyboard.press("Shift+ArrowRight")
    assert now(page) == 11 * STEP_NS
    page.keyboard.press("End")
    assert now(page) == page.evaluate("film.clock.end")
    page.keyboard.press("+")
    assert page.evaluate("film.clock.to - film.clock.from") == pytest.approx(
        page.evaluate("film.clock.end / 2")
    )
    page.keyboard.press("0")
    assert page.evaluate("[film.clock.from, film.clock.to]") == [0, page.evaluate("film.clock.end")]


def test_a_click_in_the_picture_chooses_a_node_or_a_port(page: Page) -> None:
    canvas = page.locator("canvas.network").first
    x, y = page.evaluate("[film.pictures[0].geometry.x[8], film.pictures[0].geometry.y[8]]")
    canvas.click(position={"x": x, "y": y})
    assert page.inner_text("#chosen-name") == "Switch s8"
    lane = page.evaluate("Array.from(film.pictures[0].geometry.lanes.slice(0, 4))")
    canvas.click(position={"x": 0.4 * lane[0] + 0.6 * lane[2], "y": 0.4 * lane[1] + 0.6 * lane[3]})
    assert page.inner_text("#chosen-name") == "Port of h0 to s8, 100 Gb/s"
    page.keyboard.press("Escape")
    assert page.inner_text("#chosen-name") == "Whole network"


def test_a_flow_is_searched_and_clicked_and_its_way_lights_up(page: Page) -> None:
    page.fill("#search", "h3>h7")
    rows = page.locator("#rows tbody tr")
    assert rows.count() == 1
    assert rows.locator("td").nth(1).inner_text() == "h3"
    before = page.evaluate("film.pictures[0].canvas.toDataURL()")
    rows.click()
    assert page.inner_text("#chosen-name") == "Flow 3: h3 → h7, 100 kB"
    assert page.evaluate("film.pictures[0].canvas.toDataURL()") != before
    way = page.evaluate("Array.from(film.runs[0].wayOf(3), (port) => [film.fromOf(port), film.toOf(port)])")
    assert [way[0][0], way[-1][1]] == [3, 7]
    assert len(way) == 4
    assert all(a[1] == b[0] for a, b in pairwise(way))


def said(page: Page, panel: str, controller: str) -> str:
    """The value above a panel's chart."""
    head = page.locator(".panel h3").filter(has_text=panel).locator("div span").filter(has_text=controller)
    return head.inner_text().removeprefix(controller).strip()


@pytest.mark.parametrize("controller", ["dcqcn", "hpcc"])
def test_the_queues_are_those_of_the_file(page: Page, out: Path, controller: str) -> None:
    run = ["dcqcn", "hpcc"].index(controller)
    peers = {(x["node"], x["port"]): int(x["peer"]) for x in rows(out / controller / "queues.csv")}
    series = rows(out / controller / "queue_series.csv")
    for (node, number), peer in peers.items():
        mine = [row for row in series if (row["node"], row["port"]) == (node, number)]
        port = page.evaluate("([node, peer]) => film.portBetween(node, peer)", [int(node), peer])
        at = f"(time) => film.runs[{run}].queueOf({port}, film.runs[{run}].sampleAt(time))"
        pixels = page.evaluate(f"(times) => times.map({at})", [float(row["t_ns"]) for row in mine])
        assert pixels == [int(row["bytes"]) for row in mine]
    growing = next(row for row in series if int(row["bytes"]) > 100_000)
    chosen = int(growing["node"]), peers[growing["node"], growing["port"]]
    page.evaluate("([node, peer]) => film.choose({kind: 'port', id: film.portBetween(node, peer)})", chosen)
    page.evaluate("(time) => film.clock.seek(time)", float(growing["t_ns"]))
    assert said(page, "Queue", controller) == f"{int(growing['bytes']) / 1000:.0f} kB"


def test_windows_and_rates_are_those_of_the_file(page: Page, out: Path) -> None:
    changes = [row for row in rows(out / "hpcc" / "windows.csv") if row["flow"] == "2"]
    time = 10 * STEP_NS
    times = [float(row["t_ns"]) for row in changes]
    assert time not in times
    (last,) = [row for row in changes if float(row["t_ns"]) < time][-1:]
    page.evaluate("film.choose({kind: 'flow', id: 2})")
    page.evaluate("([time]) => film.clock.seek(time)", [time])
    at = "film.runs[1].flowIndex(2, film.runs[1].sampleAt(film.clock.now))"
    assert page.evaluate(f"film.runs[1].window[{at}]") == pytest.approx(float(last["window_bytes"]), rel=1e-6)
    assert page.evaluate(f"film.runs[1].rate[{at}]") == pytest.approx(float(last["rate_bps"]), rel=1e-6)


def test_the_rate_of_a_changing_link_is_drawn_and_its_load_is_a_share_of_it(
    open_page: Page, tmp_path: Path
) -> None:
    """A link of 100 Gb/s falls to 10 Gb/s: its rate is behind the flows' rates, and it is full at either."""
    steps = [{"at_ns": 0, "rate_bps": 100e9}, {"at_ns": 20_000, "rate_bps": 10e9}]
    changing = {
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": {"kind": "incast", "size_bytes": 200_000},
        "time_limit_ns": 10_000_000,
        "link_rates": [{"link": [3, 4], "towards": 4, "steps": steps}],
    }
    scenario = dumped(tmp_path / "changing.yaml", changing)
    command = ["run", str(scenario), "--controllers", "hpcc", "--out", str(tmp_path / "out")]
    assert main([*command, "--watch", "--queue-series", str(STEP_NS)]) == 0
    browser = open_page.context.browser
    assert browser is not None
    page = browser.new_page()
    page.goto((tmp_path / "out" / "film.html").as_uri())
    page.wait_for_function("window.film")
    lines = page.evaluate(
        "film.panels.shown[0].chart.lines.map((line) => [line.name, line.values[20], line.values[60]])"
    )
    assert [name for name, *_ in lines] == ["link", "hpcc"]
    assert lines[0][1:] == pytest.approx([100e9, 10e9])
    port = "film.portBetween(3, 4)"
    loads = page.evaluate(f"[20, 60, 100].map((at) => film.runs[0].loadOf({port}, at, 8))")
    assert loads == pytest.approx([1, 1, 1], abs=0.1)
    assert "grey: the link" in page.inner_text(".panel h3 >> nth=0")
    page.close()
