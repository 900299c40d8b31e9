# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: what a decision earns under the thesis's reward (Zhang 2023, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ns3_env.agents.search.objectives import recorded_reward
from ns3_env.decision.rewards import make_reward
from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.experiment import (
    Data,
    Entries,
    Playable,
    Setup,
    experiment,
    in_parallel,
    with_seed_of,
)
from ns3_env.eval.papers.fdcc.claims import LINKS_NS, THESIS
from ns3_env.eval.papers.fdcc.incasts import SWITCH, incast, title
from ns3_env.eval.papers.fdcc.reward import RATE_BPS
from ns3_env.eval.papers.outcome import Measured, Outcome, Verdict, grid
from ns3_env.eval.papers.panels import Drawing, Panel
from ns3_env.eval.papers.verdicts import value
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.results import Results

#: The stages of the thesis's curriculum, and lengths of links.
FLOWS, DELAYS_NS = (2, 4, 8, 16, 32), tuple(LINKS_NS.values())
#: Episodes of the agent's own curriculum (curricula/incast_zhang2023_short.yaml) with other seeds.
LIMIT_NS, SIZE_BYTES, SPREAD_NS, FIRST_SEED = 2_000_000, 20_000_000, 1_000_000, 201
#: With the thesis's windows of at least a packet these flows have 1.94 BDPs in flight: Algorithm 1 pays -RTT,
#: whatever the agent does. Windows of a share of a packet, as MPCC and the constant one have, earn more.
OUT_OF_REACH = 32, 180
#: Of the pay of the better of MPCC and the constant window, what an agent that has learned earns at least.
EARNED = 0.98
#: Of whole lives, the least goodput and the largest unfair ratio that such an agent has.
LEAST_GOODPUT, MOST_UNFAIR = 0.8, 0.1
ENTRIES = Entries({"hpcc": {}, "mpcc": {}}, released=(THESIS,))
#: Equal windows, together 0.9 BDP; they are told how many flows there are.
WINDOW, TOTAL_BDPS = "constant-window", 0.9
_REWARD = make_reward("staged")
_COLUMNS = (
    "reward of a decision = reward; goodput = goodput; "
    "whole lives: goodput = life_goodput; unfair ratio = life_unfair_ratio"
)
#: Flows, and the delay of a link.
Case = tuple[int, int]


