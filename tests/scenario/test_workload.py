# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads of ASTRA-sim and SimAI: their layers' computation and collectives, in order and groups."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioWarning
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import Flows
from ns3_env.simulator import Simulator
from tests.samples import idle_star
from tests.samples.idle_star import one_way_ns
from tests.samples.job_texts import DLRM, MICRO_ASTRA, SIMAI


def scenario(folder: Path, text: str, **more: Any) -> Scenario:
    (folder / "w.txt").write_text(text)
    return idle_star.scenario(kind="workload", file=str(folder / "w.txt"), **more)


def between(flows: Flows, size: int) -> Counter[tuple[int, int]]:
    """Pairs of ranks with flows of this size."""
    columns = zip(flows.src, flows.dst, flows.size_bytes, strict=True)
    return Counter((src, dst) for src, dst, flow_size in columns if flow_size == size)


def test_a_file_of_astra_sim_plays_as_it_is(tmp_path: Path, simulator: Simulator) -> None:
    job = scenario(tmp_path, MICRO_ASTRA, npus=8)
    results = simulator.play(job)
    assert sum(results["flows"]["size_bytes"]) == 2 * 7 * 1048576
    assert results["totals"]["delivered_payload_bytes"] == 2 * 7 * 1048576
    assert min(results["flows"]["start_ns"]) == 5


def test_the_embedding_of_dlrm_is_waited_for_behind_the_bottom(tmp_path: Path, simulator: Simulator) -> None:
    results = simulator.play(scenario(tmp_path, DLRM, npus=4))
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
    results = simulator.play(scenario(tmp_path, text, npus=2))
    over = 500 + one_way_ns(4000)
    starts = [0, over, over + 40, over + 70, over + 90, over + 390]
    assert sorted(results["steps"]["start_ns"]) == pytest.approx(
        [x for x in starts for _ in range(2)], rel=1e-9
    )
    later = simulator.play(scenario(tmp_path, text, npus=2, unit_ns=1000))
    assert later["flows"]["start_ns"] == [500_000, 500_000]


def test_collectives_of_simai_have_their_groups_and_sizes(tmp_path: Path, simulator: Simulator) -> None:
    """Tensor-parallel pairs, data-parallel ranks every other one, experts of neighbours in the data."""
    job = scenario(tmp_path, SIMAI)
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
    results = simulator.play(scenario(tmp_path, text, npus=2, iterations=2))
    first = results["flows"]["delivered_ns"][:4]
    again = sorted(results["steps"]["start_ns"])[4:6]
    assert again == pytest.approx([max(first)] * 2, rel=1e-9)


def test_what_is_not_played_of_a_file_is_warned_of(tmp_path: Path) -> None:
    stages = SIMAI.replace("ep: 2 pp: 1", "ep: 1 pp: 2")
    with pytest.warns(ScenarioWarning, match="2 stages of the pipeline play beside each other"):
        scenario(tmp_path, stages)
    with pytest.warns(ScenarioWarning, match="1 lines more than the 4 layers announced are a comment"):
        scenario(tmp_path, SIMAI.replace("\n5\n", "\n4\n"))
