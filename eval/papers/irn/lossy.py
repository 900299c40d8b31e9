# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: a load of 70 %, and incasts, by either recovery, with and without PFC (Mittal 2018)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, Verdict
from ns3_env.eval.papers.panels import Drawing, Panel, bars
from ns3_env.eval.papers.runs import Run, mean
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow

#: Networks: the recovery, and whether switches pause.
WITH, WITHOUT = "go-back-N with PFC", "go-back-N without"
IRN_WITH, IRN = "selective repeat with PFC", "selective repeat without"
NETWORKS = (WITH, WITHOUT, IRN_WITH, IRN)
#: Congestion controllers.
NONE, DCQCN, TIMELY = "no control", "DCQCN", "TIMELY"
CONTROLLERS = (NONE, DCQCN, TIMELY)
#: The abstract's range for typical networks, %.
LEAST, MOST = 6.0, 83.0
#: Mean slowdown, mean and 99 % completion time (ms).
METRICS = {"slowdown": "mean slowdown", "fct_ms": "mean FCT (ms)", "fct_p99_ms": "99 % FCT (ms)"}
#: PFC "helps" if it reduces a metric by more than this share.
_HELPS = 0.05
_CONTROLLED = (DCQCN, TIMELY)
Table = Mapping[tuple[str, str], Mapping[str, float]]


@experiment("irn-workload", Run)
def workload(data: Data[dict[tuple[str, str], list[Run]]]) -> Outcome:
    """Heavy-tailed flows at 70 % between 54 servers, with and without PFC."""
    table = {case: _numbers(runs) for case, runs in data.runs.items()}
    gains = {
        controller: [
            100 * (1 - table[controller, IRN][key] / table[controller, WITH][key]) for key in METRICS
        ]
        for controller in CONTROLLERS
    }
    every = [x for record in gains.values() for x in record]
    panels = [
        Panel(
            words,
            bars({name: [table[record, name][key] for record in CONTROLLERS] for name in NETWORKS}),
            {"yscale": "log"},
            ticks=(range(len(CONTROLLERS)), CONTROLLERS, {}),
        )
        for key, words in METRICS.items()
    ]
    return Outcome(
        rows=data.declared.compare({"least": min(every), "most": max(every)}),
        claims=_claims(table, [x for name in _CONTROLLED for x in gains[name]]),
        grids=data.declared.grids(table),
        notes=(
            f"54 servers, {len(next(iter(data.runs.values())))} seeds of {data.scale * 10:g} ms of arrivals.",
        ),
        pictures={"irn-workload": Drawing(panels, 3, 2.9)},
    )


def _numbers(runs: list[Run]) -> dict[str, float]:
    """Numbers over the flows of all seeds, infinite if one did not finish, and means over the seeds."""
    fcts = np.concatenate([np.nan_to_num(run.fcts_ms, nan=np.inf) for run in runs])
    alone = np.concatenate([run.flows["standalone_ns"] for run in runs]) / 1e6
    return {
        "slowdown": float((fcts / alone).mean()),
        "fct_ms": float(fcts.mean()),
        "fct_p99_ms": float(np.percentile(fcts, 99)),
        "again_mb": mean(run.flows["retransmitted_bytes"].sum() for run in runs) / 1e6,
        "timeouts": mean(run.timeouts for run in runs),
        "lost": mean(run.lost for run in runs),
        "pauses": mean(run.totals["pfc_frames"] for run in runs),
    }


def _ratio_text(ratios: Mapping[str, list[float]], unit: str = "") -> str:
    return " · ".join(f"{name} {listed(record, '.2f')}{unit}" for name, record in ratios.items())


