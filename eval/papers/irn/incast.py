# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: completion of a request that many servers answer at once (Mittal 2018, sec. 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.irn import network
from ns3_env.eval.papers.irn.network import CONTROLLERS, IRN, NETWORKS, NONE, WITH, WITHOUT
from ns3_env.eval.papers.outcome import Claim, Outcome, grid
from ns3_env.eval.papers.seen import Seen
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow

#: Of all answers together; so many servers answer.
_BYTES, _SERVERS = 150_000_000, (10, 30, 50)
_SEEDS, _LIMIT_NS = 5, 4_000_000_000
#: "Comparable".
_NEAR = 0.1
_Case = tuple[str, int, str]


def cases(scale: float) -> dict[_Case, Scenario | Callable[[int], Scenario]]:
    """Each network under each controller, by how many answer; ``scale`` of bytes and seeds."""
    return {
        (controller, servers, name): partial(_request, name, controller, servers, scale)
        for controller in CONTROLLERS
        for servers in _SERVERS
        for name in NETWORKS
    }


def _request(name: str, controller: str, servers: int, scale: float, seed: int) -> Scenario:
    """A server asks as many others, all drawn."""
    asks, *answer = (int(x) for x in np.random.default_rng(seed).permutation(54)[: servers + 1])
    size = max(1000, round(min(scale, 1.0) * _BYTES / servers))
    flows = FlowList(flows=[Flow(src=server, dst=asks, size_bytes=size) for server in answer])
    return network.scenario(name, controller, flows, _LIMIT_NS).with_seed(seed)


@experiment(
    "irn-incast",
    "A request that 10, 30 or 50 of 54 servers answer at once",
    "Mittal 2018, sec. 4.4",
    1.0,
    "bytes, and of five seeds",
    repeated(cases, Seen, _SEEDS),
)
def outcome(played: Played[dict[_Case, list[Seen]]]) -> Outcome:
    """Request completion times over those of go-back-N with PFC."""
    rct = {case: float(np.mean([max(x.flow_ends_ns) for x in runs])) for case, runs in played.runs.items()}
    finish = all(np.isfinite(x.fcts_ms).all() for runs in played.runs.values() for x in runs)
    ratios = {
        (controller, servers): {
            name: rct[controller, servers, name] / rct[controller, servers, WITH] for name in NETWORKS
        }
        for controller in CONTROLLERS
        for servers in _SERVERS
    }
    rows = [
        ((controller, servers, rct[controller, servers, WITH] / 1e6), own)
        for (controller, servers), own in ratios.items()
    ]
    near = {name: [ratios[name, servers][IRN] for servers in _SERVERS] for name in CONTROLLERS}
    worse = {name: [ratios[name, servers][WITHOUT] for servers in _SERVERS] for name in CONTROLLERS}
    claims = (
        Claim(
            "Selective repeat without PFC completes a request as soon as go-back-N with it, under DCQCN and "
            "TIMELY (4.4; here: within 10 %)",
            _comparable(near, tuple(name for name in CONTROLLERS if name != NONE)) and finish,
            _told({name: own for name, own in near.items() if name != NONE}),
        ),
        Claim(
            "So it does without congestion control (4.4; here: within 10 %)",
            _comparable(near, (NONE,)) and finish,
            f"{_told({NONE: near[NONE]})}: a BDP of each of 50 servers is four buffers",
        ),
        Claim(
            "Go-back-N without PFC is worse in a network without congestion control (4.2)",
            min(worse[NONE]) > 1,
            _told(worse),
        ),
    )
    heads = (
        "controller",
        "servers",
        f"{WITH} (ms)",
        *(f"{name} over that" for name in NETWORKS if name != WITH),
    )
    notes = (
        f"{min(played.scale, 1.0) * _BYTES / 1e6:g} MB in equal answers, no other traffic, "
        f"{len(next(iter(played.runs.values())))} seeds, which draw who asks and who "
        "answers. The completion time of a request is that of its last answer.",
    )
    names = tuple(name for name in NETWORKS if name != WITH)
    series = [
        (*case, seed, f"{max(run.flow_ends_ns) / 1e6:.6g}")
        for case, runs in played.runs.items()
        for seed, run in enumerate(runs, 1)
    ]
    return Outcome(
        (),
        claims,
        (grid("Request completion times", heads, names, rows),),
        notes,
        {},
        {"requests": csv_text(("controller", "servers", "network", "seed", "rct_ms"), series)},
    )


def _comparable(ratios: Mapping[str, list[float]], controllers: tuple[str, ...]) -> bool:
    return all(abs(x - 1) <= _NEAR for name in controllers for x in ratios[name])


def _told(ratios: Mapping[str, list[float]]) -> str:
    """Of each controller, by how many servers answer."""
    return " · ".join(f"{name} {', '.join(f'{x:.2f}' for x in own)} times" for name, own in ratios.items())
