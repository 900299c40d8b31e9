# SPDX-License-Identifier: GPL-2.0-or-later
"""Does ``python -m eval run`` leave what it promises, and refuse what it cannot do?"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import yaml

from eval.__main__ import main
from eval.run import FLOW_COLUMNS, QUEUE_COLUMNS

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
    (folder / "two.yaml").write_text(yaml.safe_dump(SCENARIO))
    return folder / "two.yaml"


def run(scenario: Path, out: Path, controllers: str = "dctcp,hpcc", *more: str) -> int:
    return main(["run", "--scenario", str(scenario), "--controllers", controllers, "--out", str(out), *more])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_each_controller_has_a_folder_of_flows_and_queues(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" / "deep"
    assert run(scenario, out, "dctcp, hpcc", "--json", str(tmp_path / "table.json")) == 0
    assert sorted(path.name for path in out.iterdir()) == ["dctcp", "hpcc"]
    table = json.loads((tmp_path / "table.json").read_text())
    shown = capsys.readouterr().out
    for name in ("dctcp", "hpcc"):
        flows, queues = rows(out / name / "flows.csv"), rows(out / name / "queues.csv")
        assert list(flows[0]) == [*FLOW_COLUMNS, "finished"]
        assert list(queues[0]) == list(QUEUE_COLUMNS)
        assert [(x["src"], x["dst"], x["size_bytes"], x["start_ns"]) for x in flows] == [
            ("0", "2", "50000", "0"),
            ("1", "2", "50000", "0"),
        ]
        assert all(x["finished"] == "1" for x in flows)
        slowdowns = [float(x["fct_ns"]) / float(x["standalone_ns"]) for x in flows]
        assert table[name]["fct_slowdown_avg"] == pytest.approx(sum(slowdowns) / 2)
        assert max(float(x["mean_bytes"]) for x in queues) == table[name]["queue_avg_bytes"]
        assert name in shown


def test_flows_cut_by_the_time_limit_are_not_finished(scenario: Path, tmp_path: Path) -> None:
    scenario.write_text(yaml.safe_dump({**SCENARIO, "time_limit_ns": 5000}))
    assert run(scenario, tmp_path / "out", "hpcc") == 0
    flows = rows(tmp_path / "out" / "hpcc" / "flows.csv")
    assert [(x["finished"], x["fct_ns"]) for x in flows] == [("0", "-1")] * 2


def test_config_holds_every_value_that_was_used(scenario: Path, tmp_path: Path) -> None:
    assert run(scenario, tmp_path / "out", "dcqcn,dctcp") == 0
    config = yaml.safe_load((tmp_path / "out" / "dcqcn" / "config.yaml").read_text())
    assert config["source"] == str(scenario)
    assert {"python", "ns3-env", "ns3"} <= set(config["versions"])
    used = config["scenario"]
    assert used["timing"] == "exact"
    assert used["min_rate_bps"] == 1e9
    assert used["switch"]["buffer_bytes"] == 32 << 20
    assert used["switch"]["ecn"]["kmax_bytes"] == 400_000
    (controller,) = used["controllers"]
    assert controller["attributes"]["Gain"] == 0.125  # the scenario's own
    assert controller["attributes"]["AlphaInterval"] == "+1000ns"  # the controller's
    config = yaml.safe_load((tmp_path / "out" / "dctcp" / "config.yaml").read_text())
    assert config["scenario"]["switch"]["ecn"]["kmax_bytes"] == 30_000


def test_same_scenario_same_files(scenario: Path, tmp_path: Path) -> None:
    assert run(scenario, tmp_path / "a", "dcqcn") == run(scenario, tmp_path / "b", "dcqcn") == 0
    for name in ("flows.csv", "queues.csv", "config.yaml"):
        assert (tmp_path / "a/dcqcn" / name).read_bytes() == (tmp_path / "b/dcqcn" / name).read_bytes()


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


def test_an_interrupted_write_leaves_no_folder(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eval.run.resolved", interrupted)
    assert run(scenario, tmp_path / "out", "hpcc") == 130
    assert not (tmp_path / "out" / "hpcc").exists()


@pytest.mark.parametrize(
    ("controllers", "text"),
    [
        ("dctcp,cubic", "unknown controller 'cubic'; known: dcqcn, dctcp,"),
        ("agent", "unknown controller 'agent'; known:"),
        ("hpcc,,dctcp", "unknown controller ''; known:"),
        ("hpcc,hpcc", "'hpcc' is there twice"),
    ],
)
def test_a_wrong_controller_is_named_before_anything_runs(
    controllers: str, text: str, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(scenario, tmp_path / "out", controllers) == 2
    assert f"error: --controllers: {text}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_flows_of_an_agent_need_a_policy(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traffic = {"kind": "csv", "file": "flows.csv", "controller": "agent"}
    scenario.write_text(yaml.safe_dump({"traffic": traffic, "controllers": [{"name": "agent"}]}))
    assert run(scenario, tmp_path / "out") == 2
    assert f"{scenario}: traffic.controller: flows under 'agent'" in capsys.readouterr().err


def test_wrong_input_ends_with_code_2(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (scenario.parent / "flows.csv").write_text(CSV + "0,9,5,0\n")
    assert run(scenario, tmp_path / "out") == 2
    assert f"{scenario.parent / 'flows.csv'}:4: dst: there is no host 9" in capsys.readouterr().err
    assert run(tmp_path / "none.yaml", tmp_path / "out") == 2
    assert "none.yaml: No such file" in capsys.readouterr().err
    (scenario.parent / "flows.csv").write_text(CSV)
    assert run(scenario, tmp_path / "out", "hpcc", "--json", str(tmp_path / "no" / "x.json")) == 2
    assert "--json: there is no folder" in capsys.readouterr().err


def test_the_readme_s_scenario_runs(tmp_path: Path) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    (tmp_path / "my.yaml").write_text(readme.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    assert run(tmp_path / "my.yaml", tmp_path / "results", "dcqcn,hpcc,dctcp") == 0
    assert len(rows(tmp_path / "results" / "hpcc" / "flows.csv")) == 8
