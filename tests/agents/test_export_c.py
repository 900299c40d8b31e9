# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies as C99 in integers: forbidden parts of the file, accuracy of its decisions, its runs."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.export.c99 import check, quantise
from ns3_env.agents.export.c99.check import record_decisions
from ns3_env.agents.export.c99.features import FEATURES
from ns3_env.agents.export.c99.file import MOST_TABLE_BYTES, c_file
from ns3_env.agents.export.c99.quantise import rewritten
from ns3_env.agents.training.checkpoint import env_of
from ns3_env.eval.commands.export import main
from ns3_env.policies.file import PolicyFile, read_policy, write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import released_names
from ns3_env.scenario import Controller, PerFlowRtt
from ns3_env.simulator import PLUGINS_VARIABLE, Simulator, find_executable, load_plugins
from ns3_env.simulator.results import charged_slowdowns
from tests.paths import ROOT
from tests.samples.files import Refused
from tests.samples.policy_files import policy_file, tiny
from tests.samples.scenarios import incast

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None and shutil.which("gcc") is None, reason="there is no C compiler (cc, gcc)"
)
NONE = {"name": "multiplicative_window", "alpha": 0.5, "rounding": "none"}


def agreeing(kind: str = "mlp", **changes: Any) -> PolicyFile:
    """A small policy that has a form in C; its outputs lie before tanh's ends."""
    policy = tiny(kind, **{"action": NONE, **changes})
    if kind == "mlp":
        policy.tensors["layers.0.weight"] *= 0.3
    return policy


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The C file of each released policy with a form in C, as the command writes it."""
    folder = tmp_path_factory.mktemp("released")
    names = [
        name for name in released_names() if name != "fdcc-zhang2023"
    ]  # it rounds windows down to whole packets
    files = {name: folder / f"{name.replace('-', '_')}_nic.c" for name in names}
    for name, path in files.items():
        assert main([name, "--format", "c", "--out", str(path)]) == 0
    return files


def test_each_released_policy_is_one_c99_file_of_integers_without_a_library(
    released: dict[str, Path], tmp_path: Path
) -> None:
    # The compiler refuses whatever needs a register of floating point.
    general = "-mgeneral-regs-only"
    probe = subprocess.run(
        [check.compiler(), general, "-fsyntax-only", "-xc", "-"], input=b"", capture_output=True, check=False
    )
    without_floats = [general] if probe.returncode == 0 else []
    for name, path in released.items():
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        assert re.findall(r"#include <(.*?)>", code) == ["stdint.h"]
        assert not re.search(r"\b(float|double|malloc|calloc|alloca)\b", code)
        assert not re.search(r"^static (?!const)[^(\n]*;", code, flags=re.MULTILINE), "memory of its own"
        assert not re.search(r"\d\.\d|\.\d+f|\de[-+]?\d", re.sub(r"0x\w+", "", code))
        for level in ("-O0", "-Os", "-O2", "-O3"):
            built = tmp_path / "policy.o"
            flags = [*check.STRICT[:-1], "-Wconversion", *without_floats, level]
            done = subprocess.run(
                [check.compiler(), *flags, "-c", str(path), "-o", str(built)],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            undefined = subprocess.run(["nm", "-u", str(built)], capture_output=True, text=True, check=True)
            assert undefined.stdout.strip() == "", (name, level)


ALL = [{"field": name, "transform": "symlog"} for name in FEATURES]
PLAIN = [{"field": name} for name in ("rtt", "qlen", "switch_rate", "ecn_fraction", "last_action")]
FORMULAS = [
    {"field": "q = log(rtt) * 2 - min(qlen, 3) / (1 + abs(qlen_slope))"},
    {"field": "w = max(exp(-rtt), last_action) + ecn_fraction", "transform": "symlog"},
    {"field": "qlen", "transform": "symlog"},
]
SHARE = [{"field": name, "transform": "symlog"} for name in ("rtt", "goodput", "fair_share")]
RATE = {"name": "multiplicative_rate"}
START = {"name": "per_flow_rtt", "rtt_fraction": 0.5, "start_bdps": 0.3}
TARGET = {"derived": "rtt_target", "margin": 1.0, "target": 0.1, "gain": 2.0}


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("mlp", {"observation": PLAIN, "history": 3}),
        ("mlp", {"observation": [{"field": "last_action"}, TARGET], "action": RATE}),
        ("mlp", {"observation": [{**TARGET, "base_ns": 8192.0}], "history": 2}),
        ("mlp", {"action": {"name": "exponential_window", "alpha": 1.5, "least_packets": 0.5}}),
        ("mlp", {"action": {"name": "logarithmic_window"}, "clock": {"name": "per_ack"}}),
        ("mlp", {"observation": SHARE, "action": {"name": "fair_share_window"}, "clock": START}),
        ("mlp", {"observation": FORMULAS, "history": 2}),
        ("lstm", {"observation": ALL}),
        ("carried", {}),
        ("mlp", {"observation": ALL, "clock": START, "telemetry_every_rtts": 0.2}),
        ("mlp", {"observation": ALL, "history": 3, "clock": START, "telemetry_from_bdps": 4000.0}),
        (
            "mlp",
            {"observation": [{"field": "attained"}, TARGET], "telemetry_from_bdps": 4000.0, "action": RATE},
        ),
        ("mlp", {"decides_from_bdps": 2.0, "clock": START}),
        ("carried", {"shortcut": 5, "observation": PLAIN, "clock": START}),
    ],
    ids=str,
)
def test_any_policy_that_has_a_form_in_c_decides_within_two_percent(
    tmp_path: Path, kind: str, changes: dict[str, Any]
) -> None:
    policy = agreeing(kind, **changes)
    write_policy(tmp_path / "p", policy)
    player = NetworkPolicy.load(tmp_path / "p")
    scenario = incast(4, 300_000, spread_ns=20_000).model_copy(update={"clock": policy.spec.clock})
    decisions = record_decisions(player, env_of(player.spec), scenario, 1, 400)
    assert decisions.applied[:, 2].std() > 0.001
    file = c_file("p", "tiny", policy)
    (tmp_path / "tiny.c").write_text(file.text)
    measurement = check.measure(file, tmp_path / "tiny.c", decisions, tmp_path)
    assert measurement.difference < 0.02


@pytest.mark.parametrize("kind", ["mlp", "lstm", "carried"])
def test_a_rewritten_network_answers_the_same_with_fewer_units_in_even_ranges(
    tmp_path: Path, kind: str
) -> None:
    policy = agreeing(kind, **({"shortcut": 5} if kind == "carried" else {}))
    tensors = policy.tensors
    tensors["layers.1.weight"][0, 0] = 0.0  # no output depends on this unit
    tensors["layers.0.weight"][1] *= 0.1
    tensors["layers.1.weight"][0, 1] = 40.0
    if kind != "mlp":
        tensors["layers.0.weight"][:, 0] = tensors["lstm.weight_hh"][:, 0] = 0.0
        tensors["layers.0.weight"][:, -1] = 0.0  # of the shortcut
    even = rewritten(policy)
    fewer = [name for name, values in even.items() if values.size < tensors[name].size]
    assert len(fewer) == (3 if kind == "mlp" else 8), "both sides of each idle unit"
    assert np.abs(even["layers.1.weight"]).max() < 20
    for name, variant in (("before", policy), ("after", PolicyFile(policy.spec, even))):
        write_policy(tmp_path / name, variant)
    histories = np.random.default_rng(1).normal(1, 1, (200, policy.spec.history, 3)).astype(np.float32)
    lengths = np.full(200, policy.spec.history)
    before, after = (
        NetworkPolicy.load(tmp_path / name).act(histories, lengths) for name in ("before", "after")
    )
    assert before.std() > 0.03
    assert after == pytest.approx(before, abs=1e-5)


def test_large_weights_that_nearly_cancel_are_told_apart(tmp_path: Path) -> None:
    """With the units of 1/32 that a weight of 588 needs in 16 bits, actions are off by 0.013."""
    fields = [{"field": "pacing_rate", "transform": "symlog"}, {"field": "qlen"}, {"field": "last_action"}]
    policy = agreeing(observation=fields)
    weights = np.zeros((4, 3), np.float32)
    weights[:2, 0] = 588.013, 587.207
    tensors = {**policy.tensors, "layers.0.weight": weights, "layers.0.bias": np.zeros(4, np.float32)}
    tensors["layers.1.weight"] = np.array([[1.0, -1.0, 0.0, 0.0]], np.float32)
    policy = PolicyFile(policy.spec, tensors)
    write_policy(tmp_path / "p", policy)
    player = NetworkPolicy.load(tmp_path / "p")
    scenario = incast(4, 300_000, spread_ns=20_000).model_copy(update={"clock": policy.spec.clock})
    decisions = record_decisions(player, env_of(policy.spec), scenario, 1, 400)
    c_source = c_file("p", "large", policy)
    (tmp_path / "large.c").write_text(c_source.text)
    assert check.measure(c_source, tmp_path / "large.c", decisions, tmp_path).action < 0.003


def test_a_file_that_decides_otherwise_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(quantise.FUNCTIONS, "tanh", quantise.FUNCTIONS["tanh"] // 2)
    assert main(["rlcc", "--format", "c", "--out", str(tmp_path / "rlcc_nic.c")]) == 1
    assert "error: more than 2%" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_form_in_c_is_refused_with_what_has(tmp_path: Path, refused: Refused) -> None:
    wide = {f"layers.{n}.weight": np.ones(shape, np.float32) for n, shape in enumerate(((64, 192), (1, 64)))}
    for changes, words in (
        ({"observation": [{"field": "window_bytes"}]}, "observation[0]: --format c does not know the field"),
        ({"action": {**NONE, "rounding": "floor"}}, "action.rounding is 'floor': --format c plays 'none'"),
        ({"action": {"name": "recursive_window"}}, "--format c plays no map that cuts windows"),
        ({"clock": {"name": "synchronous", "interval_ns": 10_000}}, "clock.name is 'synchronous'"),
        ({"telemetry_from_bdps": 5000.0}, "telemetry_from_bdps is 5000: --format c has integers for at most"),
    ):
        write_policy(tmp_path / "p", agreeing(**changes))
        assert words in refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / "p.c")
    write_policy(tmp_path / "p", PolicyFile(agreeing(history=64).spec, wide))
    message = refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / "p.c")
    tables = 2 * (64 * 192 + 64) + 2 * (257 + 129)  # weights, tanh, log2
    assert f"{tables:,} B of tables, and --format c writes at most {MOST_TABLE_BYTES:,} B" in message
    write_policy(tmp_path / "p", agreeing())
    large = {**agreeing().tensors, "layers.1.weight": np.full((1, 4), 1e9, np.float32)}
    write_policy(tmp_path / "p", PolicyFile(agreeing().spec, large))
    message = refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / "p.c")
    assert "tensor 'layers.1.weight' is too large: integers hold weights of at most 1,048,575" in message
    write_policy(tmp_path / "p", agreeing())
    for out in ("policy.txt", "2p.c", "my-policy.c"):
        message = refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / out)
        assert "takes a name of small letters, digits and _" in message
    for out in ("policy.c", "hpcc.c"):
        message = refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / out)
        assert f"the simulator has a controller '{out[:-2]}' already" in message
        assert f"my_{out}" in message
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_without_a_compiler_the_command_says_what_is_missing(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    message = refused(main, "rlcc", "--format", "c", "--out", tmp_path / "rlcc_nic.c")
    assert "there is no C compiler (set CC)" in message


PARTS = ("path", "observation")


def struct(text: str, part: str) -> str:
    """Body of a struct of a C file."""
    return text.split(f"_{part}\n{{\n")[1].split("\n};")[0]


#: Members of all sizes, 0 and the largest one among them. An action outside the path's range ends it.
FUZZER = """
#include "{file}"
static uint64_t z = 1;
static uint64_t any(void)
{{
    z ^= z << 13, z ^= z >> 7, z ^= z << 17;
    return (z & 7) == 0 ? 0 : (z & 7) == 1 ? ~0ULL : (z * 0x9E3779B97F4A7C15ULL) >> (z >> 58);
}}
int main(void)
{{
    struct {name}_state s;
    struct {name}_path p;
    struct {name}_observation o;
    struct {name}_action a;
    for (int i = 0; i < 5000; ++i)
    {{
        if (i % 10 == 0)
        {{
            {path}
            {name}_start(&s, &p, any(), &a);
        }}
        else
        {{
            {observation}
            {name}_decide(&s, &o, &a);
        }}
        if (a.action_q16 > 65536 || a.action_q16 < -65536 || a.rate_kbps > p.host_rate_kbps
            || (a.window_bytes > s.bdp_bytes && a.window_bytes != UINT32_MAX))
        {{
            return 1;
        }}
    }}
    return 0;
}}
"""


def test_no_telemetry_leads_beyond_the_path_or_to_undefined_arithmetic(
    released: dict[str, Path], tmp_path: Path
) -> None:
    for path in released.values():
        code = path.read_text()
        members = {
            part: re.findall(r"^    uint\d+_t (\w+);", struct(code, part), re.MULTILINE) for part in PARTS
        }
        filled = {part: " ".join(f"{part[0]}.{name} = any();" for name in members[part]) for part in PARTS}
        (tmp_path / "fuzz.c").write_text(FUZZER.format(file=path, name=path.stem, **filled))
        flags = ["-std=gnu99", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
        command = [check.compiler(), *flags, str(tmp_path / "fuzz.c"), "-o", str(tmp_path / "fuzz")]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("the C compiler has no sanitizer (libubsan)")
        done = subprocess.run([str(tmp_path / "fuzz")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (path.name, done.stderr)


def built(file: Path) -> Path:
    """Builds the example from a C file."""
    folder = file.parent / f"build_{file.stem}"
    programs = Path(sys.executable).parent
    cmake, ninja = str(programs / "cmake"), f"-DCMAKE_MAKE_PROGRAM={programs / 'ninja'}"
    tools = ["-G", "Ninja", ninja, f"-DPython_EXECUTABLE={sys.executable}"]
    source, option = str(ROOT / "examples" / "nic"), f"-DPOLICY_FILE={file}"
    for command in (
        [cmake, "-S", source, "-B", str(folder), *tools, option],
        [cmake, "--build", str(folder)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / f"{file.stem}.so"


def both(file: Path) -> tuple[Controller, Controller]:
    """A policy's file, and the plugin made from it."""
    return Controller(name="policy", attributes={"File": str(file)}), Controller(name=f"{file.name}_nic")


