# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedules in the GOAL language of LogGOPSim and ATLAHS, and workloads of ASTRA-sim and SimAI."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioWarning
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import Flows
from ns3_env.simulator import Simulator
from tests.cpu_time import within_cpu_s
from tests.samples import idle_star
from tests.samples.idle_star import one_way_ns
from tests.samples.job_texts import DLRM, PING_PONG, SIMAI


def goal(folder: Path, text: str, **more: Any) -> Scenario:
    (folder / "x.goal").write_text(text)
    return idle_star.scenario(kind="goal", file=str(folder / "x.goal"), **more)


def test_a_schedule_takes_the_time_of_its_messages_and_computation(
    tmp_path: Path, simulator: Simulator
) -> None:
    ping_pong = goal(tmp_path, PING_PONG, ranks=[3, 5])
    results = simulator.play(ping_pong)
    flows, steps = results["flows"], results["steps"]
    once = one_way_ns(3000)
    assert (flows["src"], flows["dst"]) == ([3, 5], [5, 3])
    assert flows["start_ns"] == pytest.approx([1500, 1500 + once + 700], rel=1e-9)
    assert flows["delivered_ns"] == pytest.approx([1500 + once, 2200 + 2 * once], rel=1e-9)
    assert max(steps["end_ns"]) == pytest.approx(flows["delivered_ns"][1] + 250, rel=1e-9)


def test_what_irequires_another_begins_with_it(tmp_path: Path, simulator: Simulator) -> None:
    text = (
        "num_ranks 2\nrank 0 {\na: calc 500\nb: calc 4000\nb requires a\nc: calc 100 cpu 1\nc irequires b\n"
    )
    text += "d: send 9b to 1\nd requires c\n}\nrank 1 {\nr: recv 9b from 0\n}\n"
    results = simulator.play(goal(tmp_path, text))
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
    as_json = [goal(tmp_path, x.format(*OPERATION)).to_simulator_json() for x in (plain, text)]
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
    assert simulator.play(goal(tmp_path, text))["flows"]["start_ns"] == [start_ns]


