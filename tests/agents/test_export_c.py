# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies as C99 in integers: what the file may not have, how near its decisions are, how it plays."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.export.c99 import check, quantise
from ns3_env.agents.export.c99.features import FEATURES
from ns3_env.agents.export.c99.file import MOST_TABLE_BYTES, c_file
from ns3_env.agents.export.c99.recorded import record_decisions
from ns3_env.agents.runs.checkpoint import env_of
from ns3_env.eval.commands.export import main
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import named_controller, released_names
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.topology import Dumbbell, FatTree3
from ns3_env.scenario.traffic import Incast, Poisson
from ns3_env.simulator import PLUGINS_VARIABLE, Simulator, find_executable, load_plugins
from ns3_env.simulator.results import charged_slowdowns
from tests.paths import ROOT
from tests.samples.files import Refused
from tests.samples.policy_files import tiny

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


def incast(flows: int, size_bytes: int, controller: Controller | None = None) -> Scenario:
    return Scenario(
        topology=Dumbbell(senders=flows),
        traffic=Incast(size_bytes=size_bytes, spread_ns=20_000),
        time_limit_ns=20_000_000,
        controllers=[controller or Controller(name="agent")],
    )


#: They decide before a flow's first packet, too.
BEFORE_ACKS = {"courier-2", "fdcc-2"}


@pytest.mark.parametrize("name", sorted(BEFORE_ACKS))
def test_a_policy_that_decides_before_the_first_ack_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--format", "c", "--out", str(tmp_path / "x.c")]) == 2
    assert "start_bdps" in capsys.readouterr().err
    assert not (tmp_path / "x.c").exists()


