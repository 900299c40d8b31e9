# SPDX-License-Identifier: GPL-2.0-or-later
"""Unchecked JSON in the simulator: right, or refused in a sentence with its key."""

import json
from pathlib import Path
from typing import Any

import pytest

from ns3_env._native import json_of
from ns3_env.config.yaml import put
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.processes import program
from tests.samples.tables import INSIDE, fits, refusals
from tests.scenario.json_places import Place, at, is_in_its_range, last_name, named, places, replaced, valid

LARGE = 2**32 + 5

#: Replacements of a value, tried in turn.
WRONG: list[Any] = [-1, 1.5, True, "x", None, LARGE, 1e30, [], {}]

#: Keys that may be null; "loss.links" is one, and "links" is not.
NULL = {"retransmission_timeout_ns", "decision_quantum_ns", "queue_series_ns", "min_rate_bps", "pcap_snaplen"}
NULL |= {"queues", "windows", "events", "reordering", "controller_state", "controller_counters", "trimming"}
NULL |= {
    "record",
    "bdp_cap",
    "attributes",
    "ecn",
    "loss",
    "measurement",
    "nic",
    "selective_repeat",
    "streams",
}
NULL |= {"loss.links"}


def is_right(simulator: Simulator, place: Place, value: Any) -> bool:
    """Whether that value may be there: in the range that is declared, null, or of the kind that is there."""
    before = at(valid(), place)
    if value is None:
        return not {last_name(place), f"{place[0]}.{last_name(place)}"}.isdisjoint(NULL)
    if isinstance(before, int | float) and not isinstance(before, bool):
        return is_in_its_range(simulator, replaced(valid(), place, value), place)
    return type(value) is type(before)


def mutations() -> list[tuple[Place, Any]]:
    """A wrong value at each place; of a list's entries, which are read alike, the first has all of them."""
    return [
        (place, value)
        for place in places(valid())
        if not any(isinstance(key, int) and key > 0 for key in place)
        for value in WRONG
        if json.dumps(value) != json.dumps(at(valid(), place))
    ]


def test_each_value_is_right_or_refused_by_its_key() -> None:
    tried, valid_count, wrong = 0, 0, []
    with Simulator() as simulator:
        simulator.play(valid())
        pid = simulator.pid
        for place, value in mutations():
            tried += 1
            what = f"{named(place)} = {value!r}"
            try:
                simulator.play(replaced(valid(), place, value))
            except ScenarioError as error:
                message = str(error)
                # A list that is short leaves its neighbours too long: those are named then.
                # A long link needs more headroom than there is.
                names = [*(key for key in place if isinstance(key, str)), "host", "buffer_bytes"]
                if "\n" in message or not any(name.removesuffix("s") in message for name in names):
                    wrong.append(f"{what}: {message}")
            else:
                valid_count += 1
                if not is_right(simulator, place, value):
                    wrong.append(f"{what}: taken")
            if simulator.pid != pid:
                wrong.append(f"{what}: another process")
                pid = simulator.pid
    assert wrong == []
    assert tried > 500
    assert valid_count > 20


#: Keys that have a default.
OPTIONAL = {"min_rate_bps", "loss", "nic", "selective_repeat", "retransmission_timeout_ns"}
OPTIONAL |= {"decision_quantum_ns", "record", "streams"}


