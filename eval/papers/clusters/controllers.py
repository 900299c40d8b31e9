# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: collectives and a training step under controllers, and with only PFC (Khan 2022)."""

from __future__ import annotations

from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, nested
from ns3_env.eval.papers.runs import finished_ns

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