@pytest.mark.parametrize("key", ["telemetry_from_bdps", "telemetry_every_rtts"])
def test_a_policy_whose_acks_carry_no_telemetry_at_times_is_refused(
    key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_policy(tmp_path / "x.safetensors", agreeing(**{key: 0.2}))
    assert main([str(tmp_path / "x.safetensors"), "--format", "c", "--out", str(tmp_path / "x.c")]) == 2
    assert f"{key} is 0.2" in capsys.readouterr().err
    assert not (tmp_path / "x.c").exists()


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The C file of each released policy that decides at ACKs alone, as the command writes it."""
    folder = tmp_path_factory.mktemp("released")
    made = {name: folder / f"{name}_nic.c" for name in released_names() if name not in BEFORE_ACKS}
    for name, path in made.items():
        assert main([name, "--format", "c", "--out", str(path)]) == 0
    return made


def test_each_released_policy_is_one_c99_file_of_integers_without_a_library(
    released: dict[str, Path], tmp_path: Path
) -> None:
    for name, path in released.items():
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        assert re.findall(r"#include <(.*?)>", code) == ["stdint.h"]
        assert not re.search(r"\b(float|double|malloc|calloc|alloca)\b", code)
        assert not re.search(r"^static (?!const)[^(\n]*;", code, flags=re.MULTILINE), "memory of its own"
        assert not re.search(r"\d\.\d|\.\d+f|\de[-+]?\d", re.sub(r"0x\w+", "", code))
        for level in ("-O0", "-Os", "-O2", "-O3"):
            built = tmp_path / "policy.o"
            flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion", level]
            done = subprocess.run(
                [check.compiler(), *flags, "-c", str(path), "-o", str(built)],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            undefined = subprocess.run(["nm", "-u", str(built)], capture_output=True, text=True, check=True)
            assert undefined.stdout.strip() == "", (name, level)


def test_the_command_says_how_near_the_file_decides_and_what_it_costs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "courier_nic.c"
    assert main(["courier", "--format", "c", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    found = re.search(r"on 1,000 decisions: action ([\d.]+), window ([\d.]+)%, rate ([\d.]+)%", said)
    assert found is not None
    assert float(found[1]) < 0.02
    assert max(float(found[2]), float(found[3])) < 2
    assert "1,770 B of tables (401 weights), 48 B a flow" in said
    assert re.search(r"a decision: 368 products, \d+ ns", said)


ALL = [{"field": name, "transform": "symlog"} for name in FEATURES]
PLAIN = [{"field": name} for name in ("rtt", "qlen", "switch_rate", "ecn_fraction", "last_action")]
RATE = {"name": "multiplicative_rate"}
TARGET = {"derived": "rtt_target", "margin": 1.0, "target": 0.1, "gain": 2.0}


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("mlp", {"observation": ALL}),
        ("mlp", {"observation": PLAIN, "history": 3}),
        ("mlp", {"observation": [{"field": "last_action"}, TARGET], "action": RATE}),
        ("mlp", {"observation": [{**TARGET, "base_ns": 8192.0}], "history": 2}),
        ("mlp", {"action": {"name": "exponential_window", "alpha": 1.5, "least_packets": 0.5}}),
        ("mlp", {"action": {"name": "logarithmic_window"}, "clock": {"name": "per_ack"}}),
        ("lstm", {"observation": ALL}),
        ("carried", {}),
        ("carried", {"shortcut": 5, "observation": PLAIN}),
    ],
    ids=str,
)
def test_any_policy_that_has_a_form_in_c_decides_within_two_percent(
    tmp_path: Path, kind: str, changes: dict[str, Any]
) -> None:
    policy = agreeing(kind, **changes)
    write_policy(tmp_path / "p", policy)
    player = NetworkPolicy.load(tmp_path / "p")
    decisions = record_decisions(player, env_of(player.spec), incast(4, 300_000), 1, 400)
    assert decisions.applied[:, 2].std() > 0.001
    made = c_file("p", "tiny", policy)
    (tmp_path / "tiny.c").write_text(made.text)
    found = check.measure(made, tmp_path / "tiny.c", decisions, tmp_path)
    assert found.difference < 0.02


def test_a_file_that_decides_otherwise_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(quantise.FUNCTIONS, "tanh", quantise.FUNCTIONS["tanh"] // 2)
    assert main(["courier", "--format", "c", "--out", str(tmp_path / "courier_nic.c")]) == 1
    assert "error: more than 2%" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_form_in_c_is_refused_with_what_has(tmp_path: Path, refused: Refused) -> None:
    wide = {f"layers.{n}.weight": np.ones(shape, np.float32) for n, shape in enumerate(((64, 192), (1, 64)))}
    for changes, words in (
        ({"observation": [{"field": "window_bytes"}]}, "observation[0]: --format c does not know the field"),
        ({"action": {**NONE, "rounding": "floor"}}, "action.rounding is 'floor': --format c plays 'none'"),
        ({"clock": {"name": "synchronous", "interval_ns": 10_000}}, "clock.name is 'synchronous'"),
    ):
        write_policy(tmp_path / "p", agreeing(**changes))
        assert words in refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / "p.c")
    write_policy(tmp_path / "p", PolicyFile(agreeing(history=64).spec, wide))
    said = refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / "p.c")
    tables = 2 * (64 * 192 + 64) + 2 * (257 + 129)  # weights, tanh, log2
    assert f"{tables:,} B of tables, and --format c writes at most {MOST_TABLE_BYTES:,} B" in said
    write_policy(tmp_path / "p", agreeing())
    for out in ("policy.txt", "2p.c", "my-policy.c"):
        said = refused(main, tmp_path / "p", "--format", "c", "--out", tmp_path / out)
        assert "takes a name of small letters, digits and _" in said
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_without_a_compiler_the_command_says_what_is_missing(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    said = refused(main, "courier", "--format", "c", "--out", tmp_path / "courier_nic.c")
    assert "there is no C compiler (set CC)" in said


PARTS = ("path", "observation")


def struct(text: str, part: str) -> str:
    """What stands in a struct of a C file."""
    return text.split(f"_{part}\n{{\n")[1].split("\n};")[0]


#: Members of all sizes, 0 and the largest one among them. An action beyond what the path has ends it.
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
            {name}_reset(&s, &p);
        }}
        {observation}
        {name}_decide(&s, &o, &a);
        if (a.action_q16 > 65536 || a.action_q16 < -65536 || a.window_bytes > s.bdp_bytes
            || a.rate_kbps > p.host_rate_kbps)
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
        made = path.read_text()
        members = {
            part: re.findall(r"^    uint\d+_t (\w+);", struct(made, part), re.MULTILINE) for part in PARTS
        }
        filled = {part: " ".join(f"{part[0]}.{name} = any();" for name in members[part]) for part in PARTS}
        (tmp_path / "fuzz.c").write_text(FUZZER.format(file=path, name=path.stem, **filled))
        flags = ["-std=gnu99", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
        command = [check.compiler(), *flags, str(tmp_path / "fuzz.c"), "-o", str(tmp_path / "fuzz")]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("the C compiler has no sanitizer (libubsan)")
        done = subprocess.run([str(tmp_path / "fuzz")], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (path.name, done.stderr)


@pytest.fixture(scope="module")
def plugin(released: dict[str, Path]) -> Path:
    """What the example makes of courier's file."""
    folder = released["courier"].parent
    programs = Path(sys.executable).parent
    cmake, ninja = str(programs / "cmake"), f"-DCMAKE_MAKE_PROGRAM={programs / 'ninja'}"
    tools = ["-G", "Ninja", ninja, f"-DPython_EXECUTABLE={sys.executable}"]
    source, file = str(ROOT / "examples" / "nic"), f"-DPOLICY_FILE={released['courier']}"
    for command in ([cmake, "-S", source, "-B", str(folder), *tools, file], [cmake, "--build", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "courier_nic.so"


def test_as_a_plugin_the_file_plays_as_the_policy_does(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PLUGINS_VARIABLE, "")
    load_plugins([plugin])
    workload = Scenario(
        topology=FatTree3(),
        traffic=Poisson(sizes="websearch", load=0.3, duration_ns=2_000_000),
        time_limit_ns=1_000_000_000,
        seed=1,
    )
    with Simulator() as simulator:
        original, own = (
            simulator.play(workload.model_copy(update={"controllers": [controller]}))
            for controller in (named_controller("courier"), Controller(name="courier_nic"))
        )
    assert own["totals"]["unfinished"] == 0
    assert charged_slowdowns(own) == pytest.approx(charged_slowdowns(original), rel=0.25)
    assert charged_slowdowns(own).mean() == pytest.approx(charged_slowdowns(original).mean(), rel=0.005)


def test_as_a_plugin_it_keeps_the_contract_whatever_telemetry_says(plugin: Path) -> None:
    command = [str(find_executable()), f"--plugin={plugin}", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "keeps the contract" in done.stdout
