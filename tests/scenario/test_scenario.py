# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: their files' content in the simulator's JSON and as text, groups, classes and presets."""

import json
from pathlib import Path
from typing import Any

import pytest

from ns3_env.config.folders import DATA
from ns3_env.config.yaml import parse
from ns3_env.errors import ScenarioError
from ns3_env.eval.episodes.entry import Entry
from ns3_env.programs.parameters import PAPER
from ns3_env.scenario import AGENT, MIB, Scenario, published_ecn
from ns3_env.simulator import list_controllers
from tests.samples.scenarios import INCAST


def test_presets_differ_in_timing_and_buffers_follow_the_rate() -> None:
    default = Scenario().to_simulator_json()
    reference = Scenario.from_mapping({"preset": "published"}, "x").to_simulator_json()
    slow = Scenario.from_mapping({"topology": {"kind": "dumbbell", "rate_bps": 1e9}}, "x").to_simulator_json()
    assert (default["timing"], reference["timing"]) == ("exact", "published")
    assert default["switch"]["buffer_bytes"] == 32 * MIB
    assert slow["switch"]["buffer_bytes"] == 16 * MIB


def test_controlled_flows_have_slots_and_the_others_a_controller() -> None:
    scenario = Scenario.from_mapping(
        {
            "controllers": [{"name": "agent"}, {"name": "hpcc", "attributes": {"Eta": 0.9}}],
            "controlled_flows": [2, 0],
        },
        "x",
    )
    flows = scenario.to_simulator_json()["flows"]
    assert flows["controller"] == [0, 1, 0, 1]
    assert flows["slot"] == [0, -1, 1, -1]
    assert scenario.agent_flow_count == 2
    assert scenario.to_simulator_json()["controllers"][1]["attributes"] == {"Eta": "0.9"}


SHALLOW = {"pfc": False, "buffer_bytes": 300_000}


@pytest.mark.filterwarnings("error::ns3_env.errors.ScenarioWarning")
@pytest.mark.parametrize("name", ["dcqcn", "dctcp"])
def test_thresholds_by_auto_fit_a_shallow_buffer(name: str) -> None:
    def ecn(**switch: Any) -> dict[str, float]:
        scenario = Scenario.from_mapping({"switch": switch, "controllers": [{"name": name}], **more}, "x")
        marking: dict[str, float] = scenario.to_simulator_json()["switch"]["ecn"]
        return marking

    more: dict[str, Any] = {}
    deep = ecn()
    assert ecn(**SHALLOW) == {**deep, "most_kmax_bytes": 150_000}  # half of it, at whatever port
    assert ecn(pfc=False, buffer_bytes=64 << 20) == deep
    more = {"timing": "published"}
    assert ecn(buffer_bytes=2_000_000) == deep


@pytest.mark.filterwarnings("error::ns3_env.errors.ScenarioWarning")
def test_large_incast_lowers_the_least_rate() -> None:
    scenario = Scenario.from_mapping({"traffic": {**INCAST, "flows": 1024}}, "x").to_simulator_json()
    assert scenario["min_rate_bps"] * 1024 <= 100e9
    assert "min_rate_bps" not in Scenario().to_simulator_json()


def test_seed_alone_changes_the_traffic_and_is_kept_apart() -> None:
    scenario = Scenario.from_mapping({"traffic": {**INCAST, "spread_ns": 1000}}, "file.yaml")
    other = scenario.with_seed(99)
    assert other.source == "file.yaml"
    assert other.to_simulator_json()["seed"] == 99
    assert other.to_simulator_json() == scenario.with_seed(99).to_simulator_json()
    assert other.to_simulator_json()["flows"]["start_ns"] != scenario.to_simulator_json()["flows"]["start_ns"]


HEADER = "src,dst,size_bytes,start_ns\n"


