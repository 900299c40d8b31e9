# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutation tests: with each mutant in a copy of the packages, some test of the copy must fail.

``pytest -m slow tests/house/test_mutants.py`` takes about a quarter of an hour.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ns3_env import _native
from tests.house.mutants import MUTANTS, SEEN_BY, Mutant
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


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_a_mutants_text_stands_once_in_its_file(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and their tests, without what is compiled."""
    tree = tmp_path_factory.mktemp("mutants")
    ignored = shutil.ignore_patterns("rdma", "__pycache__", "*.so", "bin")
    for package in ("ns3_env", "tests"):
        shutil.copytree(ROOT / package, tree / package, symlinks=True, ignore=ignored)
    for file in ("train.py", "pyproject.toml"):
        shutil.copy(ROOT / file, tree)
    return tree


def fails(tree: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """What the first of the tests' files that fails in the copy says; None where all pass."""
    for test in tests:
        done = subprocess.run(
            [
                *(
                    sys.executable,
                    "-c",
                    RUN.format(root=str(ROOT)),
                    str(tree),
                    str(Path(_native.__file__).parent),
                ),
                *("-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", f"tests/{test}.py"),
            ],
            cwd=tree,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode != 0:
            return done
    return None


@pytest.mark.slow
def test_the_copys_tests_pass_without_a_mutant(copy: Path) -> None:
    for tests in set(SEEN_BY.values()):
        failed = fails(copy, tests)
        assert failed is None, failed.stdout + failed.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_the_mutant_is_seen(copy: Path, mutant: Mutant) -> None:
    file = copy / mutant.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        failed = fails(copy, SEEN_BY[mutant.file])
    finally:
        file.write_text(whole, encoding="utf-8")
    assert failed is not None, "all tests pass"
    assert failed.returncode == 1, failed.stdout + failed.stderr  # by a test, not by an error of pytest's
