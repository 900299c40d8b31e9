# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedules in the GOAL language, as LogGOPSim and ATLAHS have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.cpu_time import within_cpu_s
from tests.samples import idle_star
from tests.samples.idle_star import one_way_ns
from tests.samples.job_texts import DISSEMINATION, PING_PONG


def scenario(folder: Path, text: str, **more: Any) -> Scenario:
    (folder / "x.goal").write_text(text)
    return idle_star.scenario(kind="goal", file=str(folder / "x.goal"), **more)


def test_a_schedule_takes_the_time_of_its_messages_and_computation(
    tmp_path: Path, simulator: Simulator
) -> None:
    ping_pong = scenario(tmp_path, PING_PONG, ranks=[3, 5])
    results = simulator.play(ping_pong)
    flows, steps = results["flows"], results["steps"]
    once = one_way_ns(3000)
    assert (flows["src"], flows["dst"]) == ([3, 5], [5, 3])
    assert flows["start_ns"] == pytest.approx([1500, 1500 + once + 700], rel=1e-9)
    assert flows["delivered_ns"] == pytest.approx([1500 + once, 2200 + 2 * once], rel=1e-9)
    assert max(steps["end_ns"]) == pytest.approx(flows["delivered_ns"][1] + 250, rel=1e-9)


def test_a_dissemination_sends_as_many_messages_as_it_says(tmp_path: Path, simulator: Simulator) -> None:
    results = simulator.play(scenario(tmp_path, DISSEMINATION))
    assert results["totals"]["unfinished"] == 0
    assert results["totals"]["delivered_payload_bytes"] == 8
    first, second = results["flows"]["delivered_ns"][:4], results["flows"]["start_ns"][4:]
    assert min(second) >= max(first)


def test_what_irequires_another_begins_with_it(tmp_path: Path, simulator: Simulator) -> None:
    text = (
        "num_ranks 2\nrank 0 {\na: calc 500\nb: calc 4000\nb requires a\nc: calc 100 cpu 1\nc irequires b\n"
    )
    text += "d: send 9b to 1\nd requires c\n}\nrank 1 {\nr: recv 9b from 0\n}\n"
    results = simulator.play(scenario(tmp_path, text))
    assert sorted(results["steps"]["start_ns"]) == [0, 500, 500]
    assert results["flows"]["start_ns"] == [600]


OPERATION = "l1: send 1000b to 1 tag 5\n", "l1: recv 1000b from 0 tag 5\n"


@pytest.mark.parametrize(
    "text",
    [
        "num_ranks 2\n/* by\n a generator */\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n",
        "num_ranks 2\nrank 0 {{ {}}}\nrank 1 {{ {}}}\n",
        "num_ranks 2 // ranks\r\nrank 0 {{\r\n{}}}\r\nrank 1\n{{\n/**/{}}}",
    ],
)
def test_a_schedule_is_read_by_the_grammar_of_its_simulator(text: str, tmp_path: Path) -> None:
    plain = "num_ranks 2\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n"
    as_json = [scenario(tmp_path, x.format(*OPERATION)).to_simulator_json() for x in (plain, text)]
    assert as_json[0] == as_json[1]


@pytest.mark.parametrize(
    ("rank", "start_ns"),
    [
        ("a: calc 500 cpu 0\nb: calc 400 cpu 1\nc: send 9b to 1\nc requires a\nc requires b", 500),
        ("a: calc 500\nb: calc 400\nc: send 9b to 1\nc requires a\nc requires b", 900),
        ("a: calc 500 cpu 2\nb: calc 400 cpu 2\nc: send 9b to 1\nc requires b", 900),
    ],
)
def test_a_cpu_does_one_computation_after_the_other(
    rank: str, start_ns: int, tmp_path: Path, simulator: Simulator
) -> None:
    text = f"num_ranks 2\nrank 0 {{\n{rank}\n}}\nrank 1 {{\nr: recv 9b from 0\n}}\n"
    assert simulator.play(scenario(tmp_path, text))["flows"]["start_ns"] == [start_ns]


def test_a_small_send_is_over_for_its_rank_at_once(tmp_path: Path, simulator: Simulator) -> None:
    text = "num_ranks 3\nrank 0 {\na: calc 100\nb: send 2000b to 1\nb requires a\nc: send 1000b to 2\n"
    text += "c requires b\n}\nrank 1 {\nr: recv 2000b from 0\n}\nrank 2 {\nr: recv 1000b from 0\n}\n"
    starts = {
        eager: simulator.play(scenario(tmp_path, text, eager_bytes=eager))["flows"]["start_ns"]
        for eager in (2000, 1999)
    }
    assert starts[2000] == [100, 100]
    assert starts[1999] == pytest.approx([100, 100 + one_way_ns(2000)], rel=1e-9)


@pytest.mark.parametrize(
    ("tags", "needed", "is_late"), [("-1 -1", "x", 0), ("-1 -1", "y", 1), ("5 -1", "y", 1), ("6 -1", "y", 0)]
)
def test_a_receive_of_any_tag_has_the_first_send_that_is_left(
    tags: str, needed: str, is_late: bool, tmp_path: Path, simulator: Simulator
) -> None:
    first, second = tags.split()
    text = "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 5\nw: calc 90000\nb: send 1000b to 1 tag 6\n"
    text += f"b requires w\nr: recv 9b from 1\n}}\nrank 1 {{\nx: recv 1000b from 0 tag {first}\n"
    text += f"y: recv 1000b from 0 tag {second}\nd: send 9b to 0\nd requires {needed}\n}}\n"
    flows = simulator.play(scenario(tmp_path, text))["flows"]
    start = flows["start_ns"][flows["src"].index(1)]
    assert start == pytest.approx(90000 * is_late + one_way_ns(1000), rel=1e-9)


@pytest.mark.parametrize("word", ["requires", "irequires"])
def test_a_chain_is_read_in_a_time_that_grows_with_its_length(word: str, tmp_path: Path) -> None:
    chain = "".join(f"a{i}: calc 1\na{i} {word} a{i - 1}\n" for i in range(1, 10_000))
    text = f"num_ranks 2\nrank 0 {{\na0: calc 1\n{chain}s: send 1b to 1\n}}\nrank 1 {{\nr: recv 1b from 0\n}}"
    with within_cpu_s(5):
        scenario(tmp_path, text)
