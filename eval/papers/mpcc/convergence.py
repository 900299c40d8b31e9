# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: MPCC's weights and horizons on four flows at 1 Gb/s (Zheng 2024, Fig. 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ns3_env.eval.output.plots import styles
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, Policies, Progress, experiment
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, RATE_BPS, SENDERS
from ns3_env.eval.papers.outcome import Claim, Grid, Outcome, Row
from ns3_env.eval.papers.panels import finished, panels, told
from ns3_env.eval.papers.seen import Seen, queues_csv
from ns3_env.eval.papers.shares import shares_of
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats, Results

#: W_R (with W_Q = 1) -> ns until the queue is zero (section 5.2.1).
WEIGHTS = {1: 140_334, 10: 149_133, 100: 175_530}
#: Ratios beyond the thesis's, to see where the ratio begins to matter.
FURTHER_WEIGHTS = (1_000, 10_000)
#: Horizon -> ns to solve one QP on the thesis's machine (section 5.2.2).
HORIZONS = {3: 255_952, 5: 343_525, 10: 469_736, 20: 916_831}
#: Of each flow, and its sampling period (section 5.2.1).
SHARE, PERIOD_NS = 0.2464, 2_000_000
#: Frames of 1000 B of payload, 48 B of headers and 32 B of telemetry.
_FRAME_BYTES = 1080
_PAYLOAD_BYTES = 1000
_LOOK_NS, _SAMPLE_NS = 400_000, 100
_LONG_NS = 20_000_000
BENCHMARKS = 5
#: qpOASES on every decision, as in the thesis, and each decision timed.
_TIMED = {"Shortcut": False, "MeasureTime": True}
#: Times (ns) and lengths (bytes).
_Queue = tuple[Floats, Floats]


@dataclass(frozen=True)
class Found:
    """By setting: results, each flow's shares in whole periods; by horizon: ns to decide once."""

    results: Mapping[str, Results]
    share: Mapping[str, Floats]
    solving: Mapping[int, float]


def play(simulator: Simulator, scale: float, progress: Progress, policies: Policies) -> Played[Found]:
    """Every weight ratio and horizon; throughput over ``scale`` x 20 ms."""
    weights = {f"1:{w}": {"WeightWindow": w} for w in WEIGHTS}
    settings = {**weights, **{f"P = {p}": {"Horizon": p} for p in HORIZONS}}
    settings |= {f"1:{w}": {"WeightWindow": w} for w in FURTHER_WEIGHTS}
    results, share, solving = {}, {}, {}
    for name, attributes in settings.items():
        progress(f"queue, {name}")
        results[name] = simulator.play(_scenario(attributes, _LOOK_NS, _SAMPLE_NS))
    for name, attributes in weights.items():
        progress(f"throughput, {name}")
        long = _scenario(attributes, max(2 * PERIOD_NS, round(scale * _LONG_NS)), PERIOD_NS)
        share[name] = shares_of(simulator, long, BOTTLENECK, PERIOD_NS, RATE_BPS).share[:, :-1]
    for horizon in HORIZONS:
        progress(f"solver, P = {horizon}")
        timed = _scenario({"Horizon": horizon, **_TIMED}, _LONG_NS, PERIOD_NS)
        runs = [simulator.play(timed)["counters"]["decision_us_mean"] for _ in range(BENCHMARKS)]
        solving[horizon] = 1e3 * float(min(runs))  # other processes can only add
    return Played(Found(results, share, solving), scale, progress)


def _scenario(attributes: Mapping[str, Any], until_ns: int, sample_ns: int) -> Scenario:
    return Scenario(
        time_limit_ns=until_ns,
        topology=Dumbbell(senders=SENDERS, rate_bps=RATE_BPS),
        traffic=Incast(size_bytes=5_000_000),
        record=Record(queue_series_ns=sample_ns, windows=True),
    ).under("mpcc", attributes)


