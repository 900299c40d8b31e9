# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: T-DCTCP by alpha_factor, T_low and T_high (Liang 2018, sec. 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, Verdict, column
from ns3_env.eval.papers.panels import Drawing, Panel
from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.tdctcp.incast import AS_PUBLISHED, NOTHING_MARKED, RATE_BPS, SECONDS, numbers
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Scenario

SETTINGS = (AS_PUBLISHED, NOTHING_MARKED)
#: "Stops rising", in shares of the throughput with the thesis's value.
_ALIKE = 0.01


@dataclass(frozen=True)
class Sweep:
    """Values of one attribute, ascending; the thesis gives only the chosen value.

    Attributes:
        attribute: attribute of the controller.
        values: values of the attribute, by the number on the axis.
        chosen: the thesis's choice, among the numbers.
        axis: label of the axis, with the unit.
        settings: names of the settings that are simulated.
    """

    attribute: str
    values: Mapping[float, float | str]
    chosen: float
    axis: str
    settings: Sequence[str] = SETTINGS


def _milliseconds(*values: float) -> dict[float, float | str]:
    return {value: f"{value:g}ms" for value in values}


#: alpha_factor has an effect only with marks.
ALPHA = Sweep(
    "AlphaFactor", {2.0**-x: 2.0**-x for x in range(6, -1, -1)}, 1 / 8, "alpha_factor", (AS_PUBLISHED,)
)
LOW = Sweep("LowThreshold", _milliseconds(1, 2, 3, 5, 8, 15, 30), 5, "T_low (ms)")
HIGH = Sweep("HighThreshold", _milliseconds(10, 20, 35, 50, 70, 100, 150), 50, "T_high (ms)")
#: Sweeps by the thesis's figure.
SWEEPS: Mapping[str, Sweep] = {"3-3": ALPHA, "3-4": LOW, "3-5": HIGH}
#: Figure, setting, number on the axis.
_Case = tuple[str, str, float]
#: Numbers by value.
Swept = Mapping[float, Mapping[str, float]]


def cases(scale: float) -> dict[_Case, Scenario]:
    """15 long-lived flows to one host with each value; ``scale`` of the time."""
    bases = declared("tdctcp-sweeps").cases(scale)
    return {
        (figure, setting, number): bases[setting].under("tdctcp", {sweep.attribute: value})
        for figure, sweep in SWEEPS.items()
        for setting in sweep.settings
        for number, value in sweep.values.items()
    }


@experiment("tdctcp-sweeps", Run, cases=cases)
def sweeps(data: Data[dict[_Case, Run]]) -> Outcome:
    """T-DCTCP by alpha_factor, T_low and T_high: throughput and tail RTT of 15 servers to one client."""
    table: dict[tuple[str, str], dict[float, Mapping[str, float]]] = {}
    for (figure, setting, number), run in data.runs.items():
        table.setdefault((figure, setting), {})[number] = numbers(run)
    by_figure = (
        {(setting, x): row for setting in sweep.settings for x, row in table[figure, setting].items()}
        for figure, sweep in SWEEPS.items()
    )
    return Outcome(
        claims=claims(table),
        grids=data.declared.grids(*by_figure),
        notes=(f"Long-lived flows, {data.scale * SECONDS:g} s.",),
        pictures={"tdctcp-fig-3-3-to-3-5": _draw(table)},
    )


def _rises(numbers: Mapping[float, float]) -> bool:
    values = list(numbers.values())
    return all(before < after for before, after in pairwise(values))


def peaks(numbers: Mapping[float, float], chosen: float, beyond: Callable[[float], bool]) -> bool:
    """Returns whether each number is above the one before it up to the chosen value's, and all after it, over
    that one, satisfy ``beyond``."""
    after = (x / numbers[chosen] for value, x in numbers.items() if value > chosen)
    return all(map(beyond, after)) and _rises({v: x for v, x in numbers.items() if v <= chosen})


def claims(table: Mapping[tuple[str, str], Swept]) -> dict[str, Verdict]:
    """Verdicts on sec. 3.4; one on throughput is true if it is in one of the settings."""
    tails = column(table["3-3", AS_PUBLISHED], "rtt_p99_ms")

    def throughput(figure: str, beyond: Callable[[float], bool]) -> Verdict:
        sweep = SWEEPS[figure]
        several = {setting: column(table[figure, setting], "throughput_mbps") for setting in sweep.settings}
        evidence = "; ".join(
            f"{setting}: {_once_if_equal(numbers.values())} Mb/s" for setting, numbers in several.items()
        )
        return any(peaks(numbers, sweep.chosen, beyond) for numbers in several.values()), evidence

    def stops(x: float) -> bool:
        return x <= 1 + _ALIKE

    return {
        "Throughput rises with alpha_factor up to 1/8 and not beyond (3.4, Fig. 3-3; here: by no more than "
        "1 % beyond)": throughput("3-3", stops),
        "The 99 % RTT falls with alpha_factor down to 1/16, and no more at 1/32 (3.4, Fig. 3-3)": (
            _rises({x: tail for x, tail in tails.items() if x >= 1 / 16}) and tails[1 / 32] >= tails[1 / 16],
            f"{listed(tails.values(), '.2f')} ms",
        ),
        "Throughput rises with T_low up to 5 ms and drops beyond (3.4, Fig. 3-4)": throughput(
            "3-4", lambda x: x < 1
        ),
        "Throughput rises with T_high up to 50 ms and not beyond (3.4, Fig. 3-5; here: by no more than 1 % "
        "beyond)": throughput("3-5", stops),
    }


def _once_if_equal(values: Iterable[float]) -> str:
    """Lists numbers; all the same are "always 97.20"."""
    texts = listed(values, ".2f").split(", ")
    return f"always {texts[0]}" if len(set(texts)) == 1 else ", ".join(texts)


def _draw(table: Mapping[tuple[str, str], Swept]) -> Drawing:
    """Throughput by each attribute, and the tail RTT by alpha_factor; dashed: the thesis's values."""
    looks = styles(SETTINGS)

    def panel(figure: str, key: str, what: str, most: float | None) -> Panel:
        sweep = SWEEPS[figure]
        curves = []
        for setting in sweep.settings:
            numbers = column(table[figure, setting], key)
            curves.append((list(numbers), list(numbers.values()), setting, looks[setting].of_points))
        axes = {"xlabel": sweep.axis, "ylabel": what, "xscale": "log", "ylim": (0, most)}
        return Panel(
            f"{what.partition(' (')[0]} (Fig. {figure})",
            curves,
            axes,
            more=lambda axes: axes.axvline(sweep.chosen, color="#000000", linewidth=0.8, linestyle="--"),
        )

    link = RATE_BPS / 1e6
    all_panels = (
        panel("3-3", "throughput_mbps", "throughput (Mb/s)", link),
        panel("3-3", "rtt_p99_ms", "99 % RTT (ms)", None),
        panel("3-4", "throughput_mbps", "throughput (Mb/s)", link),
        panel("3-5", "throughput_mbps", "throughput (Mb/s)", link),
    )
    return Drawing(all_panels, height=2.5, legend=2)