def episode(flows: int, delay_ns: int, scale: float) -> Scenario:
    """Returns an episode of ``scale`` x 2 ms, with the recordings that the reward is read from."""
    limit_ns = round(scale * LIMIT_NS)
    return Scenario(
        seed=FIRST_SEED,
        time_limit_ns=limit_ns,
        topology=Dumbbell(senders=flows, rate_bps=RATE_BPS, delay_ns=delay_ns),
        traffic=Incast(size_bytes=SIZE_BYTES, spread_ns=round(scale * SPREAD_NS)),
        switch=SWITCH,
        record=Record(queue_series_ns=max(200, limit_ns // 20_000), windows=True),
    )


def pay(results: Results) -> Measured:
    """Returns the mean reward of a decision, with goodput."""
    return {"reward": recorded_reward(results, _REWARD), **measure(results, ("goodput",))}


def life(results: Results) -> Measured:
    """Returns goodput and unfair ratio of flows that were played to their end."""
    numbers = without_nan(measure(results, ("goodput", "unfair_ratio")))
    return {f"life_{name}": x for name, x in numbers.items()}


def play(setup: Setup) -> Data[dict[Case, dict[str, Measured]]]:
    """Simulates each case under every entry and under the constant window, cut and to the end."""
    policies, notes = ENTRIES.present(setup.policies)
    scenarios: dict[tuple[int, int, str], Playable] = {}
    lives: dict[tuple[int, int, str], Playable] = {}
    for flows in FLOWS:
        for delay_ns in DELAYS_NS:
            topology = Dumbbell(senders=flows, rate_bps=RATE_BPS, delay_ns=delay_ns)
            whole = incast(topology, flows, setup.scale, FIRST_SEED)
            for base, runs in ((episode(flows, delay_ns, setup.scale), scenarios), (whole, lives)):
                window = base.under("fixed-window", {"WindowBdp": TOTAL_BDPS / flows})
                for name, scenario in {**ENTRIES.each(base, policies), WINDOW: window}.items():
                    runs[flows, delay_ns, name] = with_seed_of(setup, scenario)
    pays, whole_lives = in_parallel(scenarios, pay, setup.progress), in_parallel(lives, life, setup.progress)
    table: dict[Case, dict[str, Measured]] = {}
    for (flows, delay_ns, name), numbers in pays.items():
        both = {**numbers, **whole_lives[flows, delay_ns, name]}
        table.setdefault((flows, delay_ns), {})[name] = both
    return Data(table, setup.scale, setup.progress, notes, frozenset(setup.policies))


@experiment(
    "fdcc-pay",
    "Zhang 2023, Algorithm 1",
    play,
    1.0,
    "2 ms of an episode, and 20 MB of each whole flow",
    entries=ENTRIES,
)
def pay_of_a_decision(data: Data[dict[Case, dict[str, Measured]]]) -> Outcome:
    """Reward of a decision under Algorithm 1: the thesis's agent, controllers and a constant window."""
    rows = [
        ((title(flows), f"{delay_ns} ns", name), numbers)
        for (flows, delay_ns), by_name in data.runs.items()
        for name, numbers in by_name.items()
    ]
    return Outcome(
        claims=claims(data.runs),
        grids=[
            grid("Episodes of 2 ms, and whole lives of 20 MB", ("flows", "links", "under"), _COLUMNS, rows)
        ],
        notes=data.notes,
        pictures={"fdcc-pay": draw(data.runs)},
    )


def claims(runs: Mapping[Case, Mapping[str, Measured]]) -> dict[str, Verdict]:
    """Judges whether the agent has learned what it is paid for; the bars are ours."""
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
    goodputs = {case: value(by_name[THESIS], "life_goodput") for case, by_name in agents.items()}
    unfair = {case: value(by_name[THESIS], "life_unfair_ratio") for case, by_name in agents.items()}
    return {
        f"The agent earns {EARNED:.0%} of what the better of MPCC and a constant window earns (ours)": _bound(
            shares, lambda x: x >= EARNED, min, "least"
        ),
        f"Of whole lives its goodput is at least {LEAST_GOODPUT:g} (ours)": _bound(
            goodputs, lambda x: x >= LEAST_GOODPUT, min, "least"
        ),
        f"Of whole lives its unfair ratio is at most {MOST_UNFAIR:g} (ours)": _bound(
            unfair, lambda x: x <= MOST_UNFAIR, max, "most"
        ),
    }


def _bound(numbers: Mapping[str, float], meets: Callable[[float], bool], extreme: Any, words: str) -> Verdict:
    """Judges numbers by case: all have to meet a bound. NaN meets none."""
    if not numbers:
        return None, ""
    met = sum(map(meets, numbers.values()))
    worst = extreme(numbers, key=lambda case: numbers[case])
    return met == len(numbers), f"in {met} of {len(numbers)} cases; {words} {numbers[worst]:.2g} ({worst})"


def draw(runs: Mapping[Case, Mapping[str, Measured]]) -> Drawing:
    """A panel for each length of links."""
    panels = []
    for delay_ns in DELAYS_NS:
        by_flows = {flows: by_name for (flows, delay), by_name in runs.items() if delay == delay_ns}
        looks = styles(name for by_name in by_flows.values() for name in by_name)
        curves = [
            (list(by_flows), [by_name[name]["reward"] for by_name in by_flows.values()], name, look.of_points)
            for name, look in looks.items()
        ]
        axes = {"xlabel": "flows", "ylabel": "reward of a decision", "xscale": "log"}
        panels.append(Panel(f"links of {delay_ns} ns", curves, axes))
    return Drawing(panels, height=2.8)