def with_csv(folder: Path, text: str | bytes) -> Path:
    """A scenario's file next to the CSV it names."""
    (folder / "flows.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    path = folder / "scenario.yaml"
    path.write_text("traffic: {kind: csv, file: flows.csv}")
    return path


def test_flows_of_a_csv_are_those_of_its_rows(tmp_path: Path) -> None:
    """Flows keep the file's order, even with equal starts or equal rows; sizes and times with units."""
    rows = "7,4,2MB,3,,a,\r\n\r\n1.5us,4,1e3,0,2us,,a\r\n0.001s,4,0.5KiB,1,,,\r\n0,4,9,1,,,\r\n0,4,9,1,,,\r\n"
    scenario = Scenario.load(
        with_csv(tmp_path, f"start_ns, dst,size_bytes,src,delay_ns,name,after\r\n{rows}")
    )
    flows = scenario.to_simulator_json()["flows"]
    assert flows["src"] == [3, 0, 1, 1, 1]
    assert flows["dst"] == [4] * 5
    assert flows["size_bytes"] == [2_000_000, 1000, 512, 9, 9]
    assert flows["start_ns"] == [7, 1500, 1_000_000, 0, 0]
    assert scenario.flows().tasks.waits[1] == ((0,), 2000, None)
    assert Scenario.from_mapping(scenario.without_files().model_dump(), "again").flows() == scenario.flows()


def test_a_csv_may_name_each_flow_s_controller(tmp_path: Path) -> None:
    path = with_csv(
        tmp_path, "controller,src,dst,size_bytes,start_ns\nhpcc,0,4,9,0\n,1,4,9,0\n dcqcn ,2,4,9,0\n"
    )
    with pytest.raises(ScenarioError, match=r"traffic.controller: 'hpcc' is not among the controllers"):
        Scenario.load(path)
    path.write_text(path.read_text() + "\ncontrollers: [{name: dcqcn}, {name: hpcc}]")
    scenario = Scenario.load(path)
    assert scenario.flows().controller == ["hpcc", None, "dcqcn"]
    assert scenario.without_files().flows().controller == ["hpcc", None, "dcqcn"]
    assert scenario.to_simulator_json()["flows"]["controller"] == [1, 0, 0]


def test_csv_lies_beside_its_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_csv(tmp_path, HEADER + "0,4,1,0\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    scenario = Scenario.load(Path("..") / path.name)
    assert scenario.flow_count == 1
    assert Scenario.from_mapping(scenario.model_dump(), "again").flow_count == 1
    monkeypatch.chdir(tmp_path)
    assert Scenario.from_mapping({"traffic": {"kind": "csv", "file": "flows.csv"}}, "x").flow_count == 1


@pytest.mark.parametrize(
    ("rate_bps", "controller", "kmin_bytes", "kmax_bytes", "pmax"),
    [
        (100e9, "dcqcn", 400e3, 1600e3, 0.2),
        (1e9, "dcqcn", 4e3, 16e3, 0.2),
        (100e9, "dctcp", 300e3, 300e3, 1.0),
        (1e9, "dctcp", 3e3, 3e3, 1.0),
    ],
)
def test_marking_is_that_of_the_flows_controller(
    rate_bps: float, controller: str, kmin_bytes: float, kmax_bytes: float, pmax: float
) -> None:
    """The figures of docs/sources/published-simulator.md, "Switch"."""
    data = {"controllers": [{"name": "hpcc"}, {"name": controller}], "traffic": INCAST}
    assert Scenario.from_mapping(data, "x").to_simulator_json()["switch"]["ecn"] is None
    mixed = {"kind": "mix", "parts": [INCAST, {**INCAST, "controller": controller}]}
    ecn = Scenario.from_mapping({**data, "traffic": mixed}, "x").to_simulator_json()["switch"]["ecn"]
    scale = rate_bps / ecn["at_rate_bps"]
    assert (ecn["kmin_bytes"] * scale, ecn["kmax_bytes"] * scale, ecn["pmax"]) == (
        kmin_bytes,
        kmax_bytes,
        pmax,
    )


def test_explicit_marking_stands_whatever_the_controllers() -> None:
    data: dict[str, Any] = {
        "traffic": {"kind": "mix", "parts": [INCAST, {**INCAST, "controller": "dcqcn"}]},
        "controllers": [{"name": "dctcp"}, {"name": "dcqcn"}],
        "switch": {"ecn": {"kmin_bytes": 1, "kmax_bytes": 2, "pmax": 0.5, "at_rate_bps": 1e9}},
    }
    assert Scenario.from_mapping(data, "x").to_simulator_json()["switch"]["ecn"] == data["switch"]["ecn"]
    data["switch"] = {"ecn": None}
    assert Scenario.from_mapping(data, "x").to_simulator_json()["switch"]["ecn"] is None


@pytest.mark.parametrize("name", sorted({*list_controllers()} - {"policy"} - {*published_ecn()}))
def test_controllers_that_ignore_marks_get_none(name: str) -> None:
    data = {"controllers": [{"name": name}], "traffic": INCAST}
    assert Scenario.from_mapping(data, "x").to_simulator_json()["switch"]["ecn"] is None


FILES = sorted((DATA / "configs" / "scenarios").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_text_for_the_simulator_says_what_the_json_says_of_every_seed_and_controller(file: Path) -> None:
    scenario = Scenario.load(file)
    for under in (scenario, scenario.under("dctcp")):
        for seed in (1, 2):
            variant = under.with_seed(seed)
            assert json.loads(variant.to_simulator_text()) == json.loads(
                json.dumps(variant.to_simulator_json())
            )


NETWORK = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast"}}


def test_a_preset_stands_for_attributes_and_a_files_own_take_their_place() -> None:
    written = {"name": "dcqcn", "parameters": "paper", "attributes": {"FastRecoveryStages": 3}}
    scenario = Scenario.from_mapping({**NETWORK, "controllers": [written]}, "x.yaml")
    assert scenario.controllers[0].attributes == {**PAPER["dcqcn"], "FastRecoveryStages": 3}
    entry = Entry.model_validate({"name": "mine", "controller": "hpcc", "parameters": "paper"})
    assert entry.attributes == PAPER["hpcc"]
    published = Entry.model_validate({"name": "mine", "controller": "hpcc", "parameters": "published"})
    assert published.attributes == {}


def test_switches_mark_by_the_thresholds_of_the_paper() -> None:
    paper = {"name": "dcqcn", "parameters": "paper"}
    scenario = Scenario.from_mapping({**NETWORK, "controllers": [paper]}, "x.yaml")
    ecn = scenario.to_simulator_json()["switch"]["ecn"]
    assert (ecn["kmin_bytes"], ecn["kmax_bytes"], ecn["pmax"], ecn["at_rate_bps"]) == (5e3, 200e3, 0.01, 40e9)


SMALL = {"topology": {"kind": "dumbbell", "senders": 2}, "traffic": {"kind": "incast", "size_bytes": 20_000}}


def read_small(text: str, **more: Any) -> Scenario:
    return Scenario.from_mapping({**SMALL, **parse(text), **more}, "s.yaml")


def test_what_is_off_is_not_written() -> None:
    plain = read_small("seed: 1").to_simulator_json()
    off = "recovery: go_back_n\ncorruption: []\nnic: {cnp_delay_ns: 0, ack_delay_ns: 0, ack_every: 1}"
    assert read_small(off).to_simulator_json() == plain
    assert not plain.keys() & {"selective_repeat", "nic"}
    assert plain["loss"] == {"probability": 0.0}
    assert "reordering" not in plain["record"]


def test_a_name_stands_for_all_defaults_and_units_are_read() -> None:
    short_form, spelled = (
        read_small("recovery: selective_repeat"),
        read_small("recovery: {kind: selective_repeat}"),
    )
    assert short_form.to_simulator_json() == spelled.to_simulator_json()
    content = short_form.to_simulator_json()
    assert content["selective_repeat"] == {
        "rto_low_ns": 100_000,
        "rto_low_packets": 3,
        "bdp_cap": 1.0,
        "reorder_packets": 0,
    }
    assert content["record"]["reordering"] is True
    yaml_text = (
        "recovery: {kind: selective_repeat, rto_low_ns: 40us, bdp_cap: null}\nnic: {cnp_delay_ns: 55us}"
    )
    content = read_small(yaml_text).to_simulator_json()
    assert content["selective_repeat"]["rto_low_ns"] == 40_000
    assert content["selective_repeat"]["bdp_cap"] is None
    assert content["nic"] == {"cnp_delay_ns": 55_000, "ack_delay_ns": 0, "ack_every": 1}


def test_the_last_that_names_a_link_counts_in_each_direction() -> None:
    rows = read_small(
        "corruption: [{link: all, packet_rate: 0.1}, {link: [0, 3], bit_error_rate: 1e-9}, "
        "{link: [3, 0], towards: 0, packet_rate: 0.5}]"
    ).to_simulator_json()["loss"]["links"]
    loss_rates = {(row["from"], row["to"]): (row["packet_rate"], row["bit_error_rate"]) for row in rows}
    assert len(loss_rates) == len(rows) == 8  # four links
    assert loss_rates.pop((0, 3)) == (0.0, 1e-9)
    assert loss_rates.pop((3, 0)) == (0.5, 0.0)
    assert set(loss_rates.values()) == {(0.1, 0.0)}


KEYS: dict[str, Any] = parse("""
topology: {kind: dumbbell, senders: 4}
traffic:
  kind: mix
  parts:
    - {kind: poisson, load: 0.2, duration_ns: 100000, group: storage}
    - {kind: incast, flows: 2, size_bytes: 10000, group: rpc}
    - {kind: constant_rate, src: 0, dst: 4, rate_bps: 1.0e+9, group: rpc}
    - kind: list
      group: mine
      flows: [{src: 0, dst: 4, size_bytes: 1000}, {src: 1, dst: 4, size_bytes: 1, group: rpc}]
    - {kind: incast, flows: 1, size_bytes: 10000}
groups:
  storage: {controller: dcqcn, traffic_class: bulk}
  rpc: {controller: hpcc, attributes: {Eta: 0.9}, traffic_class: urgent}
  mine: {}
classes: [{name: urgent}, {name: bulk, weight: 3}, {name: rest, weight: 1}]
""")
CLASSES, GROUPS = KEYS["classes"], KEYS["groups"]


def keys(**values: Any) -> dict[str, Any]:
    return {**KEYS, **values}


def test_flows_are_under_their_groups_controller_and_in_its_class() -> None:
    scenario = Scenario.from_mapping(keys(), "x")
    sent = scenario.to_simulator_json()
    flows, streams = sent["flows"], sent["streams"]
    names = [sent["controllers"][i]["name"] for i in flows["controller"]]
    storage = flows["group"].index(1)
    assert storage > 0
    assert set(names[:storage]) == {"dcqcn"}
    assert names[storage:] == ["hpcc", "hpcc", AGENT, "hpcc", AGENT]
    assert flows["group"][storage:] == [1, 1, 2, 1, -1]
    assert flows["class"][storage:] == [0, 0, 2, 0, 2]
    assert flows["slot"][storage:] == [-1, -1, 0, -1, 1]
    assert sent["groups"] == ["storage", "rpc", "mine"]
    assert streams["class"] == [0]
    assert scenario.agent_flow_count == 2
    assert json.loads(scenario.to_simulator_text()) == sent


def test_each_class_marks_as_its_own_flows_controllers_are_published() -> None:
    urgent, bulk, rest = Scenario.from_mapping(keys(), "x").to_simulator_json()["classes"]
    assert (urgent["ecn"], rest["ecn"]) == (None, None)
    assert bulk["ecn"]["kmin_bytes"] == 100_000
    assert [x["weight"] for x in (urgent, bulk, rest)] == [0, 3, 1]
    classes = [{**CLASSES[0], "ecn": {"kmin_bytes": 1000}, "pfc": False}, *CLASSES[1:]]
    class_json = Scenario.from_mapping(keys(classes=classes), "x").to_simulator_json()["classes"][0]
    assert (class_json["ecn"]["kmin_bytes"], class_json["pfc"]) == (1000, False)
    whole = Scenario.from_mapping(keys(switch={"ecn": None}), "x").to_simulator_json()["classes"]
    assert [x["ecn"] for x in whole] == [None] * 3


def test_attributes_of_a_group_come_before_the_scenarios() -> None:
    groups = {"a": {"attributes": {"Window": 5}}, "b": {"controller": "swift", "attributes": {"Window": 7}}}
    traffic = {"kind": "mix", "parts": [{"kind": "incast", "group": name} for name in groups]}
    controllers = [{"name": "fixed-window", "attributes": {"Window": 1, "WindowBdp": 2}}]
    scenario = Scenario.from_mapping({"groups": groups, "traffic": traffic, "controllers": controllers}, "x")
    attributes = [x["attributes"] for x in scenario.to_simulator_json()["controllers"]]
    assert attributes == [
        {"Window": "1", "WindowBdp": "2"},
        {"Window": "5", "WindowBdp": "2"},
        {"Window": "7"},
    ]
    other = scenario.under("hpcc").to_simulator_json()["controllers"]
    assert [x["name"] for x in other][-2:] == ["hpcc", "swift"]  # the first belongs to the entry


def test_whoever_plays_has_the_flows_that_no_group_gives_away() -> None:
    content = Scenario.from_mapping(keys(), "x").under("swift").to_simulator_json()
    names = [content["controllers"][i]["name"] for i in content["flows"]["controller"]]
    assert names[-5:] == ["hpcc", "hpcc", "swift", "hpcc", "swift"]
    bound = Scenario.from_mapping(keys(), "x").under("oracle").to_simulator_json()
    assert set(bound["flows"]["controller"]) == {0}
    assert "classes" not in bound
    assert bound["groups"] == ["storage", "rpc", "mine"]


def test_a_groups_attribute_is_refused_by_the_groups_key() -> None:
    groups = {**GROUPS, "mine": {"controller": "swift", "attributes": {"NoSuch": 1}}}
    scenario = Scenario.from_mapping(keys(groups=groups), "x")
    words = "'controllers[3].attributes.NoSuch' controller 'swift': cannot set attribute"
    assert scenario.refusal(words).startswith("x: groups.mine.attributes.NoSuch: controller 'swift'")
    with pytest.raises(ScenarioError, match="flows under 'agent' need a policy"):
        Scenario.from_mapping(keys(groups={**GROUPS, "mine": {"controller": AGENT}}), "x").under("hpcc")
