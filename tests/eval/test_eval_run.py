# SPDX-License-Identifier: GPL-2.0-or-later
"""``python -m eval run``: the files that it leaves, its overrides, and its refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import ns3_env
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.recording import COLUMNS
from ns3_env.eval.episodes.results import FLOW_COLUMNS, QUEUE_COLUMNS
from tests.samples.files import dumped, rows
from tests.samples.rings import ring
from tests.simulator.frames import frames_of

CSV = "src,dst,size_bytes,start_ns\n0,2,50000,0\n1,2,50000,0\n"
SCENARIO = {
    "topology": {"kind": "dumbbell", "senders": 2},
    "traffic": {"kind": "csv", "file": "flows.csv"},
    "controllers": [{"name": "dcqcn", "attributes": {"Gain": 0.125}}],
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "flows.csv").write_text(CSV)
    return dumped(folder / "two.yaml", SCENARIO)


def used(out: Path, controller: str) -> dict[str, Any]:
    """The folder's record of the scenario that was run."""
    return dict(yaml.safe_load((out / controller / "config.yaml").read_text())["scenario"])


def run(scenario: Path, out: Path, controllers: str = "dctcp,hpcc", *more: str) -> int:
    return main(["run", str(scenario), "--controllers", controllers, "--out", str(out), *more])


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two.yaml, its results under four controllers in out/deep, and the table in table.json."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "flows.csv").write_text(CSV)
    options = ["--json", str(folder / "table.json")]
    two = dumped(folder / "two.yaml", SCENARIO)
    assert run(two, folder / "out" / "deep", "dcqcn, dctcp,hpcc,mpcc", *options) == 0
    return folder


def test_each_controller_has_a_folder_of_flows_and_queues(ran: Path) -> None:
    out, table = ran / "out" / "deep", json.loads((ran / "table.json").read_text())
    files = ["comparison.png", *table, "results.csv", "results.parquet"]
    assert sorted(path.name for path in out.iterdir()) == files
    assert list(table) == ["dcqcn", "dctcp", "hpcc", "mpcc"]
    for name in table:
        flows, queues = rows(out / name / "flows.csv"), rows(out / name / "queues.csv")
        assert list(flows[0]) == [*FLOW_COLUMNS, "finished"]
        assert list(queues[0]) == list(QUEUE_COLUMNS)
        assert [(x["src"], x["dst"], x["size_bytes"], x["start_ns"]) for x in flows] == [
            ("0", "2", "50000", "0"),
            ("1", "2", "50000", "0"),
        ]
        assert {(float(x["base_rtt_ns"]), x["payload_bytes"], x["finished"]) for x in flows} == {
            (6240.0, "1000", "1")
        }
        slowdowns = [float(x["fct_ns"]) / float(x["standalone_ns"]) for x in flows]
        assert table[name]["fct_slowdown_avg"] == pytest.approx(sum(slowdowns) / 2)
        assert max(float(x["mean_bytes"]) for x in queues) == table[name]["queue_avg_bytes"]


def test_config_holds_every_value_that_was_used(ran: Path) -> None:
    out = ran / "out" / "deep"
    config = yaml.safe_load((out / "dcqcn" / "config.yaml").read_text())
    assert config["source"] == str(ran / "two.yaml")
    assert {"python", "ns3-env", "ns3"} <= set(config["versions"])
    resolved_scenario = config["scenario"]
    assert (resolved_scenario["timing"], resolved_scenario["min_rate_bps"]) == ("exact", 1e9)
    assert resolved_scenario["switch"]["buffer_bytes"] == 32 << 20
    assert resolved_scenario["switch"]["ecn"]["kmax_bytes"] == 400_000
    (controller,) = resolved_scenario["controllers"]
    assert controller["attributes"]["Gain"] == 0.125  # the scenario's own
    assert controller["attributes"]["AlphaInterval"] == "+1000ns"  # the controller's
    assert used(out, "dctcp")["switch"]["ecn"]["kmax_bytes"] == 30_000


