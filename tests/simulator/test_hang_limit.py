# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's hang limit, from an option or the configuration, in every simulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import train
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.commands.evaluation import parser
from ns3_env.eval.episodes.entry import Entry, played_by
from ns3_env.eval.paper.experiments import EXPERIMENTS
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.paths import ROOT
from tests.samples import runs, tunings

pytestmark = pytest.mark.alone

SCENARIO = ROOT / "configs" / "scenarios" / "dumbbell_100g_4to1.yaml"

#: Commands that start a simulator in this process; {} is a folder.
COMMANDS = (
    f"run {SCENARIO} --controllers hpcc --out {{}}",
    f"run {SCENARIO} --trace --controllers hpcc --out {{}}",
    "compare published",
    "speed",
    *(f"paper {name} --out {{}}" for name in EXPERIMENTS),
)


class AskedError(Exception):
    """A simulator was asked for an episode."""


@pytest.mark.parametrize("command", COMMANDS)
def test_the_option_reaches_the_simulator(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(simulator: Simulator, *_: object, **__: object) -> None:
        raise AskedError(simulator.hang_timeout_s)

    monkeypatch.setattr(Simulator, "send_reset", refuse)
    monkeypatch.setattr("ns3_env.eval.speed.measure._packet_hops_per_s", lambda: 1.0)
    monkeypatch.setattr("ns3_env.eval.speed.measure._tcp_packets_per_s", lambda: 1.0)
    given = parser().parse_args([*command.format(tmp_path / "out").split(), "--hang-timeout", "30"])
    with pytest.raises(AskedError, match=r"^30\.0$"):
        given.work(given)


@pytest.mark.parametrize("command", [*COMMANDS, "benchmark a --out b"])
def test_the_option_has_a_default_and_a_bound(command: str) -> None:
    assert parser().parse_args(command.split()).hang_timeout == 0.9
    for wrong in ("0", "-1", "inf", "nan", "soon"):
        with pytest.raises(SystemExit):
            parser().parse_args([*command.split(), "--hang-timeout", wrong])


@pytest.mark.parametrize(
    ("kind", "overrides"), [(runs, ["train.decisions=100"]), (tunings, ["search.trials=2"])]
)
def test_the_key_reaches_every_simulator_of_a_run(
    kind: Any, overrides: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []
    send = Simulator.send_reset

    def note(simulator: Simulator, *given: Any, **options: Any) -> None:
        limits.append(simulator.hang_timeout_s)
        send(simulator, *given, **options)

    monkeypatch.setattr(Simulator, "send_reset", note)
    assert train.main([*kind.written(tmp_path), "env.hang_timeout_s=30", *overrides]) == 0
    assert set(limits) == {30.0}
    (run,) = (tmp_path / "runs").iterdir()
    limits.clear()
    assert eval_main(["compare", "policy", str(run), "env.hang_timeout_s=40"]) == 0
    assert set(limits) == {40.0}


def test_a_policy_in_a_benchmark_or_trace_has_the_option_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(simulator: Simulator, *_: object, **__: object) -> None:
        raise AskedError(simulator.hang_timeout_s)

    monkeypatch.setattr(Simulator, "send_reset", refuse)
    who = Entry(name="own", policy="examples.target_queue:TargetQueue")
    with Simulator(hang_timeout_s=30) as simulator, pytest.raises(AskedError, match=r"^30(\.0)?$"):
        played_by(who, Scenario.load(SCENARIO), simulator)
