# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedules in the GOAL language, as LogGOPSim and ATLAHS have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
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
    assert simulator.play(ping_pong.without_files()) == results


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


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("num_ranks 2\nrank 2 {\n}\n", "x.goal:2: rank 2; each of 0 to 1 (num_ranks) may stand once"),
        ("num_ranks 1\nrank 0 {\n", "x.goal:2: the file ends within rank 0"),
        ("num_ranks 1\nrank 0 {\na: dance\n}\n", "x.goal:3: 'a: dance' is none of: [LABEL:] calc NS,"),
        ("num_ranks 1\nrank 0 {\na: send 1b from 0\n}\n", "x.goal:3: 'a: send 1b from 0' is none of"),
        ("num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}", "x.goal:4: there is no operation b before"),
        ("num_ranks 1\nrank 0 {\na: calc 1\na: calc 1\n}\n", "x.goal:4: the label a stands twice"),
        ("num_ranks 2\nrank 0 {\na: recv 1b from -1\n}\n", "x.goal:3: a receive from any rank (-1) is not"),
        ("num_ranks 2\nrank 0 {\na: recv 1b from 1\n}\n", "rank 0 receives from rank 1 what that does not"),
        ("rank 0 {\n}", "x.goal:1: rank 0; each of 0 to -1"),
        ("nodes 3", "x.goal:1: 'nodes 3' where num_ranks N, or rank N {, should stand"),
    ],
)
def test_a_faulty_line_is_named(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as info:
        scenario(tmp_path, text)
    assert fault in str(info.value)
