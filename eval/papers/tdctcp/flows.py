# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: completion times of flows of four sizes, 15-to-1 (Liang 2018, Figs. 4-3, 4-4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from ns3_env.eval.metrics import without_nan
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.outcome import Claim, Grid, Outcome, Row
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.tdctcp import fat_tree
from ns3_env.eval.papers.tdctcp.fat_tree import CONTROLLERS, DCTCP, SIZES, TDCTCP
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats

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


def cases(scale: float) -> dict[str, Callable[[int], Scenario]]:
    """60 flows under DCTCP, T-DCTCP and CUBIC; ``scale`` of sizes and seeds."""

    def mixed(controller: str, seed: int) -> Scenario:
        flows = fat_tree.four_sizes(seed, scale)
        return fat_tree.scenario(fat_tree.PUBLISHED, flows, _LIMIT_S, seed).under(controller)

    return {name: partial(mixed, controller) for name, controller in CONTROLLERS.items()}


@experiment(
    "tdctcp-flows",
    "15 servers to one client at 100 Mb/s: completion times of 2 kB to 10 MB",
    "Liang 2018, Figs. 4-3, 4-4",
    1.0,
    "sizes, and of five seeds",
    repeated(cases, Seen, _SEEDS),
)
def outcome(played: Played[dict[str, list[Seen]]]) -> Outcome:
    """Completion times by size."""
    runs = played.runs
    sizes = np.concatenate([own.flows["size_bytes"] for own in runs[DCTCP]])
    fcts = {name: np.concatenate([own.fcts_ms for own in several]) for name, several in runs.items()}
    means = {name: fat_tree.means_by_size(times) for name, times in fcts.items()}
    tails = {
        name: [float(np.nanpercentile(own, 99)) for own in fat_tree.by_size(times)]
        for name, times in fcts.items()
    }
    medians = {name: float(np.nanmedian(times)) for name, times in fcts.items()}
    pairs = zip(SIZES, means[TDCTCP], means[DCTCP], strict=True)
    ratios = {size: ours / other for size, ours, other in pairs}
    rows = [
        *(
            Row(f"median of all flows, {name}", "ms", median, medians[name], "Fig. 4-3")
            for name, median in THEIR_MEDIANS.items()
        ),
        *(
            Row(f"{size}: T-DCTCP's mean over DCTCP's", "", ratio, ratios[size], "Fig. 4-4")
            for size, ratio in THEIR_RATIOS.items()
        ),
    ]
    table = [
        (name, medians[name], *(x for pair in zip(means[name], tails[name], strict=True) for x in pair))
        for name in CONTROLLERS
    ]
    heads = [head for size in SIZES for head in (f"{size}, mean", "p99")]
    series = [
        (name, round(float(size)), "" if np.isnan(time) else f"{time:.6g}")
        for name, times in fcts.items()
        for size, time in zip(sizes, times, strict=True)
    ]
    notes = (
        f"One flow of each size from each of 15 servers, started within a millisecond, {len(runs[DCTCP])} "
        "seeds; links, queues and ACKs as the first setting of tdctcp-incast. The thesis does not say how "
        "its flows arrive, how many there were, or how long the smallest one took; its figures have no "
        "numbers but those in the text.",
        "Ratios: the thesis's percentages are of T-DCTCP's value (its 37.7 % is 1164 over 846), and so is "
        "taken what it says of sizes: 1.4 times less is 1 / 2.4.",
    )
    return Outcome(
        rows,
        _claims(ratios, fcts, medians),
        (Grid("Completion times (ms)", ("law", "median of all", *heads), table),),
        notes,
        {"tdctcp-fig-4-3-4-4": fat_tree.draw_completions(fcts, means)},
        {"flows": csv_text(("law", "size_bytes", "fct_ms"), series)},
        {"flows": {name: without_nan(dict(zip(SIZES, own, strict=True))) for name, own in means.items()}},
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
            f"the last after {np.nanmax(fcts[TDCTCP]) / 1e3:.1f} s; DCTCP {np.nanmax(fcts[DCTCP]) / 1e3:.1f} "
            "s",
        ),
    )
