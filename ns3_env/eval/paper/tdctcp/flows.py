# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: completion times of flows of four sizes, 15-to-1 (Liang 2018, Figs. 4-3, 4-4)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Progress, Row
from ns3_env.eval.paper.smcc.network import seeds
from ns3_env.eval.paper.smcc.seen import grouped, play_with
from ns3_env.eval.paper.tdctcp.fat_tree import (
    DCTCP,
    LAWS,
    PUBLISHED,
    RECEIVER,
    SENDERS,
    SPREAD_NS,
    TDCTCP,
    scenario,
)
from ns3_env.eval.paper.tdctcp.figures import completions
from ns3_env.eval.paper.tdctcp.seen import Floats, seen
from ns3_env.eval.plots.table import csv_text
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow
from ns3_env.simulator import Simulator

SIZES: Mapping[str, int] = {"2 kB": 2_000, "50 kB": 50_000, "1 MB": 1_000_000, "10 MB": 10_000_000}
#: T-DCTCP's completion times over DCTCP's: "drops by about 1.4X", 31 %, 48.2 %, of T-DCTCP's, as all of the
#: thesis's percentages; DCTCP's 10 MB "8.6 % lower", taken of T-DCTCP's too.
THEIR_RATIOS: Mapping[str, float] = {
    "2 kB": 1 / 2.4,
    "50 kB": 1 / 1.31,
    "1 MB": 1 / 1.482,
    "10 MB": 1 / (1 - 0.086),
}
#: Of all flows (4.2), ms.
THEIR_MEDIANS = {DCTCP: 1000.0, TDCTCP: 800.0}
_SEEDS, _LIMIT_S = 5, 60.0
_SHOWN = (DCTCP, TDCTCP)


def sizes_at(scale: float) -> dict[str, int]:
    """The thesis's sizes times ``scale``, by what they stand for; no larger than the thesis's."""
    return {name: round(min(scale, 1.0) * size) for name, size in SIZES.items()}


def traffic(seed: int, scale: float, spread_ns: int = SPREAD_NS) -> FlowList:
    """A flow of each size from each server, started at random within a time."""
    random = np.random.default_rng(seed)
    flows = [
        Flow(src=server, dst=RECEIVER, size_bytes=max(1, size), start_ns=int(random.integers(spread_ns)))
        for server in SENDERS
        for size in sizes_at(scale).values()
    ]
    return FlowList(flows=flows)


def means_by_size(fcts_ms: Floats) -> list[float]:
    """Means of completed flows, in the order of the sizes; flows as :func:`traffic` lists them."""
    return [float(np.nanmean(fcts_ms[i :: len(SIZES)])) for i in range(len(SIZES))]


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """60 flows under DCTCP, T-DCTCP and CUBIC; ``scale`` of sizes and seeds."""
    chosen = seeds(scale, _SEEDS)
    played = {
        (law, seed): scenario(own, PUBLISHED, traffic(seed, scale), _LIMIT_S, seed)
        for law, own in LAWS.items()
        for seed in chosen
    }
    found = play_with(simulator, played, seen, progress)
    runs = grouped(found, lambda case: case[0])
    sizes = np.concatenate([own.sizes_bytes for own in runs[DCTCP]])
    fcts = {law: np.concatenate([own.fcts_ms for own in several]) for law, several in runs.items()}
    means = {law: means_by_size(times) for law, times in fcts.items()}
    tails = {
        law: [float(np.nanpercentile(times[i :: len(SIZES)], 99)) for i in range(len(SIZES))]
        for law, times in fcts.items()
    }
    medians = {law: float(np.nanmedian(times)) for law, times in fcts.items()}
    ratios = {
        size: ours / other for size, ours, other in zip(SIZES, means[TDCTCP], means[DCTCP], strict=True)
    }
    rows = [
        *(
            Row(f"median of all flows, {law}", "ms", THEIR_MEDIANS[law], medians[law], "Fig. 4-3")
            for law in _SHOWN
        ),
        *(
            Row(
                f"{size}: T-DCTCP's mean over DCTCP's",
                "",
                THEIR_RATIOS[size],
                float(ratios[size]),
                "Fig. 4-4",
            )
            for size in SIZES
        ),
    ]
    table: list[tuple[str | float, ...]] = [
        (law, medians[law], *(x for pair in zip(means[law], tails[law], strict=True) for x in pair))
        for law in LAWS
    ]
    heads = [head for size in SIZES for head in (f"{size}, mean", "p99")]
    notes = (
        f"One flow of each size from each of 15 servers, started within a millisecond, {len(chosen)} seeds; "
        "links, queues and ACKs as the first setting of tdctcp-incast. The thesis does not say how its "
        "flows arrive, how many there were, or how long the smallest one took; its figures have no numbers "
        "but those in the text.",
        "Ratios: the thesis's percentages are of T-DCTCP's value (its 37.7 % is 1164 over 846), and so is "
        "taken what it says of sizes: 1.4 times less is 1 / 2.4.",
    )
    return Outcome(
        rows,
        _claims(ratios, fcts, medians),
        (Grid("Completion times (ms)", ("law", "median of all", *heads), table),),
        notes,
        {"tdctcp-fig-4-3-4-4": completions(fcts, means, list(SIZES))},
        {"flows": _csv(fcts, sizes)},
        {"flows": {law: without_nan(dict(zip(SIZES, own, strict=True))) for law, own in means.items()}},
    )


