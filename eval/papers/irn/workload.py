# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: a load of 70 % by either recovery, with and without PFC (Mittal 2018, sec. 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ns3_env.eval.output.plots import styles
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.irn import network
from ns3_env.eval.papers.irn.network import CONTROLLERS, IRN, IRN_WITH, NETWORKS, NONE, WITH, WITHOUT
from ns3_env.eval.papers.outcome import Claim, Outcome, Row, grid
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.seen import Seen
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import Poisson
from ns3_env.simulator.results import Floats

_LOAD, _DURATION_NS, _LIMIT_NS, _SEEDS = 0.7, 10_000_000, 400_000_000, 5
#: By the abstract, for typical networks, %.
LEAST, MOST = 6.0, 83.0
#: Mean slowdown, mean and 99 % completion time (ms).
METRICS = {"slowdown": "mean slowdown", "fct_ms": "mean FCT (ms)", "fct_p99_ms": "99 % FCT (ms)"}
#: PFC "helps" where it makes a metric smaller by more than this.
_HELPS = 0.05
_Case = tuple[str, str]
Table = Mapping[_Case, Mapping[str, float]]


def cases(scale: float) -> dict[_Case, Scenario]:
    """Each network under each controller; ``scale`` of the time and the seeds."""
    flows = Poisson(sizes=network.SIZES, load=_LOAD, duration_ns=round(scale * _DURATION_NS))
    return {
        (controller, name): network.scenario(name, controller, flows, _LIMIT_NS)
        for controller in CONTROLLERS
        for name in NETWORKS
    }


@experiment(
    "irn-workload",
    "Heavy-tailed flows at 70 % between 54 servers, with and without PFC",
    "Mittal 2018, sec. 4.2",
    0.4,
    "time, and of five seeds",
    repeated(cases, Seen, _SEEDS),
)
def outcome(played: Played[dict[_Case, list[Seen]]]) -> Outcome:
    """Slowdowns and completion times by network and controller."""
    table = {case: _numbers(runs) for case, runs in played.runs.items()}
    gains = {
        (controller, key): 100 * (1 - table[controller, IRN][key] / table[controller, WITH][key])
        for controller in CONTROLLERS
        for key in METRICS
    }
    rows = [
        Row(
            "selective repeat without PFC is better than go-back-N with: least",
            "%",
            LEAST,
            min(gains.values()),
            "abstract",
        ),
        Row("most", "%", MOST, max(gains.values()), "abstract"),
    ]
    seeds = len(next(iter(played.runs.values())))
    notes = (
        f"54 servers, {seeds} seeds of {played.scale * _DURATION_NS / 1e6:g} ms of arrivals; a flow that did "
        "not finish counts as infinitely late. Three cores of 18 ports stand in the place of nine of six: as "
        "many paths, as much bisection. A switch's buffer of 1.44 MB is shared by its ports; the paper's "
        "240 kB are each port's.",
        "Of the paper's numbers only the abstract's range was at hand: it stands beside ours, and directions "
        "are judged.",
        "No control is line rate. DCQCN has its paper's timers, steps and marking; TIMELY the settings that "
        "it has on all other pages. Without PFC, and by selective repeat, the timeout is 320 µs: much of "
        "what go-back-N without PFC sends again was only late.",
    )
    series = [
        (*case, percent, f"{np.percentile(_fcts_ms(runs), percent):.6g}")
        for case, runs in played.runs.items()
        for percent in range(1, 100)
    ]
    heads = ("controller", "network", *METRICS.values(), "sent again (MB)", "timeouts", "lost", "pauses")
    names = (*METRICS, "again_mb", "timeouts", "lost", "pauses")
    return Outcome(
        rows,
        _claims(table, gains),
        (grid("Completion times", heads, names, table.items()),),
        notes,
        {"irn-workload": _draw(table)},
        {"percentiles": csv_text(("controller", "network", "percent", "fct_ms"), series)},
        {controller: {name: table[controller, name] for name in NETWORKS} for controller in CONTROLLERS},
    )


