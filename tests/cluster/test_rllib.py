# SPDX-License-Identifier: GPL-2.0-or-later
"""The RLlib environment's rows, time limits and settings, and the export of learned policies."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch as th

from examples import rllib_flows
from ns3_env.agents.export.export import export
from ns3_env.agents.export.rllib import read_rllib_module, write_rllib_policy
from ns3_env.decision import observations
from ns3_env.envs.rllib_env import FlowMultiAgentEnv
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import PerFlowRtt, Synchronous
from tests.cluster.nodes import Head, options
from tests.samples.suites import suite_file

CUT = {
    "time_limit_ns": 100_000,
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 1_000_000, "spread_ns": 50_000},
}


def lives(env: FlowMultiAgentEnv, seed: int) -> tuple[dict[str, list[Any]], bool]:
    """Observations of each flow in an episode, under actions of 0; and whether it was truncated."""
    flow_observations: dict[str, list[Any]] = {}
    over: set[str] = set()
    observations, infos = env.reset(seed=seed)
    rewards: dict[str, float] = {}
    ended: set[str] = set()
    truncated: dict[str, bool] = {}
    while True:
        assert observations.keys() == infos.keys()
        assert not observations.keys() & over, "who has ended is not heard of again"
        assert rewards.keys() == observations.keys() & flow_observations.keys(), (
            "a flow's first row is paid nothing"
        )
        for agent, observation in observations.items():
            assert env.observation_spaces[agent].contains(observation)
            flow_observations.setdefault(agent, []).append(observation)
        over |= ended
        if "__all__" in ended:
            assert over - {"__all__"} == set(flow_observations)
            return flow_observations, truncated["__all__"]
        due = observations.keys() - over
        assert due, "somebody decides"
        actions = {agent: np.zeros(1, np.float32) for agent in due}
        observations, rewards, terminated, truncated, infos = env.step(actions)
        ended = {x for ends in (terminated, truncated) for x, is_over in ends.items() if is_over}


@pytest.mark.parametrize("clock", [PerFlowRtt(), Synchronous(interval_ns=10_000)], ids=lambda x: x.name)
def test_a_step_s_rows_are_flows_that_decide_or_have_ended(clock: Any) -> None:
    scenario = rllib_flows.INCAST.model_copy(update={"clock": clock})
    env = FlowMultiAgentEnv({"scenario": scenario, "fields": ["rtt", "pacing_rate"]})
    one, cut = lives(env, seed=3)
    again, _ = lives(env, seed=3)
    other, _ = lives(env, seed=4)
    env.close()
    assert not cut
    assert sorted(one) == env.possible_agents
    assert all(np.array_equal(one[agent], again[agent]) for agent in one)
    assert any(len(one[agent]) != len(other[agent]) for agent in one)


def test_flows_that_the_time_limit_cuts_are_truncated() -> None:
    for reward, truncated in (("staged", True), ("slowdown", False)):  # slowdown has charged the rest
        env = FlowMultiAgentEnv({"scenario": CUT, "reward": reward})
        _, cut = lives(env, seed=1)
        env.close()
        assert cut is truncated


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ValueError, match="there is no 'flow'; known: scenario, flows,"):
        FlowMultiAgentEnv({"flow": 3})
    with pytest.raises(ScenarioError, match="no flow is under 'agent'"):
        FlowMultiAgentEnv({"scenario": {**CUT, "controllers": [{"name": "hpcc"}]}})


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_the_example_learns_and_its_policy_joins_a_benchmark(
    algorithm: str,
    head: Head,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    out = tmp_path / "rllib"
    arguments = ["--algorithm", algorithm, "--iterations", "2", "--ray", head.address, "--out", str(out)]
    modules: list[Any] = []

    def kept(path: Path, algorithm: Any, module_id: str, env: Any) -> None:
        modules.append(algorithm.get_module(module_id))
        write_rllib_policy(path, algorithm, module_id, env)

    monkeypatch.setattr(rllib_flows, "write_rllib_policy", kept)
    rllib_flows.main(arguments)
    output = capsys.readouterr().out.split()
    assert output[3] != output[5], "weights that have not changed earn the same on the same episodes"
    file = out / "policy.safetensors"
    space = observations.observation_space(rllib_flows.FIELDS)
    space.seed(1)
    rows = np.stack([np.clip(space.sample(), -3, 3) for _ in range(200)]).astype(np.float32)
    expected = deterministic(modules[-1], rows)
    policy = NetworkPolicy.load(file)
    actions = policy.act(rows[:, None, :], np.ones(len(rows), dtype=np.int64))
    assert np.abs(actions - expected).max() < 1e-5
    assert np.ptp(actions) > 1e-3
    assert policy.spec.training.decisions > 0

    onnx = tmp_path / "policy.onnx"
    assert export(file, "onnx", onnx).passed
    assert onnx.exists()
    suite = suite_file(tmp_path, seeds=[1], controllers=["hpcc"])
    assert main(options(suite, tmp_path / "out", f"--checkpoint=mine={file}")) == 0
    assert {cell.controller for cell in BenchFolder.read(tmp_path / "out").cells} == {"hpcc", "mine"}
    assert json.loads((tmp_path / "out/cells/incast/mine/seed-1/metrics.json").read_text())["metrics"]


def deterministic(module: Any, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The mean of RLlib's exploration: (n, 1), clipped to the space as its connector does."""
    with th.no_grad():
        inputs = module.forward_inference({"obs": th.from_numpy(rows)})["action_dist_inputs"]
    dist = module.get_inference_action_dist_cls().from_logits(inputs)
    th.manual_seed(1)
    explored = dist.sample(sample_shape=(4001,)).numpy()
    middle = dist._squash(dist.loc) if hasattr(dist, "_squash") else dist.to_deterministic().sample()
    actions: np.ndarray[Any, Any] = np.clip(middle.numpy(), -1.0, 1.0)
    assert np.abs(np.median(np.clip(explored, -1.0, 1.0), axis=0) - actions).max() < 0.1
    return actions


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"fcnet_activation": "silu"}, "layer 1 is SiLU"),
        ({"use_lstm": True}, "has no place in a policy's file"),
        ({"vf_share_layers": False}, None),
        ({"free_log_std": True}, None),
    ],
)
def test_what_the_format_does_not_know_is_named(changes: dict[str, Any], text: str | None) -> None:
    from ray.rllib.algorithms.ppo.ppo_catalog import PPOCatalog
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    module = DefaultPPOTorchRLModule(
        observation_space=observations.observation_space(rllib_flows.FIELDS),
        action_space=gym.spaces.Box(-1, 1, (1,), np.float32),
        model_config=DefaultModelConfig(fcnet_hiddens=[8], **changes),
        catalog_class=PPOCatalog,
    )
    if text is None:
        assert read_rllib_module(module).tensors["layers.1.weight"].shape == (1, 8)
    else:
        with pytest.raises(ConfigError, match=text):
            read_rllib_module(module)
