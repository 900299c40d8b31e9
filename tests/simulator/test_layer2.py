# SPDX-License-Identifier: GPL-2.0-or-later
"""Feedback frames of switches against IEEE 802.1Q, their use by laws, policies that learn from them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from scapy.layers.l2 import Ether

import train
from ns3_env.config.folders import DATA
from ns3_env.decision.actions import MultiplicativeRate
from ns3_env.decision.observations import FIELDS, INDEX, column, wire_bytes
from ns3_env.decision.rewards import make_reward
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollout, Rollouts
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.policies.file import read_policy
from ns3_env.scenario import (
    CongestionPoints,
    Controller,
    PerNotification,
    Record,
    Scenario,
    Switch,
    Synchronous,
    published_congestion_points,
)
from ns3_env.scenario.topology import Graph
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import DecisionBatch, Simulator
from tests.samples.files import Refused, dumped
from tests.samples.runs import checkpoints, the_run, written
from tests.simulator.frames import frames_of

#: Three flows of a megabyte into 1 Gb/s.
INCAST: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 3, "rate_bps": 1e9},
    "traffic": {"kind": "incast", "size_bytes": 5_000_000},
    "time_limit_ns": 2_000_000_000,
}
TOLD = {"feedback": "both", "sample_bytes": 30_000, "adaptive_sampling": False}


def scenario(controller: str, **other: Any) -> Scenario:
    """The incast under a controller."""
    return Scenario.from_mapping({**INCAST, "controllers": [{"name": controller}], **other}, "x")


def points(scenario: Scenario) -> Any:
    """The congestion points in the simulator's JSON."""
    return scenario.to_simulator_json()["switch"]["congestion_points"]


def test_switches_give_feedback_where_the_flows_law_needs_it() -> None:
    declared = published_congestion_points()
    assert {"bcn", "qcn", "smcc"} == set(declared) - {"aimd"}
    for name, points_config in declared.items():
        assert points(scenario(name)) == points_config.model_dump()
    for name in ("agent", "dcqcn", "hpcc", "mpcc"):
        assert points(scenario(name)) is None


def test_what_a_scenario_says_of_feedback_comes_first() -> None:
    assert points(scenario("qcn", switch={"congestion_points": None})) is None
    point = points(scenario("hpcc", switch={"congestion_points": TOLD}))
    assert (point["feedback"], point["sample_bytes"], point["target_bytes"]) == ("both", 30_000, 64_000)


@pytest.mark.parametrize("controller", ["bcn", "qcn", "smcc"])
def test_a_law_of_layer_2_holds_the_queue_at_its_target_and_the_link_busy(
    controller: str, simulator: Simulator
) -> None:
    qcn_scenario = scenario(
        controller, traffic={"kind": "incast", "size_bytes": 10**12}, time_limit_ns=500_000_000
    )
    results = simulator.play(qcn_scenario)
    queue = max(results["queues"], key=lambda port: port["mean_bytes"])
    assert results["totals"]["notification_frames"] > 100
    assert queue["mean_bytes"] == pytest.approx(64_000, rel=0.25)
    busy = queue["tx_bytes"] * 8e9 / (results["totals"]["end_ns"] * queue["rate_bps"])
    assert busy > 0.9


