# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: which windows the staged reward pays best (Zhang 2023, section 4.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ns3_env.agents.search.objectives import recorded_reward, with_recordings
from ns3_env.decision.rewards import Staged, make_reward
from ns3_env.eval.metrics import measure
from ns3_env.eval.output.plots import OTHERS
from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.outcome import Measured, Outcome, Verdict, grid
from ns3_env.eval.papers.panels import DASHED, Curve, Drawing, Panel
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.results import Results

#: Flows of the incasts; the thesis trains on 2 to 32.
FLOWS = (2, 8, 32)
#: All flows' windows together, in bandwidth-delay products: 1 fills the link without a queue.
TOTALS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 2.0)
#: A flow's size (section 6.2), and the time that is looked at, at scale 1.
SIZE_BYTES, LIMIT_NS, RATE_BPS = 20_000_000, 2_000_000, 100e9
#: Of links: a 32nd of a BDP is ten packets then. Over 1 µs two packets each have 86% of the most goodput, and
#: three are more than a BDP: which window is paid best would be a matter of whole packets.
DELAY_NS = 4_000
_STAGED, THRESHOLD = make_reward("staged"), Staged().threshold
#: "Fully": so much of the best goodput of any windows, as a share of it.
FULL = 0.9
_COLUMNS = (
    "reward of a decision = reward; by Algorithm 1 at rest = closed_form; "
    "of a flow's life, in thousands = life/1e3; goodput = goodput; queue (kB) = queue_avg_bytes/1e3"
)
#: Flows, and the windows together.
Case = tuple[int, float]


def closed_form(flows: int, total: float) -> float:
    """The reward of a decision under equal windows at rest, Algorithm 1.

    Windows together below a BDP leave no queue: throughput total / N, RTT 1. Beyond it the queue is total - 1
    BDPs, throughput 1 / N, RTT total; above 1.5 it is drained, reward -RTT.
    """
    rtt, throughput = max(1.0, total), min(1.0, total) / flows
    return -rtt if rtt - 1 > THRESHOLD else throughput + 1 / rtt - (throughput - 1 / flows) ** 2


def cases(scale: float) -> dict[Case, Scenario]:
    """N-to-1 of flows that do not end, each with a window of total / N BDPs from its start."""
    limit = max(200_000, round(scale * LIMIT_NS))
    return {
        (flows, total): with_recordings(
            Scenario(
                time_limit_ns=limit,
                topology=Dumbbell(senders=flows, rate_bps=RATE_BPS, delay_ns=DELAY_NS),
                traffic=Incast(size_bytes=round(limit * RATE_BPS / 8e9)),
            ),
            Controller(name="fixed-window", attributes={"WindowBdp": total / flows}),
        )
        for flows in FLOWS
        for total in TOTALS
    }


def paid(results: Results) -> dict[str, float]:
    """Reads what a decision earned, and from it what a flow of 20 MB earns in its life.

    A flow lives for its size over its rate, and decides twice in each RTT (sec. 4.4).
    """
    numbers = measure(results, ("goodput", "queue_avg_bytes"))
    reward = recorded_reward(results, _STAGED)
    flows = len(results["flows"]["src"])
    life_ns = SIZE_BYTES * flows / (numbers["goodput"] * RATE_BPS / 8e9)
    rtt_ns = results["flows"]["base_rtt_ns"][0] + numbers["queue_avg_bytes"] * 8e9 / RATE_BPS
    return {"reward": reward, "life": reward * life_ns / (rtt_ns / 2), **numbers}


@experiment(
    "fdcc-reward",
    "Zhang 2023, section 4.2, Algorithm 1",
    episodes(cases, paid),
    1.0,
    "2 ms that are looked at",
)
def best_paid_windows(data: Data[dict[Case, dict[str, float]]]) -> Outcome:
    """Pay of equal, constant windows under the staged reward, for a decision and over a flow's life."""
    by_flows: dict[int, dict[float, Measured]] = {}
    for (flows, total), numbers in data.runs.items():
        paid_here = {**numbers, "closed_form": closed_form(flows, total)}
        by_flows.setdefault(flows, {})[total] = paid_here
    return Outcome(
        claims=claims(by_flows),
        grids=[grid(f"{n}-to-1", "windows / BDP", _COLUMNS, x.items()) for n, x in by_flows.items()],
        pictures={"fdcc-reward": _draw(by_flows)},
    )


def claims(by_flows: Mapping[int, Mapping[float, Measured]]) -> dict[str, Verdict]:
    """Two readings of what the reward is for: with discounting, and over a flow's life."""
    words = "The reward has flows fully utilise the link (4.2; here: of equal windows the best paid"
    return {
        f"{words} for a decision, have {FULL:.0%} of the most goodput, ours)": _full(by_flows, "reward"),
        f"{words} over a flow's life, have {FULL:.0%} of the most goodput, ours)": _full(by_flows, "life"),
    }


def _full(by_flows: Mapping[int, Mapping[float, Measured]], key: str) -> Verdict:
    holds, evidence = True, []
    for flows, by_total in by_flows.items():
        best = max(by_total, key=lambda total: by_total[total][key] or 0.0)
        goodput = by_total[best]["goodput"] or 0.0
        share = goodput / max(x["goodput"] or 0.0 for x in by_total.values())
        holds = holds and share >= FULL
        evidence.append(f"{flows}-to-1 {best:g} BDP, {share:.0%}")
    return holds, f"windows together, share of the most goodput: {'; '.join(evidence)}"


def _draw(by_flows: Mapping[int, Mapping[float, Measured]]) -> Drawing:
    keys = (("reward", "reward of a decision"), ("life", "sum of rewards over a flow's life"))
    panels = []
    for key, title in keys:
        curves: list[Curve] = []
        for i, (flows, by_total) in enumerate(by_flows.items()):
            totals, look = list(by_total), {"color": OTHERS[i], "marker": "o", "markersize": 3}
            curves.append((totals, [x[key] for x in by_total.values()], f"{flows}-to-1", look))
            if key == "reward":
                exact = [closed_form(flows, total) for total in totals]
                curves.append((totals, exact, None, {**DASHED, "color": OTHERS[i]}))
        axes: dict[str, Any] = {"xlabel": "all windows together / BDP", "ylabel": "reward"}
        axes |= {"ylim": (0.5, 1.6)} if key == "reward" else {"yscale": "log"}
        panels.append(Panel(title, curves, axes))
    return Drawing(panels, height=2.8)