def test_counters_of_each_flow(ran: Path) -> None:
    mpcc = ran / "out" / "deep" / "mpcc"
    counters = rows(mpcc / "counters.csv")
    assert [x["flow"] for x in counters] == ["0", "1"]
    acks = [-(-int(x["size_bytes"]) // 1000) for x in rows(mpcc / "flows.csv")]
    assert [float(x["mpcc_decisions"]) for x in counters] == acks
    assert not (mpcc.parent / "hpcc" / "counters.csv").exists()


def test_a_second_run_replaces_the_first_but_no_folder_of_others(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(scenario, out, "hpcc") == 0
    (out / "hpcc" / "flows.csv").write_text("old")
    assert run(scenario, out, "hpcc") == 0
    assert len(rows(out / "hpcc" / "flows.csv")) == 2
    (out / "hpcc" / "thesis.tex").write_text("precious")
    assert run(scenario, out, "hpcc") == 2
    assert "thesis.tex" in capsys.readouterr().err
    assert (out / "hpcc" / "thesis.tex").exists()


def test_a_folder_has_the_results_of_one_run(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(scenario, out, "hpcc,constant-window") == 0
    assert run(scenario, out, "hpcc,constant-window,dcqcn", "time_limit_ns=1ms") == 0
    assert set(ns3_env.load_results(out).table["entry"]) == {"hpcc", "constant-window", "dcqcn"}
    for controllers, seeds in (("dcqcn", "1"), ("hpcc,constant-window,dcqcn", "1-2")):
        assert run(scenario, out, controllers, "--seeds", seeds) == 2
        assert f"--out: {out} has constant-window of an earlier run: name" in capsys.readouterr().err


def test_a_runs_folder_is_read_as_results_and_flows(scenario: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    out = tmp_path / "out"
    assert run(scenario, out, "ppo,hpcc", "--seeds", "1-2", "--json", str(tmp_path / "t.json")) == 0
    table = json.loads((tmp_path / "t.json").read_text())
    frame = ns3_env.load_results(out).wide()
    assert frame[["scenario", "entry", "seed"]].to_numpy().tolist() == [
        ["two", entry, seed] for entry in ("ppo", "hpcc") for seed in (1, 2)
    ]
    pandas = pytest.importorskip("pandas")
    table_of_csv = ns3_env.load_results(out).table
    pandas.testing.assert_frame_equal(pandas.read_parquet(out / "results.parquet"), table_of_csv)
    by_cell = frame.set_index(["entry", "seed"])["fct_slowdown_avg"]
    assert {f"{entry}/seed-{seed}": x for (entry, seed), x in by_cell.items()} == {
        name: row["fct_slowdown_avg"] for name, row in table.items()
    }
    flows = ns3_env.load_flows(out)
    assert flows.groupby(["controller", "seed"])["size_bytes"].sum().tolist() == [100_000] * 4


def test_several_entries_are_drawn_with_labels_and_as_files(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(scenario, tmp_path / "one", "hpcc", "--format", "svg") == 0
    assert "no figure: there is one entry; --trace" in capsys.readouterr().out
    assert run(scenario, out, "hpcc,mpcc", "--label", "hpcc=HPCC (η = 0.95)", "--format", "svg") == 0
    names = ("slowdown", "queue_p99_bytes", "goodput", "unfair_ratio")
    assert {path.name for path in (out / "figures").iterdir()} == {f"{name}.svg" for name in names}
    plain = tmp_path / "plain"
    assert run(scenario, plain, "hpcc,mpcc", "--format", "svg") == 0
    for name in names:
        file = f"figures/{name}.svg"
        assert (out / file).read_bytes() != (plain / file).read_bytes()


def test_marks_and_pauses_are_written_where_the_scenario_records_them(scenario: Path, tmp_path: Path) -> None:
    ecn = {"kmin_bytes": 10_000, "kmax_bytes": 10_000, "pmax": 1.0, "at_rate_bps": 100e9}
    narrow = {"buffer_bytes": 200_000, "ecn": ecn}
    dumped(scenario, {**SCENARIO, "record": {"events": True}, "switch": narrow})
    assert run(scenario, tmp_path / "out", "dctcp") == 0
    folder = tmp_path / "out" / "dctcp"
    marks, pauses = rows(folder / "marks.csv"), rows(folder / "pauses.csv")
    assert (list(marks[0]), list(pauses[0])) == (list(COLUMNS["marks"]), list(COLUMNS["pauses"]))
    assert {x["flow"] for x in marks} == {"0", "1"}
    for host in ("0", "1"):  # paused, resumed, ...
        states = [int(x["paused"]) for x in pauses if (x["node"], x["port"]) == (host, "0")]
        assert states
        assert states == [(i + 1) % 2 for i in range(len(states))]
    for events in (marks, pauses):
        times = [float(x["t_ns"]) for x in events]
        assert times == sorted(times)


def test_every_pause_frame_is_counted_at_the_port_that_sent_it(scenario: Path, tmp_path: Path) -> None:
    """Hosts are included: a row's ``pause_frames`` are those its port received, which only switches send."""
    narrow = {"buffer_bytes": 200_000, "ecn": None}
    dumped(scenario, {**SCENARIO, "switch": narrow})
    assert run(scenario, tmp_path / "out", "dcqcn", "--json", str(tmp_path / "table.json")) == 0
    queues = rows(tmp_path / "out" / "dcqcn" / "queues.csv")
    hosts = {"0", "1", "2"}
    to_hosts = sum(int(x["pause_frames_sent"]) for x in queues if x["peer"] in hosts)
    to_switches = sum(int(x["pause_frames_sent"]) for x in queues if x["peer"] not in hosts)
    counted = json.loads((tmp_path / "table.json").read_text())["dcqcn"]["pfc_frames"]
    assert to_hosts > 0
    assert to_hosts + to_switches == counted
    assert to_switches == sum(int(x["pause_frames"]) for x in queues)


def test_each_controller_has_captures_of_its_own(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):  # the second run replaces them
        assert run(scenario, tmp_path / "out", "dctcp,hpcc", "--pcap") == 0
    for name in ("dctcp", "hpcc"):
        folder = tmp_path / "out" / name
        assert [path.name for path in (folder / "pcap").iterdir()] == [f"{name}.pcapng"]
        assert used(tmp_path / "out", name)["record"]["pcap"] == str(folder / "pcap" / name)
    dumped(scenario, {**SCENARIO, "record": {"pcap_ports": [[3, 2]]}})
    one = tmp_path / "one"
    assert run(scenario, one, "hpcc", "--pcap") == 0
    assert {frame.port for frame in frames_of(one / "hpcc" / "pcap" / "hpcc.pcapng")} == {"s3-p2"}
    assert run(scenario, one, "hpcc") == 0
    dumped(scenario, {**SCENARIO, "record": {"pcap_ports": [[3, 7]]}})
    assert run(scenario, one, "hpcc", "--pcap") == 2
    assert "there is no port 7 at node 3" in capsys.readouterr().err
    assert not (one / "hpcc" / "pcap").exists()


def test_keys_and_attributes_are_overridden_on_the_command_line(scenario: Path, tmp_path: Path) -> None:
    changes = ["time_limit_ns=5000", "topology={kind: dumbbell, senders: 8}", "hpcc.Eta=0.9"]
    assert run(scenario, tmp_path / "out", "dctcp,hpcc", *changes) == 0
    config = yaml.safe_load((tmp_path / "out" / "hpcc" / "config.yaml").read_text())
    assert config["scenario"]["time_limit_ns"] == 5000
    assert config["scenario"]["topology"]["senders"] == 8
    assert float(config["scenario"]["controllers"][0]["attributes"]["Eta"]) == 0.9
    cut = rows(tmp_path / "out" / "hpcc" / "flows.csv")
    assert {(x["finished"], x["fct_ns"]) for x in cut} == {("0", "-1")}
    assert config["source"] == f"{scenario}, with {', '.join(changes[:2])}"


def test_without_names_the_scenario_s_own_controllers_play(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (scenario.parent / "flows.csv").write_text(
        "src,dst,size_bytes,start_ns,controller\n0,2,50000,0,\n1,2,50000,0,hpcc\n"
    )
    content = {**SCENARIO, "controllers": [*SCENARIO["controllers"], {"name": "hpcc"}]}
    dumped(scenario, content)
    alone = ["run", str(scenario), "--out", str(tmp_path / "out")]
    assert main([*alone, "hpcc.Eta=0.9"]) == 0
    assert "\ndcqcn+hpcc " in capsys.readouterr().out
    dcqcn, hpcc = used(tmp_path / "out", "dcqcn+hpcc")["controllers"]
    assert (dcqcn["name"], dcqcn["attributes"]["Gain"]) == ("dcqcn", 0.125)
    assert (hpcc["name"], hpcc["attributes"]["Eta"]) == ("hpcc", 0.9)
    assert main([*alone, "dctcp.Gain=0.5"]) == 2
    assert "dctcp: is not among the scenario's controllers, dcqcn, hpcc" in capsys.readouterr().err


def test_where_no_bar_can_be_drawn_a_line_says_how_far_it_is(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ns3_env.eval.output.progress.FIRST_S", 0.001)
    assert run(scenario, tmp_path / "out", "dctcp") == 0
    assert "dctcp (0 of 1 played); 0:00 so far\n" in capsys.readouterr().out


def test_a_deadlock_of_pauses_is_warned_of_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(dumped(tmp_path / "ring.yaml", ring(5)), tmp_path / "out", "dcqcn") == 0
    output = capsys.readouterr().out
    assert output.count("warning: dcqcn: PFC deadlock") == 1
    assert "node 0 port 0 is paused by node 1" in output
