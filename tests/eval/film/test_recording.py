# SPDX-License-Identifier: GPL-2.0-or-later
"""Data of a film, and its page: samples that add up to a run's results, places of nodes, arrays."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.film.content import bins, flows_over_time, pack, ports_over_time, rates_over_time
from ns3_env.eval.film.layout import places
from ns3_env.eval.film.page import MARK, render
from ns3_env.eval.film.recording import Recording
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Cluster, FatTree3, Network, ParkingLot
from ns3_env.simulator import Simulator
from tests.samples.files import dumped

STEP_NS = 500


def played(**more: Any) -> dict[str, Any]:
    """Results of eight flows into one host of a dumbbell, with PFC's pauses."""
    content = {
        "topology": {"kind": "dumbbell", "senders": 8},
        "traffic": {"kind": "incast", "size_bytes": 200_000},
        "controllers": [{"name": "hpcc"}],
        "record": {"film_ns": STEP_NS, "queue_series_ns": STEP_NS, "windows": True},
        "time_limit_ns": 10_000_000,
        **({} if more.get("transport") == "tcp" else {"switch": {"buffer_bytes": 600_000}}),
        **more,
    }
    with Simulator() as simulator:
        return simulator.play(Scenario.from_mapping(content, "film"))


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return played()


@pytest.fixture(scope="module")
def recording(results: dict[str, Any]) -> Recording:
    return Recording.of(results)


def index(recording: Recording) -> dict[tuple[int, int], int]:
    return {(int(node), int(peer)): i for i, (node, _, peer, _) in enumerate(recording.ports)}


@pytest.mark.parametrize("factor", [1, 4])
def test_what_ports_sent_and_how_long_they_paused_adds_up_to_the_results(
    results: dict[str, Any], recording: Recording, factor: int
) -> None:
    at = index(recording)
    ports = ports_over_time(recording, at, factor)
    assert results["totals"]["pfc_frames"] > 0
    for queue in results["queues"]:
        row = at[queue["node"], queue["peer"]]
        assert ports.sent[row].sum() == queue["tx_bytes"]
        assert ports.paused[row].sum() == int(queue["paused_ns"])
    hosts = [at[host, 9] for host in range(8)]
    assert ports.paused[hosts].sum() == pytest.approx(results["totals"]["host_pause_ns"], abs=8)


def test_a_changing_links_rate_is_the_mean_since_the_sample_before() -> None:
    """10 Mb/s for 3 ms and nothing for 1 ms, again and again; the last sample is in the third repetition."""
    schedule = {"at_ns": (0, 3_000_000), "rate_bps": (10e6, 0.0), "period_ns": 4_000_000}
    t_ns = np.array([0, 2e6, 4e6, 6e6, 8e6, 9e6])
    assert rates_over_time(schedule, t_ns, 1) == pytest.approx([10e6, 10e6, 5e6, 10e6, 5e6, 10e6])
    assert rates_over_time(schedule, t_ns, 2) == pytest.approx([10e6, 7.5e6, 7.5e6, 10e6])
    assert rates_over_time({**schedule, "period_ns": -1}, t_ns, 4) == pytest.approx([10e6, 30e6 / 8, 0])


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_queues_are_as_long_as_in_their_own_series(results: dict[str, Any], transport: str) -> None:
    if transport == "tcp":
        results = played(transport="tcp", controllers=[{"name": "cubic"}])
    recording = Recording.of(results)
    at = index(recording)
    ports = ports_over_time(recording, at, 1)
    for queue in results["queues"]:
        series = queue["series"]["bytes"]
        queues = ports.queue[at[queue["node"], queue["peer"]]]
        assert queues[: len(series)].tolist() == series


def test_of_several_samples_in_a_bin_the_longest_queue_is_kept(recording: Recording) -> None:
    at = index(recording)
    fine, coarse = (ports_over_time(recording, at, factor).queue for factor in (1, 4))
    n = fine.shape[1]
    assert coarse.shape[1] == bins(n, 4)
    for column in range(1, coarse.shape[1]):
        inside = fine[:, 4 * (column - 1) + 1 : min(4 * column, n - 1) + 1]
        assert (coarse[:, column] == inside.max(axis=1)).all()