def test_a_small_send_is_over_for_its_rank_at_once(tmp_path: Path, simulator: Simulator) -> None:
    text = "num_ranks 3\nrank 0 {\na: calc 100\nb: send 2000b to 1\nb requires a\nc: send 1000b to 2\n"
    text += "c requires b\n}\nrank 1 {\nr: recv 2000b from 0\n}\nrank 2 {\nr: recv 1000b from 0\n}\n"
    starts = {
        eager: simulator.play(goal(tmp_path, text, eager_bytes=eager))["flows"]["start_ns"]
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
    flows = simulator.play(goal(tmp_path, text))["flows"]
    start = flows["start_ns"][flows["src"].index(1)]
    assert start == pytest.approx(90000 * is_late + one_way_ns(1000), rel=1e-9)


@pytest.mark.parametrize("word", ["requires", "irequires"])
def test_a_chain_is_read_in_a_time_that_grows_with_its_length(word: str, tmp_path: Path) -> None:
    chain = "".join(f"a{i}: calc 1\na{i} {word} a{i - 1}\n" for i in range(1, 10_000))
    text = f"num_ranks 2\nrank 0 {{\na0: calc 1\n{chain}s: send 1b to 1\n}}\nrank 1 {{\nr: recv 1b from 0\n}}"
    with within_cpu_s(5):
        goal(tmp_path, text)


def workload(folder: Path, text: str, **more: Any) -> Scenario:
    (folder / "w.txt").write_text(text)
    return idle_star.scenario(kind="workload", file=str(folder / "w.txt"), **more)


def between(flows: Flows, size: int) -> Counter[tuple[int, int]]:
    """Pairs of ranks with flows of this size."""
    columns = zip(flows.src, flows.dst, flows.size_bytes, strict=True)
    return Counter((src, dst) for src, dst, flow_size in columns if flow_size == size)


def test_the_embedding_of_dlrm_is_waited_for_behind_the_bottom(tmp_path: Path, simulator: Simulator) -> None:
    results = simulator.play(workload(tmp_path, DLRM, npus=4))
    sums = 13312 + 524288 * 4 + 16384 + 1064960
    assert sum(results["flows"]["size_bytes"]) == 2 * 3 * sums + 2 * 3 * 98304
    starts = sorted(results["steps"]["start_ns"])
    assert starts[:20] == [x for x in (0, 300, 1580, 4140, 6700) for _ in range(4)]
    flows = results["flows"]
    ends = {
        rank: max(
            end
            for src, dst, end in zip(
                flows["src"][:12], flows["dst"][:12], flows["delivered_ns"], strict=False
            )
            if rank in (src, dst)
        )
        for rank in range(4)
    }
    assert min(ends.values()) > 7500, "the all-to-all takes longer than the bottom's layers"
    assert starts[20:24] == pytest.approx(sorted(ends.values()), rel=1e-9)


def test_a_layer_s_time_is_that_of_its_parts(tmp_path: Path, simulator: Simulator) -> None:
    """Two ranks: computation, an all-to-all that is waited for, the next layer."""
    text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n2\n"
    text += "a -1 500 ALLTOALL 8000 300 NONE 0 200 NONE 0 1\nb -1 40 NONE 0 30 NONE 0 20 NONE 0 1\n"
    results = simulator.play(workload(tmp_path, text, npus=2))
    over = 500 + one_way_ns(4000)
    starts = [0, over, over + 40, over + 70, over + 90, over + 390]
    assert sorted(results["steps"]["start_ns"]) == pytest.approx(
        [x for x in starts for _ in range(2)], rel=1e-9
    )
    later = simulator.play(workload(tmp_path, text, npus=2, unit_ns=1000))
    assert later["flows"]["start_ns"] == [500_000, 500_000]


def test_collectives_of_simai_have_their_groups_and_sizes(tmp_path: Path, simulator: Simulator) -> None:
    """Tensor-parallel pairs, data-parallel ranks every other one, experts of neighbours in the data."""
    job = workload(tmp_path, SIMAI)
    flows = job.flows()
    tensor, experts = ({(r, r ^ step) for r in range(8)} for step in (1, 2))
    data, same_experts = ({(r, (r + step) % 8) for r in range(8)} for step in (2, 4))
    assert between(flows, 2200) == dict.fromkeys(tensor, 2), "4400 B summed: two rounds of a half"
    assert between(flows, 1000) == dict.fromkeys(tensor, 1), "each has 1000 B of 2000 gathered"
    assert between(flows, 2000) == dict.fromkeys(data, 3), "three rounds of a quarter of 8000"
    assert between(flows, 5000) == dict.fromkeys(experts, 2), "forward and backward"
    assert between(flows, 3000) == dict.fromkeys(same_experts, 1)
    assert sum(flows.size_bytes) == 8 * (2 * 2200 + 1000 + 3 * 2000 + 2 * 5000 + 3000)
    results = simulator.play(job)
    assert results["totals"]["unfinished"] == 0


def test_iterations_wait_for_the_sums_of_gradients(tmp_path: Path, simulator: Simulator) -> None:
    text = "DATA\n1\na -1 100 NONE 0 0 NONE 0 50 ALLREDUCE 4000 1\n"
    results = simulator.play(workload(tmp_path, text, npus=2, iterations=2))
    first = results["flows"]["delivered_ns"][:4]
    again = sorted(results["steps"]["start_ns"])[4:6]
    assert again == pytest.approx([max(first)] * 2, rel=1e-9)


def test_what_is_not_played_of_a_file_is_warned_of(tmp_path: Path) -> None:
    stages = SIMAI.replace("ep: 2 pp: 1", "ep: 1 pp: 2")
    with pytest.warns(ScenarioWarning, match="2 stages of the pipeline play beside each other"):
        workload(tmp_path, stages)
    with pytest.warns(ScenarioWarning, match="1 lines more than the 4 layers announced are a comment"):
        workload(tmp_path, SIMAI.replace("\n5\n", "\n4\n"))


def test_ranks_of_one_host_send_each_other_nothing_over_the_network(
    tmp_path: Path, simulator: Simulator
) -> None:
    """Rank 0 passes 1 MB to rank 1 of its host, which passes it to rank 2 of another: one flow, at once."""
    text = "num_ranks 3\nrank 0 {\na: calc 500\nb: send 1000000b to 1\nb requires a\n}\n"
    text += "rank 1 {\nc: recv 1000000b from 0\nd: send 1000000b to 2\nd requires c\n}\n"
    text += "rank 2 {\nrecv 1000000b from 1\n}\n"
    results = simulator.play(goal(tmp_path, text, ranks=[4, 4, 6]))
    flows = results["flows"]
    assert (flows["src"], flows["dst"], flows["start_ns"]) == ([4], [6], [500])


def test_a_ring_over_two_hosts_waits_for_its_rounds_within_them(simulator: Simulator) -> None:
    """Of the 24 sends of four ranks on two hosts half are between hosts; a round within takes no time."""
    ring = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 12000, "ranks": [0, 0, 1, 1]}
    for chunk_bytes, pieces in ((None, 1), (1000, 3)):
        flows = simulator.play(idle_star.scenario(**ring, chunk_bytes=chunk_bytes))["flows"]
        assert set(zip(flows["src"], flows["dst"], strict=True)) == {(0, 1), (1, 0)}
        assert (len(flows["src"]), sum(flows["size_bytes"])) == (12 * pieces, 36000)
        if pieces == 1:
            assert flows["start_ns"] == [0] * 4 + flows["delivered_ns"][:8]