def test_as_a_plugin_the_file_plays_as_the_policy_does_and_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It spares telemetry, decides before the first packet, bounds windows, hands over to Swift."""
    safety = {"most_rtts": 2.0, "ranges": {"rtt": [0.0, 9.0], "goodput": [0.0, 1e2]}}
    clock = PerFlowRtt(rtt_fraction=0.5, start_bdps=0.3)
    sparing = {"telemetry_every_rtts": 0.2, "clock": clock, "safety": safety}
    file = policy_file(tmp_path / "grows", "mlp", 4, zero=True, **sparing)
    policy = read_policy(file)
    grows = {**policy.tensors, "layers.1.bias": np.full_like(policy.tensors["layers.1.bias"], 1.5)}
    write_policy(file, PolicyFile(policy.spec, grows))
    assert main([str(file), "--format", "c", "--out", str(tmp_path / "grows_nic.c")]) == 0
    monkeypatch.setenv(PLUGINS_VARIABLE, "")
    load_plugins([plugin_file := built(tmp_path / "grows_nic.c")])
    fallbacks = []
    with Simulator() as simulator:
        for flows in (4, 24):
            original, plugin = (
                simulator.play(incast(flows, 600_000, controller.model_dump(), 20_000))
                for controller in both(file)
            )
            assert charged_slowdowns(plugin).mean() == pytest.approx(
                charged_slowdowns(original).mean(), rel=0.01
            )
            fallbacks += [results["counters"]["policy_fallbacks"] for results in (original, plugin)]
            assert flows > 4 or original["counters"]["policy_windows_bounded"] > 0
    assert fallbacks == [0, 0, 24, 24]
    command = [str(find_executable()), f"--plugin={plugin_file}", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "keeps the contract" in done.stdout) == (0, True), done.stderr
