# SPDX-License-Identifier: GPL-2.0-or-later
"""Exported policies: answers of each format against the original's, and runs from only a file."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch as th
import yaml
from stable_baselines3.common.torch_layers import FlattenExtractor
from torch import nn

from ns3_env.agents.export.export import largest_difference, record_histories
from ns3_env.agents.export.formats import FORMATS, find_format
from ns3_env.agents.export.source import Source, find_source
from ns3_env.agents.sb3.export import of_sb3
from ns3_env.agents.training.checkpoint import TrainedPolicy, resolve
from ns3_env.agents.training.layout import read_arrays, write_arrays
from ns3_env.config.imports import trust
from ns3_env.decision import observations
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.commands.export import main
from ns3_env.policies.file import KEY, read_policy, write_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.history import Floats, Ints
from ns3_env.policies.native_policy import NetworkPolicy
from tests.paths import ROOT
from tests.samples.agents import AGENTS, FIELDS, RECURRENT_PPO, checkpoint, configuration, trainer
from tests.samples.files import Refused
from tests.samples.policy_files import tiny


@pytest.fixture(autouse=True)
def recurrent_ppo_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NS3_ENV_NAMED_CODE", "")
    trust([RECURRENT_PPO])


def recurrent_ppo(**policy_kwargs: Any) -> dict[str, Any]:
    return {"name": RECURRENT_PPO, "options": {"policy_kwargs": policy_kwargs}}


def histories(spec: PolicySpec, n: int = 300) -> tuple[Floats, Ints]:
    """Observations anywhere in the fields' ranges, in histories of any length."""
    k, fields = depth(spec), spec.fields
    generator = np.random.default_rng(2)
    space = observations.observation_space(fields)
    spread = 10 ** generator.uniform(-3, 2, size=(n, k, len(fields))).astype(np.float32)
    windows = np.clip(spread * generator.choice([-1, 1], spread.shape), space.low, space.high)
    lengths = generator.integers(1, k + 1, size=n)
    windows[np.arange(k) >= lengths[:, None]] = 0
    return windows.astype(np.float32), lengths


def depth(spec: PolicySpec) -> int:
    """Number of histories: K, or enough of them for a state that is never reset."""
    return 12 if spec.network.carries else spec.history


def out_of(text: str) -> float:
    """The difference that the command has printed."""
    line = next(line for line in text.splitlines() if line.startswith("largest difference to "))
    return float(line.rpartition(": ")[2])


@pytest.mark.parametrize("agent", ["fdcc", "recurrent_ppo"])
def test_each_format_answers_as_the_networks_do_that_were_trained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str
) -> None:
    """Trained on formulas also."""
    fields = ["q = 1 + rtt / 2", "qlen", "w = rtt - qlen"]
    folder = checkpoint(tmp_path / "checkpoint", AGENTS[agent], fields=fields)
    policy = read_policy(folder / "policy.safetensors")
    original = json.loads(policy.header())
    assert policy.spec.fields[:2] == ("rtt", "qlen")
    for form in FORMATS:
        out = tmp_path / f"policy.{form}"
        assert main([str(folder), "--format", form, "--out", str(out)]) == 0
        output = capsys.readouterr().out
        # Policies with custom code are read only from the file.
        source = "policy.safetensors" if agent == "recurrent_ppo" else "policy.npz"
        assert f"largest difference to {source} on 1,000 observations: " in output
        assert out_of(output) <= 1e-5
        assert original["sha256"] in output
        assert KEY.encode() in out.read_bytes()
    assert json.loads(read_policy(tmp_path / "policy.native").header()) == original
    properties = {entry.key: entry.value for entry in onnx.load(tmp_path / "policy.onnx").metadata_props}
    assert json.loads(properties[KEY]) == original
    extra = {KEY: ""}
    th.export.load(tmp_path / "policy.pt2", extra_files=extra)
    assert json.loads(extra[KEY]) == original
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"checkpoint", *(f"policy.{form}" for form in FORMATS)}


@pytest.mark.parametrize(
    "agent",
    [
        *AGENTS.values(),
        {**AGENTS["fdcc"], "history_length": 1, "net_arch": []},
        {"name": "ppo", "options": {"policy_kwargs": {"net_arch": []}}},
        {"name": "ppo", "options": {"use_sde": True, "policy_kwargs": {"squash_output": True}}},
        recurrent_ppo(shared_lstm=True, enable_critic_lstm=False),
        recurrent_ppo(lstm_kwargs={"bias": False}, net_arch=[]),
        {"name": "sac", "options": {"use_sde": True, "buffer_size": 10}},
        {"name": "sac", "options": {"use_sde": True, "policy_kwargs": {"clip_mean": 0.0}, "buffer_size": 10}},
    ],
    ids=str,
)  # fmt: skip
def test_every_history_is_answered_as_by_the_original(tmp_path: Path, agent: dict[str, Any]) -> None:
    original, path = trainer(agent), tmp_path / "policy.safetensors"
    policy = original.export()
    write_policy(path, policy)
    inputs = histories(policy.spec)
    assert original.act(*inputs).std() > 0.01
    assert largest_difference(NetworkPolicy.load(path).act, original.act, *inputs) < 1e-5


