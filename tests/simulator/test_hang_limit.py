# SPDX-License-Identifier: GPL-2.0-or-later
"""The limit after which a simulator counts as hung, and signs of life of one that is busy."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import train
from ns3_env.cluster.worker_context import pack, unpack
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.commands.evaluation import parser
from ns3_env.eval.episodes.scenario import run
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import FatTree3
from ns3_env.simulator import HANG_TIMEOUT_VARIABLE, Simulator, hang_timeout_s
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.results import Results
from tests.paths import ROOT
from tests.samples import runs
from tests.samples.files import dumped

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


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "soon", ""])
def test_an_option_that_is_no_time_is_refused_and_a_variable_named(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["report", "a", "--hang-timeout", text])
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


def test_nodes_have_the_drivers_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "7")
    packed = pack()
    monkeypatch.setenv(HANG_TIMEOUT_VARIABLE, "0.9")
    unpack(packed)
    assert hang_timeout_s() == 7


#: A thirtieth of the default, so that a smaller network shows work that would exceed the default.
STRICT_S = 1.0


def leaves(hosts: int, controller: str = "fixed-window", **keys: Any) -> Scenario:
    """Hosts at leaves of 64, and these at one spine."""
    topology = {"kind": "leaf_spine", "leaves": hosts // 64, "spines": 1, "hosts_per_leaf": 64}
    usual = {"time_limit_ns": 100_000_000, "switch": {"buffer_bytes": 1 << 30}}
    return Scenario.from_mapping({**usual, "topology": topology, "controllers": [controller], **keys}, "x")


def sent(flows: int, **keys: Any) -> dict[str, Any]:
    return {"traffic": {"kind": "incast", "flows": flows, "size_bytes": 100, **keys}}


#: Long work, and a check that its results are complete.
WORK: dict[str, tuple[Scenario, Callable[[Results], bool]]] = {
    "a large network is built": (
        leaves(4096, **sent(1)),
        lambda results: results["totals"]["unfinished"] == 0,
    ),
    "many flows are created at one instant": (
        leaves(64, **sent(150_000), time_limit_ns=1000),
        lambda results: len(results["flows"]["src"]) == 150_000,
    ),
    "hundreds of thousands of recorded windows are written and freed": (
        leaves(64, "hpcc", **sent(63, size_bytes=12_000_000), record={"windows": True}),
        lambda results: len(results["windows"]) > 600_000,
    ),
    "series of many samples are written": (
        leaves(64, **sent(63, start_ns=10_000_000), record={"queue_series_ns": 250}),
        lambda results: sum(len(queue["series"]["bytes"]) for queue in results["queues"]) > 2_000_000,
    ),
}


#: More than a second of its own; series of many samples take the same way to the file.
LONGEST = "hundreds of thousands of recorded windows are written and freed"


@pytest.mark.parametrize(
    "work", [pytest.param(x, marks=pytest.mark.slow if x == LONGEST else ()) for x in WORK]
)
def test_long_work_gives_signs_of_life(work: str) -> None:
    content, is_whole = WORK[work]
    with Simulator(hang_timeout_s=STRICT_S) as simulator:
        assert is_whole(simulator.play(content))


@pytest.mark.parametrize(("interval_ns", "notice"), [(1000, True), (100_000, False)])
def test_many_samples_are_announced_before_the_run(interval_ns: int, notice: bool, tmp_path: Path) -> None:
    traffic = {"kind": "incast", "flows": 2, "size_bytes": 1000}
    content = {"topology": {"kind": "fat_tree_3"}, "time_limit_ns": "50ms", "traffic": traffic}
    file = dumped(tmp_path / "x.yaml", content)
    console = Console(file=io.StringIO(), width=200)
    run(file, ["hpcc"], tmp_path / "out", console=console, queue_series_ns=interval_ns)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    network = FatTree3().build()
    ports = sum(network.nodes[end] == "switch" for link in network.links for end in (link.a, link.b))
    expected = f"queue series: up to {ports * 50_001 / 1e6:,.1f} million samples"
    assert (expected in text) is notice
    assert text.startswith("queue series") is notice