def _claims(
    ratios: Mapping[str, float], fcts: Mapping[str, Floats], medians: Mapping[str, float]
) -> tuple[Claim, ...]:
    return (
        Claim(
            "Flows of 50 kB and 1 MB complete earlier under T-DCTCP (4.2, Fig. 4-4; here: on average)",
            all(ratios[size] < 1 for size in ("50 kB", "1 MB")),
            ", ".join(f"{size}: {ratios[size]:.2f} of DCTCP's time" for size in ("50 kB", "1 MB")),
        ),
        Claim(
            "Flows of 2 kB gain most (4.2, Fig. 4-4)",
            ratios["2 kB"] == min(ratios.values()) < 1,
            f"{ratios['2 kB']:.2f} of DCTCP's time: two packets, which wait in the queue that others' first "
            "windows make",
        ),
        Claim(
            "Flows of 10 MB complete a little later (4.2: 8.6 %; here: up to 20 %)",
            1 < ratios["10 MB"] <= 1.2,
            f"{ratios['10 MB']:.3f} of DCTCP's time",
        ),
        Claim(
            "Half of all flows are complete earlier (4.2, Fig. 4-3: 800 against 1000 ms)",
            None,
            f"{medians[TDCTCP]:.0f} against {medians[DCTCP]:.0f} ms, in the gap between flows of 50 kB and "
            "of 1 MB: half of the flows here are of 50 kB and less, and what the thesis's mix was is not "
            "said",
        ),
        Claim(
            "No flow starves (5: no starvation; here: every flow is complete within a minute)",
            bool(np.isfinite(fcts[TDCTCP]).all()),
            f"the last after {np.nanmax(fcts[TDCTCP]) / 1e3:.1f} s; DCTCP "
            f"{np.nanmax(fcts[DCTCP]) / 1e3:.1f} s",
        ),
    )


def _csv(fcts: Mapping[str, Floats], sizes: Floats) -> str:
    rows = [
        (law, round(float(size)), "" if np.isnan(time) else f"{time:.6g}")
        for law, times in fcts.items()
        for size, time in zip(sizes, times, strict=True)
    ]
    return csv_text(("law", "size_bytes", "fct_ms"), rows)


EXPERIMENT = Experiment(
    "tdctcp-flows",
    "15 servers to one client at 100 Mb/s: completion times of 2 kB to 10 MB",
    "Liang 2018, Figs. 4-3, 4-4",
    1.0,
    "sizes, and of five seeds",
    run,
)