@pytest.mark.parametrize("key", sorted({named(p) for p in places(valid()) if len(p) == 1}))
def test_a_missing_key_is_named_or_has_a_default(key: str, simulator: Simulator) -> None:
    content = valid()
    del content[key]
    if key in OPTIONAL:
        simulator.play(content)
    else:
        with pytest.raises(ScenarioError, match=f"^'{key}' is missing$"):
            simulator.play(content)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("payload_bytes", LARGE, "'payload_bytes' is 4294967301, must be in [1, 65000], a whole number"),
        ("flows.src.0", LARGE, "'flows.src[0]' is 4294967301, must be in [0, 4], a whole number"),
        ("links.0.a", True, "'links[0].a' is true, must be in [0, 4], a whole number"),
        ("links.0.b", 1.5, "'links[0].b' is 1.5, must be in [0, 4], a whole number"),
        ("switch.headroom_frames", -1e30, "'switch.headroom_frames' is -1e+30, must be in [0, 1000], a who"),
        ("switch.resume_offset_bytes", 2**32, "'switch.resume_offset_bytes' is 4294967296, must be"),
        ("record.queue_series_ns", 2**62, "must be in [0, 4000000000000], a whole number"),
        ("links.0.rate_bps", "1e9", "'links[0].rate_bps' is \"1e9\", must be in [10000.0, "),
        ("nodes.0", "x\ny", "'nodes' has 'x\\ny': a node is a 'host' or a 'switch'"),
        ("nodes", ["host"] * 250_001, "'nodes' has 250001 entries, must have at most 250000"),
        ("cards", {"node": [1], "host": []}, "'cards': 1 nodes and 0 hosts: each node is a card of one"),
        ("flows.slot", [[0]] * 2, "'flows.slot[0]' is a list, must be"),
        ("streams.rate_bps", [0], "'streams.rate_bps[0]' is 0, must be in [1.0, 8000000000000.0], a number"),
        ("streams.stop_ns", [0], "'streams' row 0: it stops at 0 ns, not after its start at 0 ns"),
        ("streams.dst", [3], "'streams' row 0: node 3 is no host"),
        ("streams.dst", [0], "'streams' row 0: a stream from host 0 to itself"),
        ("streams.dst", [], "'streams' has columns of different lengths"),
    ],
)
def test_the_program_names_key_value_and_range_on_one_line(
    place: str, value: Any, words: str, tmp_path: Path
) -> None:
    done = program(put(valid(), place, value), tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert words in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[]", "'the scenario' is a list, must be an object"),
        ("null", "'the scenario' is null, must be an object"),
        ("[" * 100_000, "nested more than 16 deep"),
        ('{"a":' * 100_000, "nested more than 16 deep"),
        ('{"seed": 1, "seed": 2}', "the key 'seed' is there twice in one object"),
        ('{"seed": NaN}', "not JSON"),
        ('{"seed": 1e400}', "not JSON"),
        ('{"seed": "\n"}', "not JSON"),
        (b'{"seed": "\xff\xfe"}', "not JSON"),
        ('{"' + "k" * 100_000 + '": 1}', "missing"),
        (json.dumps({**valid(), "k\n" * 1000: 1}), "unknown key 'k\\nk"),
        (json.dumps({**valid(), "k\x85\u2028": 1}, ensure_ascii=False), "unknown key 'k\\u0085\\u2028'"),
        (json.dumps({**valid(), "seed": "\x85\u2028"}, ensure_ascii=False), "'seed' is \"\\u0085\\u2028\""),
    ],
)
def test_what_is_no_scenario_is_a_line(text: str | bytes, words: str, tmp_path: Path) -> None:
    done = program(text, tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert words in line
    assert len(line) < 600


@pytest.mark.parametrize(
    ("slots", "words"),
    [([-1, 0], "row 0: a flow under 'agent' needs a slot"), ([3, 3], "row 1: slot 3 is another flow's")],
)
def test_flows_under_an_agent_have_slots_of_their_own(
    slots: list[int], words: str, simulator: Simulator
) -> None:
    content = replaced(replaced(valid(), ("controllers",), [{"name": "agent"}]), ("flows", "slot"), slots)
    simulator.send_reset(content)
    with pytest.raises(ScenarioError, match=words):
        simulator.receive()


#: Keys that need a path per packet, which some controllers do not support in Python and in the simulator.
STEERING = {"failures": {"outages": [{"switch": 24, "at_ns": 1}]}, "load_balancing": "spray"}
REFUSED = [
    *refusals(INSIDE[0]),
    *(
        ({**content, key: value}, f"{key}: ... {words}")
        for key, value in STEERING.items()
        for content, words in refusals(INSIDE[1])
    ),
]


@pytest.mark.parametrize(("content", "sentence"), REFUSED)
def test_what_only_the_simulator_finds_names_file_and_key(
    content: dict[str, Any], sentence: str, simulator: Simulator
) -> None:
    with pytest.raises(ScenarioError) as caught:
        simulator.play(Scenario.from_mapping(content, "s.yaml"))
    assert fits(sentence, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


def test_the_key_is_the_one_that_was_written_whoever_plays(simulator: Simulator) -> None:
    controllers = ["dcqcn", {"name": "hpcc", "attributes": {"Eta": 7}}]
    scenario = Scenario.from_mapping({"controllers": controllers}, "s.yaml")
    for variant, place in (
        (scenario.under("hpcc"), "controllers.1.attributes.Eta"),
        (scenario.under("hpcc", {"Eta": 9}), "hpcc.Eta"),
        (scenario.under("swift", {"BaseTarget": "long"}), "swift.BaseTarget"),
    ):
        with pytest.raises(ScenarioError, match=f"^s.yaml: {place}: "):
            simulator.play(variant)


@pytest.mark.parametrize(
    ("simulator_message", "user_message"),
    [
        ("'links': there is no path", "s.yaml: topology: there is no path"),
        ("'flows' row 3: node 2 is no host", "s.yaml: traffic: row 3: node 2 is no host"),
        ("'loss.probability' is 2, must be", "s.yaml: loss_probability: is 2, must be"),
        ("'switch.buffer_bytes' is 1, but", "s.yaml: switch.buffer_bytes: is 1, but"),
        ("without a key", "s.yaml: without a key"),
    ],
)
def test_keys_of_the_json_become_those_of_the_file(simulator_message: str, user_message: str) -> None:
    assert Scenario.from_mapping({}, "s.yaml").refusal(simulator_message) == user_message


@pytest.mark.parametrize("numbers", [[], [0], [-1, 2**63 - 1, -(2**63)], [*range(1000)]])
def test_long_lists_are_written_as_python_writes_them(numbers: list[int]) -> None:
    assert json_of(numbers) == json.dumps(numbers, separators=(",", ":"))


@pytest.mark.parametrize("value", [2**63, 1.5, True, None, "1", [1]])
def test_only_whole_numbers_are_written_natively(value: Any) -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        json_of([1, value])


@pytest.mark.parametrize(
    "topology",
    [
        {"kind": "cluster", "nodes": 8192, "gpus_per_node": 8, "scale_out": {"nodes_per_group": 32}},
        {"kind": "leaf_spine", "leaves": 1000, "spines": 32, "hosts_per_leaf": 100},
    ],
)
def test_networks_may_have_65_536_gpus_or_100_000_hosts(topology: dict[str, Any]) -> None:
    scenario = Scenario.from_mapping({"topology": topology, "traffic": {"kind": "incast", "flows": 3}}, "x")
    assert len(scenario.to_simulator_json()["nodes"]) > 100_000


def test_least_rates_beyond_the_link_are_one_line_with_both_rates(tmp_path: Path) -> None:
    incast = {"topology": {"kind": "dumbbell"}, "traffic": {"kind": "incast", "size_bytes": 10_000}}
    content = Scenario.from_mapping({**incast, "controllers": ["dcqcn"]}, "x").to_simulator_json()
    done = program({**content, "min_rate_bps": 30e9}, tmp_path)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"rdma-sim: warning: {tmp_path / 'x.json'}: 'min_rate_bps': 4 flows x 3e+10 bit/s")
    assert "= 1.2e+11 bit/s exceed the link of host 4, 1e+11 bit/s" in line
    assert json.loads(done.stdout)["totals"]["unfinished"] == 0