def test_a_policy_decides_at_each_frame_and_sees_what_it_says() -> None:
    qcn_scenario = scenario("agent", clock=PerNotification(), switch={"congestion_points": TOLD})
    qcn_scenario.controllers[0].attributes["InitialWindow"] = False
    batches: list[np.ndarray] = []
    with Simulator() as simulator:
        simulator.send_reset(qcn_scenario)
        while isinstance(message := simulator.receive(), DecisionBatch):
            due = message.records[message.due]
            batches.append(due)
            rates = np.where(column(due, "notified_offset") > 0, 1e8, 5e8)
            simulator.send_actions(np.stack([np.full(len(due), 1e12), rates, np.zeros(len(due))], axis=1))
        totals = message.results["totals"]
    heard = (
        "notified_offset",
        "notified_delta",
        "notified_feedback",
        "notification_recency",
        "notifications",
    )
    assert wire_bytes(heard) == 0  # switches' frames add nothing to data packets
    rows = np.concatenate(batches)
    # Each frame is a decision, but for those that come to flows that have ended.
    assert totals["notification_frames"] - 5 <= len(rows) <= totals["notification_frames"]
    assert (column(rows, "notifications") == 1).all()
    assert (column(rows, "notification_recency") == 1).all()
    offset = column(rows, "notified_offset") * column(rows, "bdp_bytes")
    delta = column(rows, "notified_delta") * column(rows, "bdp_bytes")
    np.testing.assert_allclose(np.rint(offset / 64) * 64, offset, atol=1e-6)
    # −Fb in 63 levels of q0 (2 w + 1), of a queue before it was rounded to 64 B.
    level = 63 * np.clip((offset + 2 * delta) / (64_000 * 5), 0, 1)
    np.testing.assert_allclose(column(rows, "notified_feedback") * 63, level, atol=1.1)
    assert offset.min() < 0 < offset.max()


TYPE = 0x22E7
PACKET = 1048  # bytes on the wire
#: Packets come at 100 Gb/s, every T, and leave at 30 Gb/s, every 10/3 T. Each tenth is a sample; with the
#: k-th there are k - (1 + floor((k - 1) / (10/3))) in the queue: the others have started to leave, at T,
#: 4.33 T, 7.67 T, 11 T, ...
QUEUES = [7 * PACKET, 14 * PACKET, 21 * PACKET]
TARGET = 20_000
SAMPLED = Scenario(
    topology=Graph(
        nodes=["host", "host", "switch"],
        links=[
            {"a": 0, "b": 2, "rate_bps": 100e9, "delay_ns": 1000},
            {"a": 1, "b": 2, "rate_bps": 30e9, "delay_ns": 1000},
        ],
    ),
    traffic=FlowList(flows=[Flow(src=0, dst=1, size_bytes=35_000)]),
    switch=Switch(
        congestion_points=CongestionPoints(
            target_bytes=TARGET,
            sample_bytes=10 * PACKET,
            sample_jitter=0,
            adaptive_sampling=False,
            feedback="both",
        )
    ),
    controllers=[Controller(name="fixed-window")],
)


def read(frame: bytes) -> SimpleNamespace:
    """The fields of a notification, in their own units, by their places in the standard."""
    ether = Ether(frame)
    body = bytes(ether.payload)
    length = int.from_bytes(body[22:24], "big")
    return SimpleNamespace(
        to=ether.dst,
        sender=ether.src,
        version=body[0] >> 4,
        quantised=int.from_bytes(body[:2], "big") & 0x3F,
        point=body[2:10],
        offset=int.from_bytes(body[10:12], "big", signed=True),
        delta=int.from_bytes(body[12:14], "big", signed=True),
        priority=body[14] >> 5,
        towards=body[16:22],
        about=body[24 : 24 + length],
    )


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Frames of that type at the sender's port."""
    at = tmp_path_factory.mktemp("pcap")
    record = Record(pcap=str(at / "x"), pcap_ports=[(0, 0)])
    with Simulator() as simulator:
        results = simulator.play(SAMPLED.model_copy(update={"record": record}))
    assert results["totals"]["notification_frames"] == len(QUEUES)
    return [frame.data for frame in frames_of(at / "x.pcapng") if Ether(frame.data).type == TYPE]


def test_each_sample_is_a_frame_with_the_queue_worked_out_by_hand(frames: list[bytes]) -> None:
    messages = [read(frame) for frame in frames]
    changes = [after - before for before, after in zip([0, *QUEUES], QUEUES, strict=False)]
    assert [frame.offset for frame in messages] == [-198, -83, 31]  # (q - q0) / 64 B, rounded
    assert [frame.offset for frame in messages] == [round((q - TARGET) / 64) for q in QUEUES]
    assert [frame.delta for frame in messages] == [round(change / 64) for change in changes] == [115] * 3
    # q - q0 + 2 (q - q_old): 2,008, 9,344 and 16,680 B; 63 levels are 5 q0 = 100 kB
    assert [frame.quantised for frame in messages] == [1, 5, 10]


