# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments over scripts of ns-3: decisions of their flows, seeds, and errors of invalid ones."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import yaml

from ns3_env import FlowVecEnv, ScenarioError, SimulatorDied, SimulatorHung
from ns3_env.envs.script_env import ScriptEnv
from ns3_env.eval.commands.train import main as train
from ns3_env.simulator import Script, Simulator
from tests.samples.runs import CONFIG, checkpoints, the_run, written

ASKING = ["--controller=agent", "--senders=3", "--size=200000"]


def played(env: gym.Env[np.ndarray, np.ndarray], seed: int) -> list[float]:
    """The rewards of an episode under actions of one generator."""
    random = np.random.default_rng(7)
    env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        action = random.uniform(env.action_space.low, env.action_space.high)  # type: ignore[attr-defined]
        _, reward, terminated, truncated, info = env.step(action.astype(np.float32))
        rewards.append(float(reward))
        over = terminated or truncated
    assert info["slowdown"] > 1
    return rewards


def test_one_flow_of_a_script_is_an_environment_and_the_others_are_under_their_controller(
    incast: Path,
) -> None:
    env = gym.make("ns3_env/Script-v0", program=incast, args=ASKING, flow=1)
    first = played(env, 3)
    assert len(first) > 5
    assert played(env, 3) == first
    env.close()
    again = pickle.loads(pickle.dumps(ScriptEnv(incast, ASKING, flow=1)))
    assert played(again, 3) == first
    again.close()


def test_all_flows_of_a_script_are_slots_of_a_vector_environment(incast: Path) -> None:
    env = FlowVecEnv(program=incast, args=ASKING, slots=3, num_simulators=2)
    env.mask.acknowledge()
    observations = env.reset()
    assert observations.shape == (6, len(env.fields))
    ends = 0
    for _ in range(200):
        _, _, dones, _ = env.step(np.stack([env.action_space.sample() for _ in range(env.num_envs)]))
        ends += int(dones.sum())
    assert ends >= 6  # more than one episode of either
    env.close()


def test_a_training_learns_from_a_script(incast: Path, tmp_path: Path) -> None:
    config = yaml.safe_load(CONFIG)
    del config["evaluation"]
    config["env"]["placement"] = "python"
    script = {"program": str(incast), "args": ASKING, "slots": 3}
    curriculum = {"stages": [{"name": "incast", "scenario": script}]}
    assert train(written(tmp_path, config, curriculum)) == 0
    assert checkpoints(the_run(tmp_path))


def test_a_script_of_a_training_asks_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curriculum = {"stages": [{"name": "incast", "scenario": {"program": "incast"}}]}
    config = CONFIG.replace("env:\n", "env:\n  placement: simulator\n")
    assert train(written(tmp_path, config, curriculum)) == 2
    assert "program: a script's flows ask Python: env.placement: python" in capsys.readouterr().err


def test_the_seed_is_ns_3s_run(incast: Path) -> None:
    script = Script(incast, ASKING, seed=12)
    assert script.environment()["NS_GLOBAL_VALUE"].endswith("RngSeed=1;RngRun=12")


def test_a_copy_of_a_script_goes_on_as_it_does(incast: Path) -> None:
    env = ScriptEnv(incast, ASKING)
    env.reset(seed=1)
    branch = env.branch()
    action = np.full(env.action_space.shape, 0.5, np.float32)  # type: ignore[arg-type]
    for _ in range(5):
        step, copied_step = env.step(action), branch.step(action)
        assert np.array_equal(step[0], copied_step[0])
    branch.close()
    env.close()


@pytest.mark.parametrize(
    ("program", "args", "settings", "error", "message"),
    [
        ("incast", [], {}, ScenarioError, "no such flow under the controller 'agent'"),
        ("incast", ASKING, {"flow": 3}, ScenarioError, "no such flow under the controller 'agent'"),
        ("incast", ASKING, {"settings": {"clok": {}}}, ScenarioError, "there is no 'clok'; known: clock"),
        ("nowhere", [], {}, ScenarioError, "nowhere is no program: build the script first"),
        ("/bin/true", [], {}, SimulatorDied, "ended with exit code 0"),
        ("faults", ["node first"], {}, SimulatorDied, "make the helper before the first node"),
        ("faults", ["loose"], {}, ScenarioError, "device 1 of node 0 is not connected"),
    ],
)
def test_what_is_wrong_with_a_script_is_told(
    program: str,
    args: list[str],
    settings: Any,
    error: type[Exception],
    message: str,
    incast: Path,
    faults: Path,
) -> None:
    path = {"incast": incast, "faults": faults}.get(program, program)
    with pytest.raises(error, match=message):
        ScriptEnv(path, args, **settings).reset(seed=1)


def test_a_script_that_hangs_is_killed(faults: Path) -> None:
    simulator = Simulator(hang_timeout_s=0.3)
    simulator.send_reset(Script(faults, ["hang"]))
    with pytest.raises(SimulatorHung, match="without a sign of life"):
        simulator.receive()
