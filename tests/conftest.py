# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of several rooms' tests, and their distribution over processes (`pytest -n 2`): by file."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import train
from ns3_env.eval.commands.benchmark import IMPORTED
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import prepare
from tests.paths import ROOT
from tests.samples.runs import the_run, written

EVALUATING = ROOT / "tests" / "eval"
SLOWEST = ("test_wheel", "test_examples", "test_cells", "test_site", "test_add_controller", "test_export")


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as started:
        yield started


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The command's one-line error about arguments that it refuses."""

    def said(main: Callable[[list[str]], int], *arguments: object) -> str:
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    return said


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny run, not evaluated: copy it to change it."""
    folder = tmp_path_factory.mktemp("trained")
    assert train.main([*written(folder), "train.keep_checkpoints=1", "--no-evaluation"]) == 0
    return the_run(folder)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Sets apart what libraries and the collection have made, a million objects that no test frees: each pass
    of the garbage collector over them needs half a second. Processes of pools are forked with what commands
    import, whichever test starts the first pool."""
    if any(item.path.is_relative_to(EVALUATING) for item in session.items):
        prepare("ns3_env.eval.benchmark.cell", *IMPORTED)
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the slowest files first, so that none of them runs in the end without another beside it."""
    order = {f"{name}.py": rank for rank, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file share slow fixtures, and those of a Ray cluster its head."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            folder = file.rpartition("/")[0]
            return folder if folder.endswith("cluster") else file

    return ByFile(config, log)