def _fcts_ms(runs: list[Seen]) -> Floats:
    """Of all flows of all seeds; infinite where one did not finish."""
    return np.concatenate([np.nan_to_num(run.fcts_ms, nan=np.inf) for run in runs])


def _numbers(runs: list[Seen]) -> dict[str, float]:
    """Over the flows of all seeds, and means over the seeds."""
    fcts = _fcts_ms(runs)
    alone = np.concatenate([run.flows["standalone_ns"] for run in runs]) / 1e6
    return {
        "slowdown": float((fcts / alone).mean()),
        "fct_ms": float(fcts.mean()),
        "fct_p99_ms": float(np.percentile(fcts, 99)),
        "again_mb": float(np.mean([run.flows["retransmitted_bytes"].sum() for run in runs])) / 1e6,
        "timeouts": float(np.mean([run.timeouts for run in runs])),
        "lost": float(np.mean([run.lost for run in runs])),
        "pauses": float(np.mean([run.totals["pfc_frames"] for run in runs])),
    }


def _ratios(table: Table, of: str, to: str, controllers: tuple[str, ...]) -> dict[str, list[float]]:
    """A network's metrics over another's, by controller."""
    return {own: [table[own, of][key] / table[own, to][key] for key in METRICS] for own in controllers}


def _told(ratios: Mapping[str, list[float]]) -> str:
    return " · ".join(f"{name} {', '.join(f'{x:.2f}' for x in own)}" for name, own in ratios.items())


def _claims(table: Table, gains: Mapping[tuple[str, str], float]) -> tuple[Claim, ...]:
    controlled = tuple(name for name in CONTROLLERS if name != NONE)
    compared: list[tuple[str, str, str, tuple[str, ...], Callable[[float], bool]]] = [
        ("Selective repeat without PFC beats go-back-N with PFC (4.2)", IRN, WITH, (NONE,), lambda x: x < 1),
        ("So it does under DCQCN and TIMELY (4.2)", IRN, WITH, controlled, lambda x: x < 1),
        (
            "PFC does not help selective repeat (4.2; here: no metric is 5 % smaller with it)",
            IRN_WITH,
            IRN,
            tuple(CONTROLLERS),
            lambda x: x > 1 - _HELPS,
        ),
        ("Go-back-N needs PFC: without it is worse (4.2)", WITHOUT, WITH, (NONE,), lambda x: x > 1),
        ("So it is under DCQCN and TIMELY (4.2)", WITHOUT, WITH, controlled, lambda x: x > 1),
    ]
    claims = []
    for text, of, to, controllers, holds in compared:
        ratios = _ratios(table, of, to, controllers)
        claims.append(
            Claim(
                text,
                all(holds(x) for own in ratios.values() for x in own),
                f"times the other's slowdown, mean and 99 % FCT: {_told(ratios)}",
            )
        )
    spread = [gains[own, key] for own in controlled for key in METRICS]
    claims.append(
        Claim(
            "By 6 to 83 % (abstract; here: under DCQCN and TIMELY, each metric)",
            min(spread) >= LEAST and max(spread) <= MOST,
            f"by {min(spread):.0f} to {max(spread):.0f} %",
        )
    )
    return tuple(claims)


def _draw(table: Table) -> bytes:
    """Bars by controller, a panel for each metric."""
    figure, panes = panels(list(METRICS.values()), 3, 2.9)
    looks = styles(NETWORKS)
    width = 0.8 / len(NETWORKS)
    for axes, key in zip(panes, METRICS, strict=True):
        for number, name in enumerate(NETWORKS):
            places = np.arange(len(CONTROLLERS)) + (number - (len(NETWORKS) - 1) / 2) * width
            heights = [table[own, name][key] for own in CONTROLLERS]
            axes.bar(places, heights, width, color=looks[name].colour, label=name)
        axes.set(yscale="log")
        axes.set_xticks(range(len(CONTROLLERS)), list(CONTROLLERS))
    return finished(figure, panes[0])
