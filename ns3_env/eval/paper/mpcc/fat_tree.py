# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: workloads on a fat-tree under five controllers (Zheng 2024, Figs. 5.6–5.9)."""

from __future__ import annotations

from ns3_env.eval.paper.mpcc.fat_tree_claims import claims
from ns3_env.eval.paper.mpcc.fat_tree_numbers import (
    Case,
    Measured,
    csvs,
    draw_queues,
    draw_slowdowns,
    grids,
    measure,
)
from ns3_env.eval.paper.outcome import Experiment, Outcome, Progress
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import FatTree3
from ns3_env.scenario.traffic import Incast, Mix, Poisson
from ns3_env.simulator import Simulator

#: The thesis's five (section 5.1.2).
CONTROLLERS = ("mpcc", "hpcc", "dctcp", "dcqcn", "timely")
#: In the order of the figures' panels (a) to (d).
CASES = tuple(
    Case(sizes, load, incast)
    for sizes in ("websearch", "fb_hadoop")
    for incast in (False, True)
    for load in (0.3, 0.6)
)
#: Flows arrive for so long at scale 1: the thesis does not say how long, the suite ``paper`` takes this.
DURATION_NS = 10_000_000
#: 8-to-1, 300 kB each (section 5.4); when they start is not said.
INCAST_FLOWS, INCAST_BYTES, INCAST_AT = 8, 300_000, 0.2
#: Samples of each port while flows arrive, and their least interval, which must not keep step with frames.
_SAMPLES, _LEAST_NS, _ODD_NS = 5_000, 500, 7
_PATIENCE_NS = 4_000_000_000


def scenario(case: Case, scale: float, seed: int = 1) -> Scenario:
    """Three levels, 16 hosts at 100 Gb/s, a fabric of 400 Gb/s, 1 µs links (Fig. 5.5); ``scale`` x 10 ms of
    arrivals, then as long as the flows need."""
    duration = max(100_000, round(scale * DURATION_NS))
    poisson = Poisson(sizes=case.sizes, load=case.load, duration_ns=duration)
    start = round(INCAST_AT * duration)
    # A mix of one, too: each part draws for itself, so that the background is the same with the incast.
    added = Incast(flows=INCAST_FLOWS, size_bytes=INCAST_BYTES, start_ns=start)
    return Scenario(
        seed=seed,
        time_limit_ns=_PATIENCE_NS,
        topology=FatTree3(),
        traffic=Mix(parts=[poisson, added] if case.incast else [poisson]),
        record=Record(queue_series_ns=max(_LEAST_NS, duration // _SAMPLES) + _ODD_NS),
    )


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """Eight cases under five controllers, one seed: the same flows for each controller."""
    found: dict[Case, dict[str, Measured]] = {}
    for case in CASES:
        played, found[case] = scenario(case, scale), {}
        until = max(played.flows().start_ns)
        for name in CONTROLLERS:
            progress(f"{case.title} under {name}, {len(played.flows().src)} flows")
            found[case][name] = measure(simulator.play(played.under(name)), until)
    pictures = {}
    for sizes, queues, slowdowns in (
        ("websearch", "fig-5-6", "fig-5-7"),
        ("fb_hadoop", "fig-5-8", "fig-5-9"),
    ):
        own = {case: by_name for case, by_name in found.items() if case.sizes == sizes}
        pictures[queues], pictures[slowdowns] = draw_queues(own), draw_slowdowns(own)
    flows = sum(len(next(iter(by_name.values())).sizes) for by_name in found.values())
    lost = sum(own.unfinished for by_name in found.values() for own in by_name.values())
    notes = (
        f"{scale * DURATION_NS / 1e6:g} ms of arrivals, one seed, {flows:,} flows in all; the thesis names "
        "neither duration nor seeds. It prints no numbers for these figures. "
        + (f"{lost} flows did not finish." if lost else "Every flow finished, under every controller."),
        "Queues: all switch ports that sent anything, sampled until the last flow starts, so that every "
        "controller is looked at for the same time.",
        "Slowdowns: means over the finished flows of a size; the thesis does not say whether it draws means "
        "or percentiles. Used: payload, as a share of what receivers' links could carry while they had "
        "flows. Telemetry (32 B under MPCC, 42 B under HPCC, 8 B under TIMELY) counts against them.",
    )
    return Outcome((), claims(found), grids(found), notes, pictures, csvs(found))


EXPERIMENT = Experiment(
    "mpcc-fat-tree",
    "WebSearch and FB_Hadoop on a fat-tree, five controllers",
    "Zheng 2024, Figs. 5.6 to 5.9",
    0.3,
    "10 ms in which flows arrive",
    run,
)
