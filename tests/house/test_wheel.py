# SPDX-License-Identifier: GPL-2.0-or-later
"""The wheel in its own environment: whole, without clashes, of use outside the clone."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT

SUITE = """
controllers: [hpcc, fdcc]
seeds: [1]
scenarios:
  - name: incast-4
    title: 4-to-1
    group: Incast
    scenario:
      time_limit_ns: 20000000
      topology: {kind: dumbbell, senders: 4}
      traffic: {kind: incast, size_bytes: 500000}
      record: {queue_series_ns: 2000}
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    bin_of = str(Path(sys.executable).parent)
    path = {"PATH": f"{bin_of}:/usr/local/bin:/usr/bin:/bin"}
    subprocess.run([*pip, "-w", str(out), str(ROOT)], check=True, env=path)
    (made,) = out.glob("*.whl")
    return made


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return {name for name in file.namelist() if not name.endswith("/")}


def test_the_wheel_clobbers_nobody(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"ns3_env"}


def test_the_wheel_is_whole(wheel: Path) -> None:
    """Every module, and every file that a command may be asked for."""
    held = names(wheel)
    for path in (ROOT / "ns3_env").rglob("*"):
        if path.suffix in (".py", ".c", ".css", ".html", ".j2", ".js", ".csv", ".json", ".txt"):
            assert str(path.relative_to(ROOT)) in held
    for folder in ("configs", "curricula", "checkpoints"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix not in (".pyc",):
                assert f"ns3_env/data/{path.relative_to(ROOT)}" in held
    assert any(name.startswith("ns3_env/lib/libns3") for name in held)
    assert {"ns3_env/bin/rdma-sim", "ns3_env/bin/ns3ai-keeper", "ns3_env/py.typed"} <= held
    for module in ("ns3_env/_ns3ai.", "ns3_env/_ns3ai_boost187."):
        assert any(name.startswith(module) and name.endswith(".so") for name in held)
    assert not any(name.endswith((".cc", "-test.py", ".pyc")) for name in held)


def test_it_trains_compares_and_draws_outside_the_clone(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "torch"], check=True)
    subprocess.run([*pip, f"{wheel}[train,report]"], check=True)

    def run(*arguments: str) -> None:
        subprocess.run([home / "bin" / "ns3-env", *arguments], cwd=tmp_path, check=True, timeout=600)

    run("train", "--config", "fdcc", "--curriculum", "incast", "train.decisions=5000")
    (trained,) = (tmp_path / "runs").iterdir()
    assert (trained / "evaluation" / "comparison.png").exists()
    assert (trained / "learning.png").exists()
    (tmp_path / "mine.yaml").write_text(SUITE)
    run("eval", "benchmark", "mine.yaml", "--out", "bench")
    run("eval", "report", "bench")
    assert (tmp_path / "bench" / "report.html").exists()
    run("eval", "plot", "comparison", str(trained))
    run("export", str(trained), "--format", "native", "--out", "policy.safetensors")
    run("eval", "plot", "policy", "policy.safetensors", "--out", "map.png")