def test_the_frame_says_who_speaks_to_whom_of_what(frames: list[bytes]) -> None:
    for place, frame in enumerate(frames):
        message = read(frame)
        assert len(frame) == 102
        assert (message.to, message.sender) == ("02:00:00:00:00:00", "02:00:00:00:00:02")
        assert (message.version, message.priority) == (0, 3)
        assert message.point == bytes.fromhex(
            "020000000002 0001"
        )  # the switch's MAC, its port towards the receiver
        assert message.towards == bytes.fromhex("020000000001")
        assert message.about[:2] == b"\x08\x00"
        assert len(message.about) == 64
        # Of the sampled packet: IPv4 (20 B), UDP (8 B), BTH with the sequence number in its last three bytes
        assert int.from_bytes(message.about[2 + 20 + 8 + 9 : 2 + 20 + 8 + 12], "big") == 10 * place + 9


HEARD = ["notified_offset", "notified_delta", "notified_feedback", "pacing_rate", "last_action"]
POINTS = {"feedback": "both", "sample_bytes": 30_000, "adaptive_sampling": False}


def incast(*sizes: int, points: Any = POINTS) -> dict[str, Any]:
    """A flow of each size, each from its own sender, at 100 Gb/s."""
    n = len(sizes)
    flows = [{"src": i, "dst": n, "size_bytes": size} for i, size in enumerate(sizes)]
    return {
        "time_limit_ns": 400_000,
        "topology": {"kind": "dumbbell", "senders": n},
        "traffic": {"kind": "list", "flows": flows},
        "switch": {"congestion_points": points},
        "controllers": [{"name": "agent", "attributes": {"InitialWindow": False}}],
        "clock": {"name": "per_notification"},
    }


def listed(*sizes: int, points: Any = POINTS) -> Scenario:
    return Scenario.from_mapping(incast(*sizes, points=points), "x")


def vec_env(scenario: Scenario, slots: int = 2) -> FlowVecEnv:
    return FlowVecEnv(
        scenario, slots=slots, fields=HEARD, reward="queue_target", action=MultiplicativeRate(window="none")
    )


def small(tmp_path: Path) -> list[str]:
    """The project's own configuration with less of everything, and the command line that trains with it."""
    config = yaml.safe_load((DATA / "configs/layer2.yaml").read_text())
    del config["evaluation"]
    config["agent"] |= {"learning_starts": 1000, "train_freq": 16, "gradient_steps": 1, "batch_size": 128}
    config["train"] = {"decisions": 4_000, "checkpoint_every": 1_000_000}
    stages = [{"name": "two", "scenario": incast(20_000_000, 20_000_000)}]
    return written(tmp_path, config, {"stages": stages})


def inside(policy: Path, content: dict[str, Any], episodes: int = 1) -> list[Rollout]:
    """Episodes of a policy's file inside the simulator, of seeds that no training of seed 1 has."""
    with Rollouts(
        Scenario.from_mapping(content, "x"), fields=HEARD, reward="queue_target", seed=99
    ) as rollouts:
        for _ in range(episodes):
            rollouts.begin(policy)
        return [rollouts.next() for _ in range(episodes)]


def earned(policy: Path) -> float:
    """Reward per decision of two long flows."""
    rollouts = inside(policy, incast(20_000_000, 20_000_000), episodes=4)
    for rollout in rollouts:
        assert rollout.records[:, INDEX["flow_count"]].max() == 2  # known to the reward, not to the policy
    return float(np.mean([r.rewards.sum() / r.decisions for r in rollouts]))


