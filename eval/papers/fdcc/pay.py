# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: values of the staged reward (Zhang 2023, section 4.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping

from ns3_env.agents.search.objectives import recorded_reward, with_recordings
from ns3_env.decision.rewards import Staged, make_reward
from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.output.plots import OTHERS
from ns3_env.eval.papers.declared import Entries, Policies, declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.fdcc.claims import LINKS_NS, THESIS
from ns3_env.eval.papers.fdcc.incasts import title
from ns3_env.eval.papers.outcome import Measured, Outcome, Verdict, grid, nested
from ns3_env.eval.papers.panels import DASHED, Curve, Drawing, Panel, labels, marked
from ns3_env.eval.papers.verdicts import in_every_case, value
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.simulator.results import Results

RATE_BPS, SIZE_BYTES = 100e9, 20_000_000
_REWARD, THRESHOLD = make_reward("staged"), Staged().threshold

#: All flows' windows together, in bandwidth-delay products: 1 fills the link without a queue.
TOTALS = (0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 2.0)
#: "Fully": at least this share of the best goodput of any windows.
FULL = 0.9
#: Numbers by flows, and by the windows together.
ByFlows = Mapping[int, Mapping[float, Measured]]


def closed_form(flows: int, total: float) -> float:
    """The reward of a decision under equal windows at rest, Algorithm 1.

    Windows together below a BDP leave no queue: throughput total / N, RTT 1. Beyond it the queue is total - 1
    BDPs, throughput 1 / N, RTT total; above 1.5 it is drained, reward -RTT.
    """
    rtt, throughput = max(1.0, total), min(1.0, total) / flows
    return -rtt if rtt - 1 > THRESHOLD else throughput + 1 / rtt - (throughput - 1 / flows) ** 2


def windowed(scale: float) -> dict[tuple[int, float], Scenario]:
    """N-to-1 of flows that do not end, each with a window of total / N BDPs from its start."""
    return {
        (flows, total): with_recordings(
            base, Controller(name="fixed-window", attributes={"WindowBdp": total / flows})
        )
        for flows, base in declared("fdcc-reward").cases(scale).items()
        for total in TOTALS
    }


def paid(results: Results) -> dict[str, float]:
    """Reads the reward of a decision, and derives that of a flow of 20 MB over its life.

    A flow lives for its size over its rate, and decides twice in each RTT (sec. 4.4).
    """
    numbers = measure(results, ("goodput", "queue_avg_bytes"))
    reward = recorded_reward(results, _REWARD)
    flows = len(results["flows"]["src"])
    life_ns = SIZE_BYTES * flows / (numbers["goodput"] * RATE_BPS / 8e9)
    rtt_ns = results["flows"]["base_rtt_ns"][0] + numbers["queue_avg_bytes"] * 8e9 / RATE_BPS
    return {"reward": reward, "life": reward * life_ns / (rtt_ns / 2), **numbers}


@experiment("fdcc-reward", paid, cases=windowed)
def best_paid_windows(data: Data[dict[tuple[int, float], dict[str, float]]]) -> Outcome:
    """Pay of equal, constant windows under the staged reward, for a decision and over a flow's life."""
    by_flows = nested({x: {**numbers, "closed_form": closed_form(*x)} for x, numbers in data.runs.items()})
    columns = "reward of a decision = reward; by Algorithm 1 at rest = closed_form; "
    columns += (
        "of a flow's life, in thousands = life/1e3; goodput = goodput; queue (kB) = queue_avg_bytes/1e3"
    )
    words = "The reward has flows fully utilise the link (4.2; here: of equal windows the best paid"
    return Outcome(
        # two readings of the reward's objective: with discounting, and over a flow's life
        claims={
            f"{words} {what}, have {FULL:.0%} of the most goodput, ours)": _full(by_flows, key)
            for what, key in (("for a decision", "reward"), ("over a flow's life", "life"))
        },
        grids=[grid(f"{n}-to-1", "windows / BDP", columns, record) for n, record in by_flows.items()],
        pictures={"fdcc-reward": _draw_windows(by_flows)},
    )


def _full(by_flows: ByFlows, key: str) -> Verdict:
    holds, evidence = True, []
    for flows, by_total in by_flows.items():
        best = max(by_total, key=lambda total: by_total[total][key] or 0.0)
        goodput = by_total[best]["goodput"] or 0.0
        share = goodput / max(x["goodput"] or 0.0 for x in by_total.values())
        holds = holds and share >= FULL
        evidence.append(f"{flows}-to-1 {best:g} BDP, {share:.0%}")
    return holds, f"windows together, share of the most goodput: {'; '.join(evidence)}"


def _draw_windows(by_flows: ByFlows) -> Drawing:
    panels = []
    for key, words, more in (
        ("reward", "reward of a decision", {"ylim": (0.5, 1.6)}),
        ("life", "sum of rewards over a flow's life", {"yscale": "log"}),
    ):
        curves: list[Curve] = []
        for colour, (flows, by_total) in zip(OTHERS, by_flows.items(), strict=False):
            totals, look = list(by_total), {"color": colour, "marker": "o", "markersize": 3}
            curves.append((totals, [x[key] for x in by_total.values()], f"{flows}-to-1", look))
            if key == "reward":
                exact = [closed_form(flows, total) for total in totals]
                curves.append((totals, exact, None, {**DASHED, "color": colour}))
        panels.append(Panel(words, curves, labels("all windows together / BDP", "reward", **more)))
    return Drawing(panels, height=2.8)


