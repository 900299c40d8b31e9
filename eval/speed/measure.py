# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures packet-hops, decisions, MPCC's solver, resets and a benchmark's cells on this machine."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.config.command_line import new_console
from ns3_env.config.files import write_file, write_files
from ns3_env.config.folders import DATA, replace_folders
from ns3_env.decision.observations import column
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.eval.benchmark.cell import CellJob, Played
from ns3_env.eval.benchmark.folder import cell_folder
from ns3_env.eval.episodes.entry import Entry
from ns3_env.eval.output.table import new_table, print_table
from ns3_env.eval.speed.alone import SCENARIOS, play_alone, scenario
from ns3_env.eval.speed.front_ends import (
    FRONT_ENDS,
    NETWORKS,
    ROLLOUTS,
    native_us,
    rollout_decisions_per_s,
    steps_per_s,
)
from ns3_env.scenario import AGENT, Controller, PerAck, Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import DecisionBatch, Simulator, wait_any

_FLOWS = 4
#: Cells that are written together, like a benchmark's cells that finish during a write.
_WRITTEN_TOGETHER = 5


def reset_ms(resets: int = 500) -> dict[str, float]:
    """CPU milliseconds of a reset of ``gymnasium.make``'s default, up to the first observation: of "python",
    without waiting, and of the "simulator", which runs until the flow's first decision."""
    env = FlowEnv(incast_scenario(_FLOWS), flow=0)
    try:
        env.reset(seed=1)
        python, simulator = [], []
        for _ in range(resets):
            before, start_ns = _cpu_ns(env._simulator.pid), time.thread_time_ns()
            env._send_reset(None)
            spent = time.thread_time_ns() - start_ns
            while not env._simulator.answered():
                time.sleep(0.0002)  # waiting spins, which is no work
            start_ns = time.thread_time_ns()
            env._finish_reset()
            python.append(spent + time.thread_time_ns() - start_ns)
            simulator.append(_cpu_ns(env._simulator.pid) - before)
        return {"python": median(python) / 1e6, "simulator": median(simulator) / 1e6}
    finally:
        env.close()


