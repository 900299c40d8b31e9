# SPDX-License-Identifier: GPL-2.0-or-later
"""The C++ controller of docs/extending.md, added by the page's steps in a copied tree."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ns3_env.simulator import list_controllers
from tests.paths import BUILD, ROOT

PROGRAMS = Path(sys.executable).parent
STEPS = (
    (ROOT / "docs" / "extending.md")
    .read_text(encoding="utf-8")
    .split("## A controller in C++\n")[1]
    .split("\n## ")[0]
)


def fresh_objects() -> dict[str, str]:
    """Objects that `make setup` and `make test-cpp` left and that are no older than their sources."""
    assert (BUILD / "build.ninja").exists(), f"no build in {BUILD}: `make setup` makes it"
    listed = subprocess.run(
        [PROGRAMS / "ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True
    ).stdout
    fresh: dict[str, str] = {}
    for block in listed.split("\n\n"):
        name, _, depends = block.partition(": #deps")
        object_file = BUILD / name
        if not object_file.is_file() or "(VALID)" not in depends:
            continue
        files = [Path(line.strip()) for line in depends.splitlines()[1:]]
        if all(file.exists() and file.stat().st_mtime <= object_file.stat().st_mtime for file in files):
            fresh[name] = str(object_file)
    # The only source that is compiled with the tree's path.
    return {
        name: object_file for name, object_file in fresh.items() if not name.endswith("/curves-test.cc.o")
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree after the page's steps, its simulator and C++ tests in the folder ``build``."""
    if "aimd" in list_controllers():
        pytest.skip("the page's steps have been done in this tree itself")
    tree = tmp_path_factory.mktemp("tree")
    for name in ("CMakeLists.txt", "cmake", "ns3_env", "examples"):
        take = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        take(ROOT / name, tree / name)
    copies = re.findall(r"^ *\$ (cp .*)$", STEPS, re.MULTILINE)
    assert len(copies) == 2, "the controller and its test"
    for command in copies:
        subprocess.run(command, shell=True, check=True, cwd=tree)
    (line,) = re.findall(r"```cmake\n(.*)\n *```", STEPS)
    cmake = tree / "CMakeLists.txt"
    # The last place, where no other controller moves into another unit of the build.
    text, count = re.subn(
        r"^(set\(RDMA_CONTROLLERS\n[^)]*)", rf"\1\n{line}", cmake.read_text(), flags=re.MULTILINE
    )
    assert count == 1
    cmake.write_text(text)
    assert re.search(r"^ *\$ make setup test$", STEPS, re.MULTILINE)
    build(tree)
    return tree


def build(tree: Path) -> None:
    """Builds the targets of `make setup test-cpp`; unchanged sources reuse the first build's objects."""
    reused = tree / "reused.json"
    reused.write_text(json.dumps({"made": fresh_objects(), "tree": str(tree), "root": str(ROOT)}))
    launcher = [sys.executable, "-S", "-E", str(ROOT / "tests/programs/reuse_objects.py"), str(reused)]
    cmake = [str(PROGRAMS / "cmake")]
    environment = {**os.environ, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
    cache, rules = ((BUILD / name).read_text() for name in ("CMakeCache.txt", "build.ninja"))
    unity = re.search("^CMAKE_UNITY_BUILD:.*=ON$", cache, re.MULTILINE)
    options = [
        f"-DCMAKE_UNITY_BUILD={'ON' if unity else 'OFF'}",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={';'.join(launcher)}",
        f"-DPython_EXECUTABLE={sys.executable}",
        *(["-DCMAKE_EXE_LINKER_FLAGS=-fno-lto"] if "-ffat-lto-objects" in rules else []),
    ]
    for command in (
        [*cmake, "-S", str(tree), "-B", str(tree / "build"), "-G", "Ninja", *options],
        [*cmake, "--build", str(tree / "build"), "--target", "rdma-sim", "rdma-tests"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr


def suite(tree: Path, name: str) -> subprocess.CompletedProcess[str]:
    """One suite of the C++ tests."""
    command = [str(tree / "build" / "rdma-tests"), f"--test-name={name}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["rdma-aimd", "rdma-controllers", "rdma-curves"])
def test_the_new_controller_passes_its_test_and_everyone_s(tree: Path, name: str) -> None:
    done = suite(tree, name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"PASS {name}" in done.stdout


def test_a_built_in_controller_cannot_lose_its_curve(tree: Path) -> None:
    curve = tree / "ns3_env/data/curves/dctcp-2to1.csv"
    text = curve.read_bytes()
    curve.unlink()
    done = suite(tree, "rdma-curves")
    curve.write_bytes(text)
    assert done.returncode != 0
    assert "dctcp-2to1.csv is missing" in done.stdout + done.stderr