@pytest.mark.parametrize("also", [True, False], ids=["with windows.csv", "alone"])
@pytest.mark.parametrize(("transport", "controller"), [("rdma", "hpcc"), ("tcp", "cubic")])
def test_windows_and_rates_are_those_of_the_last_change(transport: str, controller: str, also: bool) -> None:
    mine: dict[str, Any] = {"transport": transport, "controllers": [{"name": controller}]}
    results = played(**mine)
    recording = Recording.of(results if also else played(**mine, record={"film_ns": STEP_NS}))
    series = flows_over_time(recording, 1)
    for flow in range(8):
        changes = [row for row in results["windows"] if row[1] == flow]
        begin, end = series.offset[flow], series.offset[flow + 1]
        compared = 0
        for i in range(int(end - begin) - 1):  # the last sample is the flow's end
            time = recording.t_ns[series.first[flow] + i]
            before = [row for row in changes if row[0] < time]
            if before and not any(row[0] == time for row in changes):
                window, rate = (np.inf if value is None else np.float32(value) for value in before[-1][2:])
                assert (series.window[begin + i], series.rate[begin + i]) == (window, rate)
                compared += 1
        assert compared > 10
        assert series.acked[begin:end].sum() == results["flows"]["acked_bytes"][flow]


def test_a_flow_alone_has_its_base_rtt() -> None:
    alone = Recording.of(
        played(
            topology={"kind": "dumbbell", "senders": 1},
            traffic={"kind": "incast", "size_bytes": 3_000_000},
            controllers=[{"name": "fixed-window"}],
        )
    )
    rtt = flows_over_time(alone, 1).rtt
    assert np.nanmedian(rtt) == pytest.approx(alone.flows[0, 5], rel=0.1)


def test_nothing_is_recorded_unless_it_is_asked_for() -> None:
    assert "film" not in played(record={})
    sent = Scenario.from_mapping({"topology": {"kind": "dumbbell"}}, "film").to_simulator_json()
    assert "film_ns" not in sent["record"]


def test_losses_are_seen_where_and_when_they_happen() -> None:
    lossy = played(switch={"pfc": False, "buffer_bytes": 100_000})
    recording = Recording.of(lossy)
    assert recording.losses[:, 3].sum() == lossy["totals"]["dropped_packets"] > 0
    assert set(recording.losses[:, 1]) == {9}


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_each_flow_has_its_way_from_host_to_host(transport: str) -> None:
    recording = Recording.of(
        played(
            transport=transport,
            topology={"kind": "fat_tree_3"},
            traffic={"kind": "incast", "size_bytes": 20_000},
            controllers=[{"name": "hpcc" if transport == "rdma" else "cubic"}],
            time_limit_ns=1_000_000_000,
            **({"switch": {}} if transport == "rdma" else {}),
        )
    )
    peers = {(int(node), int(port)): int(peer) for node, port, peer, _ in recording.ports}
    for flow, (src, dst, *_) in enumerate(recording.flows):
        at = int(src)
        for _, node, port in recording.hops[recording.hops[:, 0] == flow]:
            assert node == at
            at = peers[int(node), int(port)]
        assert at == dst


def test_tiers_lie_above_each_other_and_chains_beside_each_other() -> None:
    tree = FatTree3()
    height = places(tree.build())[:, 1]
    assert height[:16].min() > height[16:20].max() > height[20:24].max() > height[24:].max()
    chain = places(ParkingLot(switches=5).build())
    assert (np.diff(chain[6:, 0]) > 0).all()
    ring = Network()
    hosts, switches = ring.add("host", 3), ring.add("switch", 3)
    ring.attach(hosts, switches, 1e9, 1)
    for a, b in ((3, 4), (4, 5), (3, 5)):
        ring.mesh([a], [b], 1e9, 1)
    assert len(np.unique(places(ring).round(3), axis=0)) == 6
    cluster = Cluster(nodes=2, gpus_per_node=2).build()
    assert len(np.unique(places(cluster).round(3), axis=0)) == len(cluster.nodes)


def test_packed_numbers_come_back() -> None:
    numbers = np.array([1, 2, 70_000], np.uint32)
    packed = pack(numbers)
    planes = np.frombuffer(zlib.decompress(base64.b64decode(str(packed["data"]))), np.uint8)
    assert (planes.reshape(4, 3).T.copy().view("<u4").reshape(-1) == numbers).all()
    assert (packed["kind"], packed["count"]) == ("u32", 3)


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