#: With the thesis's windows of at least a packet, 1.94 BDPs are in flight: Algorithm 1's reward is -RTT,
#: whatever the agent does. Windows below a packet, as of MPCC and the constant window, have higher rewards.
OUT_OF_REACH = 32, 180
#: The minimum reward of a trained agent, as a share of the better of MPCC and the constant window.
EARNED = 0.98
#: The minimum goodput and the maximum unfair ratio of such an agent over whole lives of flows.
LEAST_GOODPUT, MOST_UNFAIR = 0.8, 0.1
#: Equal windows, together 0.9 BDP; senders know the number of flows.
WINDOW, TOTAL_BDPS = "constant-window", 0.9
#: Flows, and the delay of a link.
Case = tuple[int, int]


class _WithWindow(Entries):
    def each(self, base: Scenario, policies: Policies, parameters: str | None = None) -> dict[str, Scenario]:
        """The scenario under each, and under the constant window."""
        assert isinstance(base.topology, Dumbbell)
        share = TOTAL_BDPS / base.topology.senders
        window = base.under("fixed-window", {"WindowBdp": share})
        return {**super().each(base, policies, parameters), WINDOW: window}


ENTRIES = _WithWindow(controllers={"hpcc": {}, "mpcc": {}}, released=(THESIS,))


def pay(results: Results) -> Measured:
    """Returns the mean reward of a decision of an episode, with goodput; or goodput and unfair ratio of flows
    that were simulated to their end."""
    if "windows" in results:
        return {"reward": recorded_reward(results, _REWARD), **measure(results, ("goodput",))}
    numbers = without_nan(measure(results, ("goodput", "unfair_ratio")))
    return {f"life_{name}": x for name, x in numbers.items()}


@experiment("fdcc-pay", keep=pay, entries=ENTRIES)
def pay_of_a_decision(data: Data[dict[tuple[int, int, str], dict[str, Measured]]]) -> Outcome:
    """Reward of a decision under Algorithm 1: the thesis's agent, controllers and a constant window."""
    runs = {
        (flows, delay_ns): {
            name: {**numbers, **data.runs[flows, delay_ns, "life"][name]} for name, numbers in by_name.items()
        }
        for (flows, delay_ns, part), by_name in data.runs.items()
        if part == "episode"
    }
    table = {(title(flows), f"{delay_ns} ns"): by_name for (flows, delay_ns), by_name in runs.items()}
    return Outcome(
        claims=claims(runs),
        grids=data.declared.grids(table),
        notes=data.notes,
        pictures={"fdcc-pay": _draw_pay(runs)},
    )


def claims(runs: Mapping[Case, Mapping[str, Measured]]) -> dict[str, Verdict]:
    """Judges whether the agent has learned its reward; the thresholds are ours."""
    agents = {
        f"{title(flows)}, {delay_ns} ns": by_name
        for (flows, delay_ns), by_name in runs.items()
        if THESIS in by_name and (flows, delay_ns) != OUT_OF_REACH
    }
    shares = {
        case: (by_name[THESIS]["reward"] or 0.0)
        / max(by_name[name]["reward"] or 0.0 for name in ("mpcc", WINDOW))
        for case, by_name in agents.items()
    }
    goodputs, unfair = (
        {case: value(by_name[THESIS], key) for case, by_name in agents.items()}
        for key in ("life_goodput", "life_unfair_ratio")
    )
    return {
        f"The agent earns {EARNED:.0%} of what the better of MPCC and a constant window earns (ours)": (
            in_every_case(shares, lambda x: x >= EARNED, min, "least {:.2g}")
        ),
        f"Of whole lives its goodput is at least {LEAST_GOODPUT:g} (ours)": (
            in_every_case(goodputs, lambda x: x >= LEAST_GOODPUT, min, "least {:.2g}")
        ),
        f"Of whole lives its unfair ratio is at most {MOST_UNFAIR:g} (ours)": (
            in_every_case(unfair, lambda x: x <= MOST_UNFAIR, max, "most {:.2g}")
        ),
    }


def _draw_pay(runs: Mapping[Case, Mapping[str, Measured]]) -> Drawing:
    """A panel for each length of links."""
    panels = []
    for delay_ns in LINKS_NS.values():
        by_flows = {flows: by_name for (flows, delay), by_name in runs.items() if delay == delay_ns}
        names = next(iter(by_flows.values()))
        rewards = {name: [by_name[name]["reward"] for by_name in by_flows.values()] for name in names}
        flows = list(by_flows)
        axes = labels("flows", "reward of a decision", xscale="log", xticks=flows, xticklabels=flows)
        curves = marked(flows, rewards)
        panels.append(Panel(f"links of {delay_ns} ns", curves, axes, more=lambda axes: axes.minorticks_off()))
    return Drawing(panels, height=2.8)