SLOW = {"field": "rtt", "transform": "symlog"}
PACED = {"field": "pacing_rate", "transform": "symlog"}
DERIVED = {"derived": "rtt_target", "margin": 1.5, "target": 0.064, "gain": 0.1}
ELSEWHERE = {**DERIVED, "base_ns": 8192.0}
#: Each operation of a formula, a division by zero, and steps beyond every limit.
FORMULAS = [
    {"field": "q = -min(rtt, 2) / (3 + abs(qlen_slope)) + log(qlen) / 20", "transform": "symlog"},
    {"field": "w = log(max(qlen / goodput, exp(rtt))) / 30"},
    {"field": "z = qlen / (rtt - rtt)"},
    {"field": "rtt", "transform": "symlog"},
]


@pytest.mark.filterwarnings("error::DeprecationWarning", "error::FutureWarning")
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("mlp", {"observation": [ELSEWHERE, {"field": "qlen"}, DERIVED, SLOW], "history": 4}),
        ("mlp", {"observation": [*FORMULAS, {"field": "last_action"}], "history": 3}),
        ("carried", {"observation": FORMULAS}),
        ("carried", {"observation": [PACED, DERIVED], "shortcut": 5}),
        ("lstm", {"observation": [PACED, DERIVED], "history": 2}),
    ],
    ids=str,
)  # fmt: skip
def test_each_format_derives_inputs_and_lays_out_histories_as_the_simulator_does(
    tmp_path: Path, form: str, kind: str, changes: dict[str, Any]
) -> None:
    policy, path = tiny(kind, **changes), tmp_path / "policy.pt2"
    if kind == "mlp":
        policy.tensors["layers.0.weight"] *= 0.3  # answers before tanh's ends
    write_policy(tmp_path / "own", policy)
    native = NetworkPolicy.load(tmp_path / "own").act
    find_format(form).write(path, policy)
    inputs, act = histories(policy.spec), find_format(form).evaluator(path)
    inputs[0][:50] *= np.float32(1e20)  # what lies outside a field's range counts as its end
    assert native(*inputs).std() > 0.01
    assert largest_difference(act, native, *inputs) < 1e-5
    for n in (1, 7):  # any number of flows
        few = (inputs[0][:n], inputs[1][:n])
        assert np.allclose(act(*few), native(*few), atol=1e-5)


def test_a_file_says_where_it_comes_from(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "c", AGENTS["fdcc"], clock={"name": "per_flow_rtt", "rtt_fraction": 0.25})
    spec = read_policy(folder / "policy.safetensors").spec
    # Without the field last_action, FDCC remembers its own actions.
    assert spec.fields == (*FIELDS, "last_action")
    assert {entry.transform for entry in spec.observation} == {"symlog"}
    assert (spec.history, spec.network.kind) == (4, "lstm")
    assert spec.action == {"name": "multiplicative_window", "alpha": 0.25, "rounding": "none"}
    assert spec.clock.model_dump() == {"name": "per_flow_rtt", "rtt_fraction": 0.25}
    assert (spec.training.agent, spec.training.seed, spec.training.decisions) == ("fdcc", 5, 0)
    assert {"torch", "ns3-env", "python"} <= set(spec.training.versions)
    with_last_action = trainer(AGENTS["fdcc"], fields=["rtt", "last_action"]).export().spec
    assert with_last_action.fields == ("rtt", "last_action")


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_that_answers_otherwise_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    folder = checkpoint(tmp_path / "checkpoint", AGENTS["td3"])
    arrays = read_arrays(folder / "policy.npz")
    arrays["actor.mu.0.weight"][0, 0] += 0.1
    write_arrays(folder / "policy.npz", arrays)
    assert main([str(folder), "--format", form, "--out", str(tmp_path / "out")]) == 1
    output = capsys.readouterr()
    assert out_of(output.out) > 1e-5
    assert "is not written" in output.err
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


class Own(FlattenExtractor):
    """Could do anything."""


PLAIN, HOLDS = ("ppo", "td3", "sac"), "a policy's file holds"


