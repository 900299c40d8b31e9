# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: flows that join a link, MPCC against HPCC (Zheng 2024, Figs. 5.3 and 5.4)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.papers.experiment import Played, counted, experiment
from ns3_env.eval.papers.mpcc import changing_flows as flows
from ns3_env.eval.papers.mpcc.changing_flows import FRAME_BYTES, INTERVAL_NS, THEIR_BDP_BYTES, Run, Table
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, RATE_BPS
from ns3_env.eval.papers.outcome import Claim, Grid, Outcome
from ns3_env.eval.papers.shares import Shares
from ns3_env.scenario import Scenario

#: All four flows are there after 30 ms; the rest is to see them settle.
_UNTIL_NS = 5 * INTERVAL_NS
_BIN_NS, _SAMPLE_NS = 500_000, 2_000
#: "At once": no longer than the thesis's sampling period of throughput (section 5.2).
AT_ONCE_MS = 2.0
#: The thesis counts flows by timeout, of a length that it does not give: longer and shorter than the 35 µs
#: from frame to frame of one flow in four.
LONG, SHORT = "mpcc-1ms", "mpcc-20us"
#: With an additive increase of 5 % of the link instead of 0.04 %.
EAGER = "hpcc-5%"


def cases(scale: float) -> dict[str, Scenario]:
    """The first 50 ms; ``scale`` is of the flows' sizes, none of which ends before at a scale of 0.005."""
    base = flows.scenario(scale, _UNTIL_NS, _SAMPLE_NS)

    def timed_out(timeout_ns: int) -> Scenario:
        switch = base.switch.model_copy(update={"flow_counter": "timeout", "flow_timeout_ns": timeout_ns})
        return base.model_copy(update={"switch": switch}).under("mpcc")

    return {
        "mpcc": base.under("mpcc"),
        "hpcc": base.under("hpcc"),
        LONG: timed_out(1_000_000),
        SHORT: timed_out(20_000),
        EAGER: base.under("hpcc", {"AdditiveIncrease": 0.05}),
    }


@experiment(
    "mpcc-joining",
    "Flows that join a link 10 ms apart, MPCC against HPCC",
    "Zheng 2024, Figs. 5.3 and 5.4",
    1.0,
    "sizes of the flows (the first 50 ms)",
    counted(cases, BOTTLENECK, lambda scale: _BIN_NS, RATE_BPS),
)
def outcome(played: Played[dict[str, Shares]]) -> Outcome:
    """After a flow has joined."""
    runs = {name: Run(own) for name, own in played.runs.items()}
    table = {name: run.after("joining") for name, run in runs.items()}
    notes = (
        "Fair: time until every flow is within 5 % of the mean, for good, to 0.3 ms (ten round trips); "
        "taken: until the flows together have 95 % of what they come to have; unfairness: the largest "
        "distance from the mean, over the second half of the interval; settled: the mean queue over it.",
        "The path's BDP is four frames. HPCC's least window is one payload, and its rate may fall to 1 % of "
        "the link; MPCC paces windows below a frame.",
        f"{LONG} and {SHORT} count flows by a timeout of so long, as the thesis does, instead of exactly; "
        f"{EAGER} has an additive increase of 5 % of the link instead of 0.04 %.",
    )
    return Outcome(
        flows.queue_rows(table),
        _claims(table),
        (
            flows.table_of("After a flow has joined", table),
            _ends(played.runs["hpcc"]),
        ),
        notes,
        flows.pictures(runs, _UNTIL_NS, "joining"),
        flows.csvs(runs),
    )


def _ends(run: Shares) -> Grid:
    """Each flow's last recorded window and rate, and its share of the link over the last 10 ms."""
    last = {flow: (window, rate) for _, flow, window, rate in run.results.get("windows", ())}
    means = run.share[:, -INTERVAL_NS // run.bin_ns - 1 : -1].mean(axis=1)
    rows = [
        (f"flow {flow}", float(window), float(rate) / 1e6, float(means[flow]))
        for flow, (window, rate) in sorted(last.items())
    ]
    return Grid("HPCC's flows at the end", ("flow", "window (B)", "rate (Mb/s)", "share"), rows)


def _claims(table: Table) -> tuple[Claim, ...]:
    def column(name: str, key: str) -> list[float]:
        return [own[key] for own in table[name]]

    def listed(values: list[float], form: str = ".2g") -> str:
        return ", ".join("never" if np.isnan(x) else format(x, form) for x in values) or "no change seen"

    fair, hpcc_fair = column("mpcc", "fair_ms"), column("hpcc", "fair_ms")
    queues, hpcc_queues, long, short = (column(name, "settled") for name in ("mpcc", "hpcc", LONG, SHORT))
    expected = [(count - 1) * THEIR_BDP_BYTES for count in column("hpcc", "flows")]
    return (
        Claim(
            "Under MPCC a joining flow has its fair share at once (5.3)",
            bool(fair) and all(x <= AT_ONCE_MS for x in fair),
            f"within 5 % after {listed(fair)} ms",
        ),
        Claim(
            "Under HPCC it converges to the fair share, too (5.3)",
            bool(hpcc_fair) and not np.isnan(hpcc_fair).any(),
            f"within 5 % after {listed(hpcc_fair)} ms; unfairness {listed(column('hpcc', 'unfairness'))}; "
            f"with the larger increase {listed(column(EAGER, 'unfairness'))}",
        ),
        Claim(
            "MPCC takes the queue back to zero after each join (Fig. 5.4a)",
            bool(queues) and max(queues) < FRAME_BYTES,
            f"means of {listed(queues, '.0f')} B once settled: less than a frame",
        ),
        Claim(
            "HPCC's queue stays at (N − 1) x 4344 B (Fig. 5.4b)",
            all(abs(x / y - 1) <= 0.5 for x, y in zip(hpcc_queues, expected, strict=True)),
            f"means of {listed(hpcc_queues, '.0f')} B against {listed(expected, '.0f')} B",
        ),
        Claim(
            "The flow counter's timeout makes MPCC's queue oscillate, a shorter one more (5.3)",
            None if not short else max(short) > max(long) >= max(queues),
            f"settled means with 20 µs: {listed(short, '.0f')} B; 1 ms: {listed(long, '.0f')} B; counted "
            f"exactly: {listed(queues, '.0f')} B",
        ),
    )
