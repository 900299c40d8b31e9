# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy files in Python: decisions as the agent's own code makes them, a history for each flow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ns3_env.config.imports import trust
from ns3_env.decision import observations
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.errors import ConfigError
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy, SlotStates
from tests.samples.agents import AGENTS, RECURRENT_PPO, trainer
from tests.samples.policy_files import tiny


def played(policy: PolicyFile, path: Path) -> NetworkPolicy:
    write_policy(path, policy)
    return NetworkPolicy.load(path)


@pytest.fixture(autouse=True)
def recurrent_ppo_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NS3_ENV_NAMED_CODE", "")
    trust([RECURRENT_PPO])


@pytest.mark.parametrize("agent", AGENTS)
def test_flows_that_decide_apart_get_what_the_agents_own_code_says(tmp_path: Path, agent: str) -> None:
    fields = ["rtt", "qlen", "qlen_slope", "last_action"]
    agent_trainer = trainer(AGENTS[agent], fields=fields)
    file = played(agent_trainer.export(), tmp_path / "policy.safetensors")
    assert isinstance(file, Policy)
    assert file.fields == agent_trainer.policy.fields
    generator, file_states, trainer_states = (
        np.random.default_rng(6),
        SlotStates(file),
        SlotStates(agent_trainer.policy),
    )
    for _ in range(20):
        slots = generator.permutation(5)[: generator.integers(1, 6)]
        rows = generator.uniform(0, 1, (len(slots), len(file.fields))).astype(np.float32)
        if generator.random() < 0.2:
            file_states.forget(slots[:1])
            trainer_states.forget(slots[:1])
        assert np.allclose(
            file_states.predict(rows, slots), trainer_states.predict(rows, slots), rtol=0, atol=1e-5
        )


@pytest.mark.parametrize("kind", ["lstm", "carried"])
def test_it_needs_neither_pytorch_nor_an_agents_code(tmp_path: Path, kind: str) -> None:
    write_policy(tmp_path / "policy.safetensors", tiny(kind))
    blocked = [f"sys.modules[{name!r}] = None" for name in ("torch", "stable_baselines3", "agents")]
    lines = [
        "import sys, pathlib, numpy",
        *blocked,
        "from ns3_env.policies.native_policy import NetworkPolicy",
        "policy = NetworkPolicy.load(pathlib.Path('policy.safetensors'))",
        "print(policy.predict(numpy.ones((2, 3)))[0].shape)",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("(2, 1)\n", "")


def test_beside_an_environment_it_acts_by_its_own_settings(tmp_path: Path) -> None:
    action = {"name": "multiplicative_window", "alpha": 0.9, "rounding": "none"}
    file = played(tiny(action=action), tmp_path / "policy.safetensors")
    record = np.zeros((1, len(observations.FIELDS)))
    for name, value in {
        "rtt": 2.0, "qlen": 1.0, "window_bytes": 5e4, "bdp_bytes": 1e5, "packet_bytes": 1090.0,
        "base_rtt_ns": 8e3, "host_rate_bps": 1e11,
    }.items():  # fmt: skip
        record[0, observations.INDEX[name]] = value
    observation = record[:, observations.field_indices(file.fields)].astype(np.float32)
    answer = file.act(observation[None], np.array([1]))
    window = BackgroundPolicy(file).actions(record, np.array([0]))[0, 0]
    factor = 1 + 0.9 * answer[0, 0] if answer[0, 0] >= 0 else 1 / (1 - 0.9 * answer[0, 0])
    assert window == pytest.approx(5e4 * factor)
    assert abs(factor - 1) > 0.05


def test_an_answer_beyond_1_is_1_and_weights_too_large_for_any_are_one_line(tmp_path: Path) -> None:
    network = {"kind": "mlp", "hidden_activation": "relu", "output_activation": "none"}
    large = tiny(network=network)
    for weight in (10.0, 3e38):
        for tensor in large.tensors.values():
            tensor[:] = weight
        file = played(large, tmp_path / f"{weight}.safetensors")
        if weight == 10.0:
            assert file.act(np.ones((1, 1, 3), np.float32), np.array([1])).tolist() == [[1.0]]
    with pytest.raises(ConfigError, match="its weights are too large"):
        file.act(np.ones((1, 1, 3), np.float32), np.array([1]))