def _claims(table: Table, spread: list[float]) -> dict[str, Verdict]:
    def compared(
        network: str,
        other: str,
        controllers: tuple[str, ...],
        holds: Callable[[float], bool] = lambda x: x < 1,
    ) -> Verdict:
        """A network's metrics over another's, by controller."""
        ratios = {
            record: [table[record, network][key] / table[record, other][key] for key in METRICS]
            for record in controllers
        }
        verdict = all(holds(x) for record in ratios.values() for x in record)
        return verdict, f"times the other's slowdown, mean and 99 % FCT: {_ratio_text(ratios)}"

    return {
        "Selective repeat without PFC beats go-back-N with PFC (4.2)": compared(IRN, WITH, (NONE,)),
        "So it does under DCQCN and TIMELY (4.2)": compared(IRN, WITH, _CONTROLLED),
        "PFC does not help selective repeat (4.2; here: no metric is 5 % smaller with it)": compared(
            IRN_WITH, IRN, CONTROLLERS, lambda x: x > 1 - _HELPS
        ),
        "Go-back-N needs PFC: without it is worse (4.2)": compared(WITHOUT, WITH, (NONE,), lambda x: x > 1),
        "So it is under DCQCN and TIMELY (4.2)": compared(WITHOUT, WITH, _CONTROLLED, lambda x: x > 1),
        "By 6 to 83 % (abstract; here: under DCQCN and TIMELY, each metric)": (
            min(spread) >= LEAST and max(spread) <= MOST,
            f"by {min(spread):.0f} to {max(spread):.0f} %",
        ),
    }


#: Bytes of all answers together; the numbers of servers that answer.
_BYTES, _SERVERS = 150_000_000, (10, 30, 50)
#: "Comparable".
_NEAR = 0.1
_Case = tuple[str, int, str]


def incast_cases(scale: float) -> dict[_Case, Callable[[int], Scenario]]:
    """Each network under each controller, by the number of answers; ``scale`` of bytes and seeds."""
    cases = declared("irn-incast").cases(scale)
    return {case: partial(_request, base, case[1], scale) for case, base in cases.items()}


def _request(base: Scenario, servers: int, scale: float, seed: int) -> Scenario:
    """A server requests from ``servers`` other servers, all drawn at random."""
    asks, *answer = (int(x) for x in np.random.default_rng(seed).permutation(54)[: servers + 1])
    size = max(1000, round(min(scale, 1.0) * _BYTES / servers))
    flows = FlowList(flows=[Flow(src=server, dst=asks, size_bytes=size) for server in answer])
    return base.model_copy(update={"traffic": flows}).with_seed(seed)


@experiment("irn-incast", Run, cases=incast_cases)
def incast(data: Data[dict[_Case, list[Run]]]) -> Outcome:
    """A request that 10, 30 or 50 of 54 servers answer at once."""
    rct = {case: mean(float(max(run.flow_ends_ns)) / 1e6 for run in runs) for case, runs in data.runs.items()}
    finish = all(np.isfinite(x.fcts_ms).all() for runs in data.runs.values() for x in runs)
    ratios = {
        (controller, servers): {
            name: rct[controller, servers, name] / rct[controller, servers, WITH] for name in NETWORKS
        }
        for controller in CONTROLLERS
        for servers in _SERVERS
    }
    near, worse = (
        {name: [ratios[name, servers][network] for servers in _SERVERS] for name in CONTROLLERS}
        for network in (IRN, WITHOUT)
    )
    close = {name: finish and all(abs(x - 1) <= _NEAR for x in record) for name, record in near.items()}
    rows = [((*case, rct[(case[0], case[1], WITH)]), record) for case, record in ratios.items()]
    seeds = len(next(iter(data.runs.values())))
    return Outcome(
        claims={
            "Selective repeat without PFC completes a request as soon as go-back-N with it, under DCQCN and "
            "TIMELY (4.4; here: within 10 %)": (
                all(close[name] for name in _CONTROLLED),
                _ratio_text({name: near[name] for name in _CONTROLLED}, " times"),
            ),
            "So it does without congestion control (4.4; here: within 10 %)": (
                close[NONE],
                f"{_ratio_text({NONE: near[NONE]}, ' times')}: a BDP of each of 50 servers is four buffers",
            ),
            "Go-back-N without PFC is worse in a network without congestion control (4.2)": (
                min(worse[NONE]) > 1,
                _ratio_text(worse, " times"),
            ),
        },
        grids=data.declared.grids(rows),
        notes=(
            f"{min(data.scale, 1.0) * _BYTES / 1e6:g} MB in equal answers, {seeds} seeds, which draw who "
            "asks and who answers.",
        ),
    )
