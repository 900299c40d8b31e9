# SPDX-License-Identifier: GPL-2.0-or-later
"""The C++ example that deploys a policy: its build without ns-3, and its decisions."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ns3_env import _native
from ns3_env.decision import observations
from ns3_env.decision.actions import MultiplicativeWindow
from tests.paths import ROOT
from tests.samples.policy_files import FIELDS, carried_file, lstm_file, mlp_file

SEEN = {"rtt": 1.8, "qlen": 0.4, "goodput": 0.2, "pacing_rate": 0.3, "last_action": -0.5}
#: The sender of examples/deploy_cpp/deploy.cc.
SENDER = {"host_rate_bps": 100e9, "base_rtt_ns": 6200.0, "bdp_bytes": 77500.0, "window_bytes": 50000.0}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deploy")
    bin_folder = Path(sys.executable).parent
    spec = find_spec("nlohmann_json")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    include = Path(spec.submodule_search_locations[0], "include")
    cmake = [str(bin_folder / "cmake")]
    ninja = f"-DCMAKE_MAKE_PROGRAM={bin_folder / 'ninja'}"
    source = str(ROOT / "examples" / "deploy_cpp")
    boost = include.parents[1] / "cmeel.prefix" / "include"
    includes = [f"-DNLOHMANN_INCLUDE={include}", f"-DBOOST_INCLUDE={boost}"]
    quick = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0", "-DCMAKE_UNITY_BUILD=ON"]
    options = [ninja, *includes, *quick]
    configure = [*cmake, "-S", source, "-B", str(folder), "-G", "Ninja", *options]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run([*cmake, "--build", str(folder)], check=True, capture_output=True)
    return folder / "deploy"


def run(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("make", [mlp_file, lstm_file, carried_file])
def test_it_decides_as_the_simulator_does(program: Path, tmp_path: Path, make: type[Path]) -> None:
    policy = make(tmp_path / "policy.safetensors")
    record = {**SENDER, **SEEN}
    done = run(program, str(policy), *(f"{name}={value!r}" for name, value in record.items()))
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    answer = {name: float(value) for name, value in zip(words[::2], words[1::2], strict=True)}

    network = _native.Policy(str(policy))
    windows = np.zeros((1, network.history_length, len(FIELDS)), np.float32)
    windows[0, 0] = [SEEN[name] for name in FIELDS]
    action = network.evaluate(windows, np.array([1]))
    assert answer["action"] == pytest.approx(float(action[0, 0]), abs=1e-6)
    row = np.zeros((1, len(observations.FIELDS)))
    for name, value in {**record, "packet_bytes": 1048.0 + network.telemetry_bytes}.items():
        row[0, observations.INDEX[name]] = value
    window, rate, _ = MultiplicativeWindow(rounding="none")(action, row)[0]
    assert answer["window_bytes"] == pytest.approx(window, rel=1e-5)
    assert answer["rate_bps"] == pytest.approx(rate, rel=1e-5)


def test_what_is_no_policy_or_no_field_is_one_line(program: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.write_bytes(b"")
    policy, safe = mlp_file(tmp_path / "p"), mlp_file(tmp_path / "safe", safety={"ranges": {}})
    for arguments in ([str(nothing)], [str(policy), "rt=1.8"], [str(safe)], [str(tmp_path / "none")]):
        done = run(program, *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith("deploy: ")
        assert done.stderr.count("\n") == 1