def cell_overhead_ms(cells: int = 30) -> float:
    """CPU milliseconds of a benchmark's cell without its simulation: 8-to-1 incasts of 2 MB, no series kept,
    run in sequence and written five at a time. Disk time is not counted, as it overlaps."""
    eight = incast_scenario(8, 2_000_000, 100_000)
    jobs = [
        CellJob("incast-8", eight.with_seed(seed), Entry(name=name, controller=name), seed, False, "", {})
        for seed in range(cells // 2 + 1)
        for name in ("hpcc", "dcqcn")
    ]
    with tempfile.TemporaryDirectory() as folder, Simulator() as simulator:
        _play(jobs[:2], simulator, Path(folder))  # imports, and the process
        start_ns = time.process_time_ns()
        _play(jobs[2:], simulator, Path(folder))
        spent = time.process_time_ns() - start_ns
    return spent / len(jobs[2:]) / 1e6


def _play(jobs: list[CellJob], simulator: Simulator, out: Path) -> None:
    waiting: dict[Path, Callable[[Path], None]] = {}
    for job in jobs:
        cell = job.run(simulator)
        assert isinstance(cell, Played), cell
        waiting[cell_folder(out, *job.key)] = partial(write_files, files=cell.files)
        if len(waiting) == _WRITTEN_TOGETHER or job is jobs[-1]:
            replace_folders(waiting)
            waiting = {}


def _cpu_ns(pid: int | None) -> int:
    """CPU time of a process's main thread so far; see proc(5), /proc/pid/schedstat."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


#: The controller that each placement gives the flows; both send packets of the same length.
PLACEMENTS = {
    "simulator": Controller(name="mpcc", attributes={"AtOnce": True}),
    "python": Controller(name=AGENT, attributes={"TelemetryBytes": 32}),
}


def incast(
    placement: str, senders: int = 4, size_bytes: int = 500_000, record: Record | None = None
) -> Scenario:
    """An incast whose flows decide on every ACK. Raises KeyError for an unknown placement."""
    return Scenario(
        seed=3,
        topology=Dumbbell(senders=senders),
        traffic=Incast(size_bytes=size_bytes, spread_ns=5_000),
        controllers=[PLACEMENTS[placement]],
        clock=PerAck(),
        time_limit_ns=100_000_000,
        record=record or Record(queues=False),
    )


def play_placed(simulator: Simulator, placed: Scenario) -> tuple[dict[str, Any], int]:
    """Results, and the number of decisions, wherever they were made. Raises SimulatorError."""
    if placed.controllers[0].name != AGENT:
        results = simulator.play(placed)
        return results, int(results["counters"]["mpcc_decisions"])
    companions = BackgroundPolicy(MpccPolicy())
    decisions = 0
    simulator.send_reset(placed)
    while isinstance(answer := simulator.receive(), DecisionBatch):
        due = answer.due
        simulator.send_actions(companions.actions(answer.records[due], answer.flows[due]))
        decisions += int(np.count_nonzero(due))
    return answer.results, decisions


def decision_us(placement: str) -> float:
    """Wall microseconds per decision of an incast, packets included."""
    with Simulator() as simulator:
        play_placed(simulator, incast(placement, size_bytes=50_000))  # started and warm
        start_s = time.perf_counter()
        _, decisions = play_placed(simulator, incast(placement))
        return 1e6 * (time.perf_counter() - start_s) / decisions


HORIZONS = (3, 5, 10, 20)
SIMULATORS = (1, 4)
#: Whether MPCC uses its proven shortcut, as it does by default, or asks qpOASES every time: key of the JSON.
MPCC_SHORTCUTS = (("mpcc_us", True), ("mpcc_qp_us", False))
#: Steps of Gymnasium's Pendulum-v1 in the time of a step of EnvPool's environments, of another quiet machine
#: (docs/performance.md).
ENVPOOL_PENDULUM_STEPS = {"Pendulum": 0.1, "HalfCheetah": 2.4}
#: Expected decisions per second, from which the length of a measurement follows.
ROLLOUT_RATES = {"python": 2_000, "simulator": 30_000}
_ROWS = 64  # flows of the scenario "decisions"
_SCENARIOS = DATA / "configs" / "scenarios"
#: Published runs that are timed: key of the JSON, scenario, controller.
REFERENCE_RUNS = (
    ("dumbbell_dctcp", "dumbbell_100g_4to1", "dctcp"),
    ("dumbbell_hpcc", "dumbbell_100g_4to1", "hpcc"),
    ("fattree_dcqcn", "fattree16_websearch30", "dcqcn"),
    ("fattree_hpcc", "fattree16_websearch30", "hpcc"),
    ("fattree_mpcc", "fattree16_websearch30", "mpcc"),
)


def measure(
    repeats: int = 5,
    seconds: float = 2.0,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Every figure once more, each the median of ``repeats`` runs.

    Args:
        repeats: runs per figure.
        seconds: wall time of one run of the channel.
        progress: called with a description of each measurement.

    Returns:
        ``packet_hops_per_s``: transmissions of data packets and ACKs per CPU second of the simulator,
        a 4-to-1 incast at 100 Gb/s without controller. ``tcp_packets_per_s``: segments per CPU second, a
        4-to-1 incast over three links of 10 Gb/s under CUBIC; ``tcp_incast_packets_per_s``: of a 64-to-1.
        ``decisions_per_s``: rows answered per wall second, by number of simulators, for 64 flows that decide
        at the same instants.
        ``front_end_steps_per_s``: decisions per wall second of each way to step an environment, on incasts of
        1 MB flows, resets included. ``front_end_pendulum_steps``: number of steps of Gymnasium's
        Pendulum-v1 in the time of one of these decisions; both are the fastest of many turns. ``mpcc_us`` and
        ``mpcc_qp_us``: microseconds per decision of MPCC as they occur in a 4-to-1 incast, the mean by
        horizon, the clock's own time included; by default, and with qpOASES asked on every decision
        (attribute ``Shortcut``). They are wall time, to which other processes can only add, so these are the
        minima over four times that number of short runs. ``mpcc_placement_us``: wall µs per decision of
        such an incast, its packets included, with MPCC in the "simulator" and in "python", in which it
        makes the same decisions. ``native_us``: microseconds per decision of a policy inside the simulator:
        an LSTM of 64 over 8 observations for one flow and for 64 flows due together, and an MLP 4-12-12-1.
        ``rollout_decisions_per_s``: decisions of FDCC's actor per wall second that reach its replay buffer,
        from "python" and from "simulator" two of them. ``reference_cpu_s``: CPU seconds of the simulator on
        the published scenarios, in the default preset. ``reset_ms``: CPU milliseconds of an environment's
        reset, of "python" and of the "simulator", ``cell_overhead_ms``: the same of a
        benchmark's cell without its simulation; each is the minimum over the runs.
    """
    progress("packet-hops of the plain network")
    hops = median(_packet_hops_per_s() for _ in range(repeats))
    progress("packets of TCP")
    segments = {senders: median(_tcp_packets_per_s(senders) for _ in range(repeats)) for senders in (4, 64)}
    decisions = {}
    for count in SIMULATORS:
        progress(f"decisions through the channel, {count} simulator{'s' * (count > 1)}")
        decisions[str(count)] = median(_decisions_per_s(count, seconds) for _ in range(repeats))
    front_ends, pendulum_steps = {}, {}
    for name in FRONT_ENDS:
        progress(f"steps of an environment: {name}")
        front_ends[name], pendulum = steps_per_s(name, repeats * seconds)
        pendulum_steps[name] = pendulum / front_ends[name]
    solver: dict[str, dict[str, float]] = {}
    for key, shortcut in MPCC_SHORTCUTS:
        solver[key] = {}
        for horizon in HORIZONS:
            progress(f"MPCC decisions, horizon {horizon}{'' if shortcut else ', qpOASES alone'}")
            solver[key][str(horizon)] = min(_mpcc_us(horizon, shortcut) for _ in range(4 * repeats))
    progress("MPCC in the simulator and across the channel")
    placement = {where: median(decision_us(where) for _ in range(repeats)) for where in PLACEMENTS}
    native = {}
    for name in NETWORKS:
        progress(f"a policy inside the simulator: {name}")
        native[name] = min(native_us(name) for _ in range(4 * repeats))
    rollouts: dict[str, list[float]] = {where: [] for where in ROLLOUTS}
    for _ in range(repeats):
        for where, rates in rollouts.items():  # in turn, so that both meet the same disturbances
            progress(f"rollouts, {where}")
            rates.append(rollout_decisions_per_s(where, round(seconds * ROLLOUT_RATES[where])))
    cpu = {}
    for key, name, controller in REFERENCE_RUNS:
        progress(f"{name} under {controller}")
        cpu[key] = median(_reference_cpu_s(name, controller) for _ in range(repeats))
    progress("an environment's reset")
    resets = [reset_ms() for _ in range(repeats)]
    progress("a benchmark's cell")
    cell = min(cell_overhead_ms() for _ in range(repeats))
    return {
        "packet_hops_per_s": hops,
        "tcp_packets_per_s": segments[4],
        "tcp_incast_packets_per_s": segments[64],
        "decisions_per_s": decisions,
        "front_end_steps_per_s": front_ends,
        "front_end_pendulum_steps": pendulum_steps,
        **solver,
        "mpcc_placement_us": placement,
        "native_us": native,
        "rollout_decisions_per_s": {where: median(rates) for where, rates in rollouts.items()},
        "reference_cpu_s": cpu,
        "reset_ms": {who: min(one[who] for one in resets) for who in resets[0]},
        "cell_overhead_ms": cell,
    }


def table(figures: dict[str, Any]) -> Table:
    """The figures of :func:`measure`, to be printed."""
    sheet = new_table("Speed on this machine", "what", (), (0, 1, 0, 0), words=("measured",))
    sheet.add_row("packet-hops/s, one core", f"{figures['packet_hops_per_s'] / 1e6:.1f} M")
    sheet.add_row("TCP packets/s, one core", f"{figures['tcp_packets_per_s'] / 1e3:.0f} k")
    sheet.add_row("the same, 64-to-1", f"{figures['tcp_incast_packets_per_s'] / 1e3:.0f} k")
    for count, rate in figures["decisions_per_s"].items():
        sheet.add_row(f"decisions/s, {count} simulator{'s' * (count != '1')}", f"{rate / 1e3:.0f} k")
    for name, rate in figures["front_end_steps_per_s"].items():
        ratio = figures["front_end_pendulum_steps"][name]
        sheet.add_row(
            f"an environment's steps/s, {name}", f"{rate / 1e3:.1f} k, {ratio:.2g} Pendulum steps each"
        )
    for name, ratio in ENVPOOL_PENDULUM_STEPS.items():
        sheet.add_row(f"for comparison, EnvPool's {name}", f"{ratio:.2g} Pendulum steps each")
    for key, shortcut in MPCC_SHORTCUTS:
        for horizon, us in figures[key].items():
            what = f"MPCC decision, P = {horizon}{'' if shortcut else ', qpOASES alone'}"
            sheet.add_row(what, f"{us:.2f} µs")
    for where, us in figures["mpcc_placement_us"].items():
        sheet.add_row(f"an MPCC decision and its packets, {where}", f"{us:.2f} µs")
    for name, us in figures["native_us"].items():
        sheet.add_row(f"a policy's decision inside, {name}", f"{us:.2f} µs")
    for where, rate in figures["rollout_decisions_per_s"].items():
        sheet.add_row(f"rollout decisions/s, {where}", f"{rate / 1e3:.1f} k")
    for who, ms in figures["reset_ms"].items():
        sheet.add_row(f"an environment's reset, {who}", f"{ms:.2f} ms")
    sheet.add_row("a benchmark's cell beside its simulation", f"{figures['cell_overhead_ms']:.1f} ms")
    for key, _, controller in REFERENCE_RUNS:
        sheet.add_row(f"{key.split('_')[0]}, {controller}, CPU", f"{figures['reference_cpu_s'][key]:.3f} s")
    return sheet


def report(json_path: Path | None, console: Console | None = None) -> dict[str, Any]:
    """Measures, prints the table and writes the same numbers to ``json_path``."""
    out = console or new_console()
    with out.status("measuring") as status:
        figures = measure(progress=lambda text: status.update(f"measuring: {text}"))
    print_table(table(figures), out)
    if json_path is not None:
        write_file(json_path, json.dumps(figures, indent=2) + "\n")
    return figures


def _packet_hops_per_s() -> float:
    run = play_alone(scenario("packet-hops"))
    return run.packet_hops / run.cpu_s


def _tcp_packets_per_s(senders: int) -> float:
    run = play_alone(SCENARIOS["tcp"].cases()[senders])
    return float(run.results["totals"]["packets_sent"]) / run.cpu_s


def _mpcc_us(horizon: int, shortcut: bool) -> float:
    """Mean microseconds of an incast's decisions."""
    attributes = {"Horizon": horizon, "Shortcut": shortcut, "MeasureTime": True}
    run = play_alone(scenario("mpcc").under("mpcc", attributes))
    return float(run.results["counters"]["decision_us_mean"])


def _reference_cpu_s(name: str, controller: str) -> float:
    published = Scenario.load(_SCENARIOS / f"{name}.yaml").under(controller)
    changes = {"record": Record(queues=False), "preset": "default"}
    return play_alone(published.model_copy(update=changes)).cpu_s


def _decisions_per_s(count: int, seconds: float) -> float:
    """Decisions per second with windows of a packet."""
    endless = scenario("decisions")
    simulators = [Simulator(capacity=_ROWS) for _ in range(count)]
    try:
        for simulator in simulators:
            simulator.send_reset(endless)
        answered = 0
        start_s = time.perf_counter()
        while time.perf_counter() - start_s < seconds:
            simulator = simulators[wait_any(simulators)]
            decisions = simulator.receive()
            if not isinstance(decisions, DecisionBatch):
                raise RuntimeError("the episode ended while it was being measured")
            packets = column(decisions.records, "packet_bytes")
            rates = np.full_like(packets, 1e7)
            simulator.send_actions(np.stack([packets, rates, np.zeros_like(packets)], axis=1))
            answered += len(packets)
        return answered / (time.perf_counter() - start_s)
    finally:
        for simulator in simulators:
            simulator.close()
