# SPDX-License-Identifier: GPL-2.0-or-later
"""The core without PyTorch, Matplotlib and other extras, and errors that name a missing extra."""

import subprocess
import sys
from pathlib import Path

import pytest

from ns3_env.config.command_line import EXTRAS
from tests.paths import ROOT

BLOCKED = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


def light(code: str) -> subprocess.CompletedProcess[str]:
    """Runs the program without any extra installed."""
    return subprocess.run(
        [sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, timeout=60, check=False
    )


def test_environments_step_and_scenarios_run(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text(
        "topology: {kind: dumbbell, senders: 2}\ntraffic: {kind: incast, size_bytes: 20000}\n"
    )
    done = light(
        f"""
import gymnasium, numpy as np
import ns3_env
import ns3_env.envs.flow_stream, ns3_env.envs.rollouts, ns3_env.policies.file
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.eval.commands.evaluation import main
env = gymnasium.make("ns3_env/RdmaIncast-v1", flows=2, render_mode="rgb_array")
env.reset(seed=1)
env.step(np.zeros(1, dtype=np.float32))
assert env.render().shape == (480, 640, 3)
gymnasium.make_vec("ns3_env/RdmaIncast-v1", num_envs=2).reset(seed=1)
FlowParallelEnv(flows=2).reset(seed=1)
sys.exit(main("run {tmp_path}/my.yaml --controllers hpcc --out {tmp_path}/out".split()))
"""
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "hpcc" / "flows.csv").exists()


def test_what_a_pools_processes_import_is_light() -> None:
    modules = ("benchmark.cell", "episodes.policy", "episodes.scenario", "comparisons.objective", "metrics")
    done = light("\n".join(f"import ns3_env.eval.{module}" for module in modules))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "extra"),
    [("train --config fdcc --curriculum incast", "train"), ("eval plot curves --out x", "report")],
)
def test_a_missing_extra_is_named(tmp_path: Path, command: str, extra: str) -> None:
    run = f"from ns3_env.eval.commands.main import main; sys.exit(main({command.split()}))"
    done = light(f"import os; os.chdir({str(tmp_path)!r})\n{run}")
    assert done.returncode == 2, done.stderr
    assert f"pip install 'ns3-env[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_build_without_boost_says_what_it_lacks() -> None:
    done = light(
        """
class Unbuilt:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("ns3_env._ns3ai"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Unbuilt())
import ns3_env.envs.gym_env
import ns3_env.ns3ai
"""
    )
    assert done.returncode == 1
    assert "built without Boost's headers" in done.stderr
    assert "cmeel-boost" in done.stderr


def test_every_package_of_an_extra_is_known_by_it() -> None:
    tomllib = pytest.importorskip("tomllib")  # of Python 3.11
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for package, extra in EXTRAS.items():
        assert any(line.replace("-", "_").startswith(package) for line in extras[extra]), package
    core = " ".join(project["dependencies"])
    assert not any(package.replace("_", "-") in core for package in EXTRAS)