def test_two_flows_learn_their_rates_from_feedback_frames_alone(tmp_path: Path) -> None:
    assert train.main(small(tmp_path)) == 0
    untrained, *_, trained = checkpoints(the_run(tmp_path))
    before, after = (earned(at / "policy.safetensors") for at in (untrained, trained))
    assert after > before + 0.5
    spec = read_policy(trained / "policy.safetensors").spec
    assert spec.clock == PerNotification()
    assert spec.telemetry_bytes == 0
    assert list(spec.fields) == HEARD
    # No frame, and no decision; an end amid the episode; a cut.
    (rollout,) = inside(trained / "policy.safetensors", incast(5_000, 200_000, 20_000_000))
    decisions = np.bincount(rollout.flows[rollout.decided], minlength=3)
    assert decisions[0] == 0 < decisions[1] < decisions[2]
    assert rollout.flows[rollout.terminated].tolist() == [0, 1]
    assert rollout.flows[rollout.truncated].tolist() == [2]
    assert np.isinf(rollout.windows[rollout.decided, 0]).all()


def test_the_reward_is_largest_at_a_fair_share_of_what_brings_the_queue_to_its_target() -> None:
    reward = make_reward("queue_target", within=10)
    records = np.zeros((3, len(FIELDS)))
    records[:, INDEX["flow_count"]] = 4
    records[:, INDEX["notified_offset"]] = [0, 5, -5]  # BDPs
    for fair, row in zip((0.25, 0.125, 0.375), range(3), strict=True):
        for rate, expected in ((fair, 0.0), (2 * fair, -np.log(2)), (fair / 3, -np.log(3))):
            records[row, INDEX["pacing_rate"]] = rate
            assert reward(records)[row] == pytest.approx(expected)
    with pytest.raises(ValueError, match="within"):
        make_reward("queue_target", within=0)


@pytest.mark.parametrize(
    ("sizes", "points", "message"),
    [((1000,), None, "per_notification"), ((5_000, 5_000), POINTS, "without a dec")],
)
def test_a_clock_of_frames_where_none_ever_comes_is_refused(
    sizes: tuple[int, ...], points: Any, message: str
) -> None:
    with vec_env(listed(*sizes, points=points)) as env:
        with pytest.raises(ScenarioError, match=message):
            env.reset()
        assert points is None or all(simulator.pid is None for simulator in env._simulators)


def test_a_training_tells_where_no_frame_ever_comes(tmp_path: Path, refused: Refused) -> None:
    command = small(tmp_path)
    dumped(tmp_path / "curriculum.yaml", {"stages": [{"name": "none", "scenario": incast(5_000)}]})
    assert "episodes in a row ended without a decision" in refused(train.main, *command)


def test_a_gymnasium_env_tells_where_no_frame_comes() -> None:
    env = FlowEnv(listed(5_000, 20_000_000, 20_000_000), others="qcn", fields=HEARD, reward="queue_target")
    with pytest.raises(ScenarioError, match="never decides"):
        env.reset(seed=1)
    env.close()


def test_flows_that_no_frame_reaches_and_flows_that_end_early_are_ends_without_decisions() -> None:
    three_flows = listed(5_000, 200_000, 20_000_000)  # no frame; ends during the episode; is truncated
    with vec_env(three_flows, slots=3) as env:
        env.mask.acknowledge()  # slots that are not due are checked here
        env.reset()
        ended: dict[int, int] = {}
        while not env.results:
            _, _, dones, infos = env.step(np.zeros((3, 1)))
            for slot in np.flatnonzero(dones):
                if "episode" in infos[slot]:
                    ended[int(slot)] = infos[slot]["episode"]["l"]
        (_, results) = env.results[0]
    assert results["totals"]["unfinished"] == 1
    assert ended[1] > 0
    assert ended[2] > ended[1]


def test_parallel_agents_go_on_without_frames() -> None:
    three_flows = listed(5_000, 20_000_000, 20_000_000).model_copy(
        update={"clock": Synchronous(interval_ns=10_000)}
    )
    env = FlowParallelEnv(three_flows, fields=[*HEARD, "notification_recency"], reward="queue_target")
    observations, _ = env.reset(seed=1)
    recency = np.zeros(3)
    while env.agents:
        observations, *_ = env.step({agent: np.zeros(1, np.float32) for agent in env.agents})
        for agent, observation in observations.items():
            recency[int(agent[5:])] = max(recency[int(agent[5:])], observation[-1])
    env.close()
    assert recency[0] == 0
    assert (recency[1:] > 0).all()