@pytest.mark.parametrize(
    ("agents", "kwargs", "words"),
    [
        (PLAIN, {"activation_fn": nn.ELU}, f"layer 1 is ELU: {HOLDS} ReLU or Tanh there"),
        (PLAIN, {"features_extractor_class": Own}, "features_extractor: Own has no place in a policy's file"),
        (["recurrent_ppo"], {"n_lstm_layers": 2}, f"lstm_actor: has 2 layers: {HOLDS} an LSTM of one"),
        (
            ["recurrent_ppo"],
            {"lstm_kwargs": {"bidirectional": True}},
            "lstm_actor: is bidirectional: a policy's file",
        ),
        (["recurrent_ppo"], {"lstm_kwargs": {"proj_size": 3}}, "lstm_actor: projects its output: a"),
        (["recurrent_ppo"], {"activation_fn": nn.ELU}, "action_net: layer 1 is ELU"),
    ],
    ids=str,
)
def test_what_the_format_does_not_know_is_refused_by_name(
    agents: Sequence[str], kwargs: dict[str, Any], words: str
) -> None:
    for agent in agents:
        model = trainer({"name": AGENTS[agent]["name"]}).model
        policy = "MlpLstmPolicy" if agent == "recurrent_ppo" else "MlpPolicy"
        algorithm = type(model)(policy, model.env, policy_kwargs=kwargs, device="cpu")
        with pytest.raises(ConfigError, match=words):
            of_sb3(algorithm.policy)


def test_a_file_of_a_policy_that_carries_its_state_is_compared_from_flows_first_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ns3_env.agents.export.export.MAX_HISTORY", 8)
    write_policy(tmp_path / "p", tiny("carried"))
    windows, lengths = record_histories(find_source(tmp_path / "p"), 100)
    assert set(lengths) == set(range(1, 8))
    first_rows = {row.tobytes() for row in windows[lengths == 1, 0]}
    assert {row.tobytes() for row in windows[:, 0]} <= first_rows


def test_mistakes_are_one_line(tmp_path: Path, refused: Refused) -> None:
    folder = checkpoint(tmp_path / "checkpoint", AGENTS["td3"])
    (tmp_path / "thesis.tex").write_text("precious")
    for source, out, words in (
        (tmp_path / "nowhere", "p", "does not exist"),
        (tmp_path / "thesis.tex", "p", "thesis.tex: no safetensors file"),
        (folder, "thesis.tex", "no export wrote it"),
        (folder, "nowhere/p", "there is no folder"),
        (folder, "checkpoint", "is no file"),
    ):
        assert words in refused(main, source, "--format", "native", "--out", tmp_path / out)
    assert (tmp_path / "thesis.tex").read_text() == "precious"
    (folder / "policy.safetensors").unlink()
    command = [folder, "--format", "native", "--out", tmp_path / "p"]
    assert "has no policy.safetensors" in refused(main, *command)
    assert not (tmp_path / "p").exists()