@experiment(
    "mpcc-convergence",
    "Four flows at once: weight ratios and horizons",
    "Zheng 2024, Fig. 5.2, sections 5.2.1 and 5.2.2",
    1.0,
    "simulated time of the throughput",
    play,
)
def outcome(played: Played[Found]) -> Outcome:
    """Times until the queue is zero, throughput, and times to decide."""
    results, share, solving = played.runs.results, played.runs.share, played.runs.solving
    seen = {name: Seen(own) for name, own in results.items()}
    queues = {name: (own.times_ns, own.lengths[BOTTLENECK]) for name, own in seen.items()}
    *_, last = results.values()
    bdp, infeasible = float(last["windows"][0][2]), last["counters"]["qp_infeasible"]
    empty = {name: empty_ns(*queue) for name, queue in queues.items()}
    rows = [
        *(
            Row(f"queue zero, {n}", "ns", t, empty[n], "5.2.1")
            for n, t in zip(share, WEIGHTS.values(), strict=True)
        ),
        *(Row(f"throughput per flow, {n}", "", SHARE, float(x.mean()), "5.2.1") for n, x in share.items()),
        *(Row(f"queue zero, P = {p}", "ns", WEIGHTS[10], empty[f"P = {p}"], "5.2.2") for p in HORIZONS),
        *(Row(f"one decision, P = {p}", "ns", t, solving[p], "5.2.2") for p, t in HORIZONS.items()),
    ]
    frames = int(-(-bdp // _PAYLOAD_BYTES))
    drain = SENDERS * frames * _FRAME_BYTES * 8e9 / RATE_BPS
    grid = Grid(
        f"Flow 0's windows, and the queue; the fair share is {bdp / SENDERS:,.0f} B, a payload 1000 B",
        ("setting", "1st ACK (B)", "2nd (B)", "3rd (B)", "empty (ns)", "2 frames from (ns)", "longest (B)"),
        [
            (name, *_first_windows(results[name]), empty[name], _settled_ns(*queue), float(queue[1].max()))
            for name, queue in queues.items()
        ],
    )
    notes = (
        f"A first window of a BDP ({bdp:,.0f} B) is {frames} frames a flow: {drain:,.0f} ns at 1 Gb/s, after "
        "the 9.6 µs of the first frame's way. A window below a payload lets a flow send only when all of its "
        "frames are acknowledged, and the fair share is one: no ratio changes what is sent until then.",
        "On a flow's first ACK the predicted queue is beyond the bound of eq. 4.3, so that every ratio gives "
        f"the least window ({infeasible:g} such decisions, one per flow); later windows depend on the ratio.",
        "The thesis's maxBDP of 30,000 B would need 960,000 ns for that: its own times are those of 4 kB.",
        "A decision is timed in the simulator, qpOASES hot-started; the thesis does not say what it timed.",
    )
    shares = [
        (name, flow, k * PERIOD_NS, round(float(x), 6))
        for name, flows in share.items()
        for flow, own in enumerate(flows)
        for k, x in enumerate(own)
    ]
    return Outcome(
        rows,
        _claims(queues, empty, share, solving),
        (grid,),
        notes,
        {"fig-5-2": _draw(queues, share)},
        {
            "queue": queues_csv(
                ("setting", "t_ns", "bytes"), {name: (t[::10], b[::10]) for name, (t, b) in queues.items()}
            ),
            "throughput": csv_text(("setting", "flow", "t_ns", "share"), shares),
        },
    )


def empty_ns(times: Floats, lengths: Floats) -> float:
    """When the queue is empty for the first time after its longest; NaN where it never is."""
    peak = int(lengths.argmax())
    zeros = np.flatnonzero(lengths[peak:] == 0)
    return float(times[peak + zeros[0]]) if len(zeros) else float("nan")


def _longest_after(times: Floats, lengths: Floats, since: float) -> float:
    """The longest queue from an instant on, bytes."""
    return float(lengths[times >= since].max(initial=0.0))


def _settled_ns(times: Floats, lengths: Floats) -> float:
    """From when on the queue is at most two frames long."""
    longer = np.flatnonzero(lengths > 2 * _FRAME_BYTES)
    return float(times[min(longer[-1] + 1, len(times) - 1)]) if len(longer) else 0.0


def _first_windows(results: Results) -> list[float]:
    """Flow 0's windows after its first three ACKs, bytes; NaN for those that came too late."""
    own = [float(window) for _, flow, window, _ in results["windows"] if flow == 0][1:4]
    return own + [float("nan")] * (3 - len(own))


def _claims(
    queues: Mapping[str, _Queue],
    empty: Mapping[str, float],
    share: Mapping[str, Floats],
    solving: Mapping[int, float],
) -> tuple[Claim, ...]:
    weighted = [empty[f"1:{w}"] for w in WEIGHTS]
    times = ", ".join(f"{x:,.0f}" for x in weighted)
    after = max(_longest_after(*queues[f"1:{w}"], empty[f"1:{w}"]) for w in WEIGHTS)
    spread = max(float(np.ptp(x.mean(axis=1)) / x.mean()) for x in share.values())
    horizons = [empty[f"P = {p}"] for p in HORIZONS]
    costs = [solving[p] for p in HORIZONS]
    return (
        Claim(
            "The queue converges to zero, in 140 to 176 µs at 1 Gb/s (5.2.1)",
            max(weighted) <= max(WEIGHTS.values()) and after <= _FRAME_BYTES,
            f"{times} ns for 1:1, 1:10, 1:100; no more than {after:,.0f} B from then on (a frame is 1080 B)",
        ),
        Claim(
            "The more the window weighs, the longer it takes (5.2.1)",
            weighted[0] < weighted[1] < weighted[2],
            f"{times} ns",
        ),
        Claim(
            "Each flow has the same throughput, whatever the ratio (5.2.1)",
            spread <= 0.01,
            f"flows differ by {100 * spread:.2f} % at most; a quarter of the wire is "
            f"{1000 / _FRAME_BYTES / SENDERS:.4f} of payload",
        ),
        Claim(
            "A longer horizon changes nothing but the time to solve (5.2.2)",
            float(np.ptp(horizons)) <= _SAMPLE_NS and costs == sorted(costs),
            f"{min(horizons):,.0f} to {max(horizons):,.0f} ns to zero; {costs[0]:,.0f} to {costs[-1]:,.0f} "
            "ns a decision",
        ),
    )


def _draw(queues: Mapping[str, _Queue], share: Mapping[str, Floats]) -> bytes:
    looks = styles([f"1:{w}" for w in WEIGHTS])
    figure, (left, right) = panels(["queue at switch 1", "throughput of each flow"], 2, 2.9)
    for width, (name, look) in zip((4.0, 2.5, 1.2), looks.items(), strict=True):
        line: dict[str, Any] = {"color": look.colour, "linewidth": width}  # they lie over each other
        left.plot(*(x / 1e3 for x in queues[name]), label=f"W_Q:W_R = {name}", **line)
        for flow in share[name]:
            right.plot(np.arange(1, len(flow) + 1) * PERIOD_NS / 1e6, flow, **line)
    left.set(xlabel="time (µs)", ylabel="queue (kB)", xlim=(0, 300), ylim=(0, None))
    right.axhline(SHARE, color="#555555", linewidth=0.8, linestyle="--")
    told(right, f"thesis: {SHARE}", (0.98, SHARE - 0.01))
    right.set(xlabel="time (ms), means of 2 ms", ylabel="share of the link", xlim=(0, None), ylim=(0, 0.5))
    return finished(figure, left)
