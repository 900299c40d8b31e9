# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: collectives and a training step under controllers, and with only PFC (Khan 2022)."""

from __future__ import annotations

from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.outcome import Outcome, grid
from ns3_env.eval.papers.runs import finished_ns
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Cluster
from ns3_env.scenario.topology.cluster import ScaleOut
from ns3_env.scenario.traffic import Collective, Traffic, Training
from ns3_env.scenario.traffic.training.training import Model, Parallel

#: Only PFC: flows at line rate, at most a BDP in flight.
ALONE = "PFC alone"
CONTROLLERS = {ALONE: "fixed-window", "DCQCN": "dcqcn", "DCTCP": "dctcp", "TIMELY": "timely", "HPCC": "hpcc"}
ALL_REDUCE, ALL_TO_ALL, STEP = "an all-reduce", "an all-to-all", "a training step"
_NODES, _GPUS, _SIZE_BYTES = 8, 8, 64_000_000
#: "Little impact".
_LITTLE = 0.1


def traffics(scale: float) -> dict[str, Traffic]:
    """All-reduce by levels, exchange, and a step of a model with experts, of 64 GPUs; ``scale`` of bytes."""
    size = round(scale * _SIZE_BYTES)
    model = Model(parameters=7e9, layers=8, hidden=4096, sequence=2048, experts=8, top_k=2)
    return {
        ALL_REDUCE: Collective(algorithm="hierarchical_all_reduce", size_bytes=size, node_ranks=_GPUS),
        ALL_TO_ALL: Collective(algorithm="all_to_all", size_bytes=size),
        STEP: Training(
            model=model,
            parallel=Parallel(tp=8, dp=8, ep=8),
            micro_batches=2,
            layers_together=4,
            scale=scale / 20,
        ),
    }


def cases(scale: float) -> dict[tuple[str, str], Scenario]:
    """Each of the traffics under each controller, with PFC; a leaf has all cards of a node."""
    cluster = Cluster(
        nodes=_NODES,
        gpus_per_node=_GPUS,
        scale_out=ScaleOut(spines=8, nodes_per_group=_NODES, rail_optimised=False),
    )
    return {
        (what, name): Scenario(time_limit_ns=2_000_000_000, topology=cluster, traffic=traffic).under(
            controller
        )
        for what, traffic in traffics(scale).items()
        for name, controller in CONTROLLERS.items()
    }


@experiment("roce-training", "Khan 2022, abstract", episodes(cases, finished_ns), 0.25, "64 MB of a rank")
def controllers(data: Data[dict[tuple[str, str], float]]) -> Outcome:
    """Collectives and a training step of 64 GPUs under four controllers, and under PFC alone."""
    times = data.runs
    ratios = {
        what: {name: times[what, name] / times[what, ALONE] for name in CONTROLLERS if name != ALONE}
        for what in (ALL_REDUCE, ALL_TO_ALL, STEP)
    }
    claim = "Controllers have little impact on the time of {} (abstract; here: within 10 % of PFC alone)"
    columns = "; ".join(f"{name} = {name}" for name in CONTROLLERS if name != ALONE)
    rows = (((what, times[what, ALONE] / 1e6), record) for what, record in ratios.items())
    return Outcome(
        claims={
            claim.format(what): (
                all(abs(x - 1) <= _LITTLE for x in record.values()),
                " · ".join(f"{name} {x:.2f} times" for name, x in record.items()),
            )
            for what, record in ratios.items()
        },
        grids=(grid("Times over those under PFC alone", ("traffic", f"{ALONE} (ms)"), columns, rows),),
    )
