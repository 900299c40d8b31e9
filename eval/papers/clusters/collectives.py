# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: an all-to-all over rails alone (Wang 2024); controllers and only PFC (Khan 2022)."""

from __future__ import annotations

from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, nested
from ns3_env.eval.papers.runs import finished_ns
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow

WHOLE, TURNS, OVERLAP = "any to any", "rails, one phase after the other", "rails, phases overlap"
_NODES, _GPUS = 8, 8


def in_turn(size_bytes: int) -> FlowList:
    """Sends all of a node's data to its GPU of the receiver's place, and from there, once it has all, on."""
    part = round(size_bytes / _GPUS)

    def within(node: int, place: int) -> list[str]:
        return [f"{node} {other} {place}" for other in range(_GPUS) if other != place]

    def gpu(node: int, place: int) -> int:
        return node * _GPUS + place

    every = [(node, place) for node in range(_NODES) for place in range(_GPUS)]
    flows = [
        Flow(src=gpu(node, place), dst=gpu(node, other), size_bytes=part, name=f"{node} {place} {other}")
        for node, place in every
        for other in range(_GPUS)
        if other != place
    ]
    flows += [
        Flow(src=gpu(node, place), dst=gpu(other, place), size_bytes=part, after=within(node, place))
        for node, place in every
        for other in range(_NODES)
        if other != node
    ]
    return FlowList(flows=flows)


@experiment("rail-only", finished_ns)
def exchange(data: Data[dict[tuple[str, str], float]]) -> Outcome:
    """An all-to-all of 64 GPUs over rails alone, and over a fabric that reaches all from all."""
    times = nested(data.runs)
    turns, overlap = ([100 * (x[how] / x[WHOLE] - 1) for x in times.values()] for how in (TURNS, OVERLAP))
    values = {f"{name} turns": x for name, x in zip(times, turns, strict=True)}
    values |= {f"{name} overlap": x for name, x in zip(times, overlap, strict=True)}
    return Outcome(
        rows=data.declared.compare(values),
        claims={
            "Forwarding within nodes takes an all-to-all 8.2 to 11.2 % longer (abstract; here: 5 to 15 %, "
            "one phase after the other, as it is reckoned)": (
                all(5 <= x <= 15 for x in turns),
                f"{listed(turns, '.1f')} %; where phases overlap {listed(overlap, '.1f')} %",
            )
        },
    )


#: Only PFC.
ALONE = "PFC alone"
#: "Little impact".
_LITTLE = 0.1


@experiment("roce-training", finished_ns)
def controllers(data: Data[dict[tuple[str, str], float]]) -> Outcome:
    """Collectives and a training step of 64 GPUs under four controllers, and under PFC alone."""
    times = nested(data.runs)
    ratios = {
        what: {name: time / alone[ALONE] for name, time in alone.items() if name != ALONE}
        for what, alone in times.items()
    }
    claim = "Controllers have little impact on the time of {} (abstract; here: within 10 % of PFC alone)"
    rows = [((what, times[what][ALONE] / 1e6), record) for what, record in ratios.items()]
    return Outcome(
        claims={
            claim.format(what): (
                all(abs(x - 1) <= _LITTLE for x in record.values()),
                " · ".join(f"{name} {x:.2f} times" for name, x in record.items()),
            )
            for what, record in ratios.items()
        },
        grids=data.declared.grids(rows),
    )