def test_a_file_plays_wherever_a_checkpoint_does_without_its_agents_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    folder = checkpoint(tmp_path / "checkpoint", AGENTS["fdcc"])
    layout = json.loads((folder / "layout.json").read_text())
    (folder / "layout.json").write_text(json.dumps({**layout, "agent": "somebodys", "settings": {}}))
    bare = Path(shutil.copy(folder / "policy.safetensors", tmp_path / "mine.safetensors"))
    suite = tmp_path / "suite.yaml"
    two = "{topology: {kind: dumbbell, senders: 2}, traffic: {kind: incast, size_bytes: 20000}}"
    suite.write_text(f"controllers: [hpcc]\nscenarios: [{{name: two, scenario: {two}}}]")
    joined = [f"--checkpoint=bare={bare}", f"--checkpoint=folder={folder}"]
    assert eval_main(["benchmark", str(suite), "--out", str(tmp_path / "out"), *joined]) == 0
    (flows,) = {
        next((tmp_path / "out").rglob(f"{name}/seed-1/flows.csv")).read_bytes() for name in ("bare", "folder")
    }
    assert flows.count(b"\n") == 3
    cell = next((tmp_path / "out").rglob("bare/seed-1")) / "config.yaml"
    assert eval_main(["run", str(cell), "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "bare" / "flows.csv").exists()
    policy = resolve(bare).load()
    assert isinstance(policy, TrainedPolicy)
    assert policy.clock is not None
    assert policy.env.action.settings == {"alpha": 0.25, "rounding": "none"}


BLOCKED = """
import sys
for name in ("torch", "stable_baselines3", "gymnasium", "ns3_env", "agents", "eval", "ns3"):
    sys.modules[name] = None
sys.path.insert(0, {folder!r})
import json
from deploy_onnx import Deployed, main
for path in {paths!r}:
    main(path)
    flow = Deployed(path)
    print(json.dumps([flow.decide(row) for row in json.loads({rows!r})]))
"""

FORMULA = "excess = 1e-1 * max(rtt - 1.e0, goodput)"
ACTIONS: list[dict[str, Any]] = [
    *({"name": "multiplicative_window", "alpha": 0.5, "rounding": x} for x in ("floor", "progress", "none")),
    {"name": "recursive_window", "alpha": 0.5, "most_factor": 2.0},
    {"name": "exponential_window", "alpha": 0.7, "least_packets": 0.5},
    {"name": "logarithmic_window", "least_packets": 0.5},
    {"name": "fair_share_window", "alpha": 1.5, "least_packets": 0.5},
    {"name": "multiplicative_rate", "alpha": 0.2, "least_packets": 0.5},
]


@pytest.mark.parametrize("agent", ["fdcc", "recurrent_ppo", "td3"])
def test_the_example_decides_as_here_with_onnx_runtime_alone(tmp_path: Path, agent: str) -> None:
    generator, expected, paths = np.random.default_rng(4), [], []
    rows: list[dict[str, float]] = []
    for number, action in enumerate(ACTIONS):
        learner = trainer(AGENTS[agent], action=action, fields=[*FIELDS, "fair_share", FORMULA])
        policy = learner.export()
        paths.append(str(tmp_path / f"policy-{number}.onnx"))
        if number == 0:
            find_format("onnx").write(Path(paths[0]), policy)
        else:  # the same network with another header
            model = onnx.load(paths[0])
            next(entry for entry in model.metadata_props if entry.key == KEY).value = policy.header()
            onnx.save(model, paths[-1])
        k, fields = depth(policy.spec), policy.spec.fields
        high = observations.observation_space(fields).high
        while len(rows) < 6:
            seen_by_all = np.minimum(generator.uniform(0, 3, len(fields)), high)
            row = dict(zip(fields, seen_by_all.tolist(), strict=True))
            row |= {"bdp_bytes": 1e5, "packet_bytes": 1090.0, "payload_bytes": 1000.0}
            row |= {"base_rtt_ns": 8e3, "host_rate_bps": 1e11}
            row["window_bytes"] = float(generator.uniform(1090, 1e5))
            row["rate_bps"] = float(generator.uniform(1e6, 1e11))
            rows.append(row)
        last, windows, histories = 0.0, [], np.zeros((1, k, len(fields)), np.float32)
        for decision, row in enumerate(rows):
            windows.append([{**row, "last_action": last}[name] for name in fields])
            window = windows[-k:]
            histories[0, : len(window)] = window
            action = learner.act(histories, np.array([min(decision + 1, k)]))[0, :1]
            record = np.zeros((1, len(observations.FIELDS)))
            for name, value in {**row, "last_action": last}.items():
                record[0, observations.INDEX[name]] = value
            *applied, last = policy.spec.action_map(action[None, :], record)[0]
            expected.append(applied)
    code = BLOCKED.format(folder=str(ROOT / "examples"), paths=paths, rows=json.dumps(rows))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "decision 4: window " in done.stdout
    decided = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[[")]
    assert np.allclose(np.concatenate(decided), expected, rtol=1e-4)


def test_a_run_is_compared_on_its_own_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison uses the run's evaluation, or without one its last stage."""
    calls: list[tuple[str, int]] = []

    def note(source: Source, count: int) -> Any:
        calls.append((source.scenario.topology.kind, source.scenario.agent_flow_count))
        return histories(source.policy.spec, count)

    monkeypatch.setattr("ns3_env.agents.export.export.record_histories", note)
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    config = configuration(AGENTS["td3"]).model_dump(mode="json")
    stages = [
        yaml.safe_load(
            f"{{name: s{senders}, advance: {{after_episodes: 1}}, scenario: {{topology: {{kind: dumbbell, "
            f"senders: {senders}}}, traffic: {{kind: incast, size_bytes: 1000}}}}}}"
        )
        for senders in (2, 7)
    ]
    (tmp_path / "run" / "curriculum.yaml").write_text(json.dumps({"stages": stages}))
    folder = checkpoint(tmp_path / "run" / "checkpoints" / "000000000001", AGENTS["td3"])
    (folder / "state.json").write_text("{}")
    for evaluation in (None, {"scenario": stages[0]["scenario"]}):
        (tmp_path / "run" / "config.yaml").write_text(json.dumps({**config, "evaluation": evaluation}))
        command = [str(tmp_path / "run"), "--format", "native", "--out", str(tmp_path / "out")]
        assert main(command) == 0
    assert main([str(folder / "policy.safetensors"), *command[1:]]) == 0
    assert calls == [("dumbbell", 7), ("dumbbell", 2), ("dumbbell", 4)]
