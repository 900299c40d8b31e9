# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutation tests: with each mutant in a copy of the packages, some test of the copy must fail.

``pytest -m slow tests/house/test_mutants.py`` takes about ten minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ns3_env import _native
from tests.house.mutants import CHOSEN, MUTANTS, Mutant
from tests.paths import ROOT

#: Runs pytest on the copy: without the finder of the editable installation, which would import the originals.
RUN = """
import sys
tree, native, *arguments = sys.argv[1:]
sys.meta_path[:] = [x for x in sys.meta_path if "Redirecting" not in type(x).__name__]
sys.path[:] = [tree, *(x for x in sys.path if x and x != {root!r})]
import ns3_env
ns3_env.__path__.append(native)
assert ns3_env.__file__.startswith(tree), ns3_env.__file__
import pytest
sys.exit(pytest.main(arguments))
"""
NAMED = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.file}: {m.function} {m.number}")


@NAMED
def test_a_mutant_is_another_program(mutant: Mutant) -> None:
    assert mutant.source() != mutant.source(wrong=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and their tests, without what is compiled."""
    tree = tmp_path_factory.mktemp("mutants")
    ignored = shutil.ignore_patterns("cpp", "__pycache__", "*.so", "bin")
    for package in ("ns3_env", "tests"):
        shutil.copytree(ROOT / package, tree / package, symlinks=True, ignore=ignored)
    for file in ("train.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tree)
    return tree


def outcome(tree: Path, tests: str) -> tuple[int, str]:
    """Exit code and words of the first of the tests' files that fails in the copy, or of the last one."""
    run = [sys.executable, "-c", RUN.format(root=str(ROOT)), str(tree), str(Path(_native.__file__).parent)]
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    code, words = 0, ""
    for test in tests.split():
        if code == 0:
            done = subprocess.run(
                [*run, *options, f"tests/{test}.py"],
                cwd=tree, env=environment, capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
            code, words = done.returncode, done.stdout + done.stderr
    return code, words


@pytest.mark.slow
def test_the_copys_tests_pass_without_a_mutant(copy: Path) -> None:
    for tests in {tests for _, tests, _ in CHOSEN}:
        code, words = outcome(copy, tests)
        assert code == 0, words


@pytest.mark.slow
@NAMED
def test_the_mutant_is_seen(copy: Path, mutant: Mutant) -> None:
    (copy / mutant.file).write_text(mutant.source(), encoding="utf-8")
    try:
        code, words = outcome(copy, mutant.tests)
    finally:
        shutil.copy(ROOT / mutant.file, copy / mutant.file)
    assert code == 1, words  # by a test, not by an error of pytest's
