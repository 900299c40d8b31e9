# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the use of a network's paths under load balancing, and the cost of a failure.

python docs/make/path_pictures.py    writes docs/images/load-balancing.png and failures.png
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from pictures import BLUE, GREEN, ORANGE, picture

from ns3_env.scenario import Controller, Ecmp, Failures, Outage, Scenario, Spray
from ns3_env.scenario.topology import LeafSpine
from ns3_env.scenario.traffic import ConstantRate, Flow, FlowList, Mix
from ns3_env.simulator import Simulator

RATE_BPS = 100e9
LONG_NS = 200_000
#: From host to host: four links of 1 µs, and a packet on each.
UNDER_WAY_NS = 4_340
PERMUTATIONS = 30
SPINES = (2, 4, 8, 16)
CHOICES = {
    "ECMP": (Ecmp(), BLUE, "o"),
    "spray, random": (Spray(by="random"), "#56B4E9", "v"),
    "spray, in turn": (Spray(by="round_robin"), "#E69F00", "s"),
    "spray, least queue": (Spray(by="least_queue"), GREEN, "x"),
}


def network(spines: int) -> LeafSpine:
    """Two leaves with one host per spine each; all links are equal."""
    return LeafSpine(leaves=2, spines=spines, hosts_per_leaf=spines, uplink_bps=RATE_BPS)


def bisection(simulator: Simulator, spines: int, how: Ecmp | Spray, seed: int) -> float:
    """Share of hosts' rate that arrives if each host of a leaf sends to one of the other at line rate."""
    random = np.random.default_rng(seed)
    to = [*(spines + random.permutation(spines)), *random.permutation(spines)]
    streams = [ConstantRate(src=i, dst=int(x), rate_bps=RATE_BPS, phase_ns=0) for i, x in enumerate(to)]
    last = FlowList(flows=[Flow(src=0, dst=1, size_bytes=1, start_ns=LONG_NS)])
    scenario = Scenario(
        seed=seed,
        topology=network(spines),
        traffic=Mix(parts=[*streams, last]),
        controllers=[Controller(name="dcqcn")],
        load_balancing=how,
    )
    results = simulator.play(scenario)
    received = np.mean(results["streams"]["received_bytes"])
    return float(received * 1.048 * 8e9 / RATE_BPS / (results["totals"]["end_ns"] - UNDER_WAY_NS))


def draw_bisection(axes: Axes, simulator: Simulator) -> None:
    for name, (how, colour, marker) in CHOICES.items():
        runs = [
            [bisection(simulator, n, how, seed) for seed in range(PERMUTATIONS if name == "ECMP" else 3)]
            for n in SPINES
        ]
        means = [np.mean(x) for x in runs]
        print(name, *(f"{n}: {x:.3f}" for n, x in zip(SPINES, means, strict=True)))
        line = "none" if name == "ECMP" else "-"
        axes.plot(SPINES, means, marker, color=colour, label=name, linestyle=line, fillstyle="none", ms=7)
    n = np.linspace(SPINES[0], SPINES[-1], 200)
    axes.plot(n, 1 - (1 - 1 / n) ** n, color=BLUE, linestyle="--", label="1 − (1 − 1/n)ⁿ")
    axes.set(xlabel="n: spines, and hosts of a leaf", ylabel="share of the bisection", ylim=(0.5, 1.05))
    axes.set_xscale("log", base=2)
    axes.set_xticks(SPINES, [str(x) for x in SPINES])
    axes.legend(loc="center right")


#: A spine of four is down from 300 to 900 us.
DOWN_NS = (300_000, 900_000)
STEP_NS, END_NS = 10_000, 1_500_000


def acked(simulator: Simulator, failures: Failures | None) -> np.ndarray:
    """Payload of eight flows that was acknowledged until each step: (steps,)."""
    flows = [Flow(src=i, dst=(i + 4) % 8, size_bytes=100_000_000) for i in range(8)]
    scenario = Scenario(
        topology=LeafSpine(leaves=2, spines=4, hosts_per_leaf=4, uplink_bps=4 * RATE_BPS),
        traffic=FlowList(flows=flows),
        controllers=[Controller(name="hpcc")],
        failures=failures,
        retransmission_timeout_ns=100_000,
    )
    cut = (scenario.model_copy(update={"time_limit_ns": x}) for x in range(STEP_NS, END_NS + 1, STEP_NS))
    totals = [sum(simulator.play(one)["flows"]["acked_bytes"]) for one in cut]
    return np.array(totals, dtype=np.float64)


def draw_failure(axes: Axes, simulator: Simulator) -> None:
    outages = [Outage(switch=10, at_ns=DOWN_NS[0], until_ns=DOWN_NS[1])]
    axes.axvspan(*(x / 1e3 for x in DOWN_NS), color="#eeeeee", label="a spine of four is down")
    for convergence, colour in ((0, GREEN), (50_000, "#E69F00"), (250_000, ORANGE)):
        failures = Failures(convergence_ns=convergence, outages=outages)
        rate = np.diff(acked(simulator, failures), prepend=0) * 8 / STEP_NS
        at = (np.arange(len(rate)) + 0.5) * STEP_NS / 1e3
        when = f"after {convergence / 1e3:g} µs" if convergence else "at once"
        axes.plot(at, rate, color=colour, label=f"routes converge {when}")
    axes.set(xlabel="time (µs)", ylabel="acknowledged payload (Gb/s)", ylim=(0, None), xlim=(0, END_NS / 1e3))
    axes.legend(loc="lower right")


def main() -> None:
    with Simulator() as simulator:
        for draw, name in ((draw_bisection, "load-balancing"), (draw_failure, "failures")):
            with picture(name, 7.5, 3.4, colors=128) as figure:
                draw(figure.subplots(), simulator)


if __name__ == "__main__":
    main()
