# SPDX-License-Identifier: GPL-2.0-or-later
"""The process's hang limit, from an option or a variable, in every simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import train
from ns3_env.cluster.worker_context import pack, unpack
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.commands.evaluation import parser
from ns3_env.simulator import HANG_TIMEOUT_VARIABLE, Simulator, hang_timeout_s
from ns3_env.simulator.pool import LocalPool
from tests.paths import ROOT
from tests.samples import runs

pytestmark = pytest.mark.alone


SCENARIO = ROOT / "configs" / "scenarios" / "dumbbell_100g_4to1.yaml"


@pytest.fixture(autouse=True)
def _limit_of_this_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands set the process's; it is restored."""
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "0.9")


def test_the_option_reaches_every_simulator_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a pool's processes too: they have this process's environment."""
    limits: list[float] = []
    send, submit = Simulator.send_reset, LocalPool.submit

    def note(simulator: Simulator, *arguments: Any, **options: Any) -> None:
        limits.append(simulator.hang_timeout_s)
        send(simulator, *arguments, **options)

    def note_of_pool(pool: LocalPool, *arguments: Any, **options: Any) -> Any:
        limits.append(hang_timeout_s())
        return submit(pool, *arguments, **options)

    monkeypatch.setattr(Simulator, "send_reset", note)
    monkeypatch.setattr(LocalPool, "submit", note_of_pool)
    training = [*runs.written(tmp_path), "--no-evaluation", "train.decisions=100"]
    assert train.main([*training, "--hang-timeout", "30"]) == 0
    assert set(limits) == {30.0}
    limits.clear()
    run = ["run", str(SCENARIO), "--controllers", "hpcc", "--out", str(tmp_path / "out")]
    assert eval_main([*run, "--hang-timeout", "50"]) == 0
    assert set(limits) == {50.0}


@pytest.mark.parametrize("wrong", ["0", "-1", "inf", "nan", "soon"])
def test_a_limit_that_is_no_time_is_refused(wrong: str) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["report", "a", "--hang-timeout", wrong])


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "soon", ""])
def test_a_variable_that_is_no_time_is_named(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, text)
    with pytest.raises(ConfigError, match=r"NS3_ENV_HANG_TIMEOUT: .* is no number of seconds above 0"):
        hang_timeout_s()


def test_a_simulator_may_have_a_limit_of_its_own_and_half_a_minute_is_usual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Simulator(hang_timeout_s=60) as simulator, Simulator() as other:
        assert (simulator.hang_timeout_s, other.hang_timeout_s) == (60, 0.9)
        monkeypatch.delenv(HANG_TIMEOUT_VARIABLE)
        assert (simulator.hang_timeout_s, other.hang_timeout_s) == (60, 30)


class Limit:
    """A pool's job: the limit of the simulator that it gets."""

    def run(self, simulator: Simulator) -> float:
        return simulator.hang_timeout_s


def test_a_pools_simulators_have_the_limit_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "30")
    with LocalPool(1) as pool:
        assert pool.submit(Limit()).result() == 30


def test_nodes_have_the_drivers_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "7")
    packed = pack()
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "0.9")
    unpack(packed)
    assert hang_timeout_s() == 7
