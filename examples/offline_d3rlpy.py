# SPDX-License-Identifier: GPL-2.0-or-later
"""Learns offline by BC, IQL, CQL and TD3+BC of d3rlpy from three datasets, prints a table of scores.

    python examples/offline_d3rlpy.py --task Incast --steps 1000 --out runs/d3rlpy

Datasets: "dispatcher" is a released policy, "rules" are two that nobody trained, MPCC and equal shares,
"mixed" as many decisions of each of the three. Scores are the leaderboard's; intervals are of trainings,
of a policy that was recorded of its tests. Needs the extra minari and ``pip install --no-deps d3rlpy``
(2.8.1), which pins a Gymnasium that it does not need, and its other requirements.
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import d3rlpy
import minari
import numpy as np
import pandas as pd
import structlog
import torch
from behaviour_cloning import save
from torch import nn

from ns3_env.agents.trajectories import record
from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.eval.output.table import markdown_table
from ns3_env.tasks import TaskSpec, task

#: Policies that are recorded, by dataset.
SOURCES = {
    "dispatcher": ("dispatcher",),
    "rules": ("mpcc", "shares"),
    "mixed": ("dispatcher", "mpcc", "shares"),
}
#: Discount per decision. A decision lasts a base RTT or somewhat more.
GAMMA = 0.95


class Shares:
    """Equal shares: the answer 0 of the action ``fair_share_window``."""

    def predict(self, observation: Any, *_: Any, **__: Any) -> tuple[Any, None]:
        return np.zeros((len(observation), 1), np.float32), None


def dataset(spec: TaskSpec, source: str, episodes: int) -> Any:
    """The dataset of a policy, recorded unless it exists."""
    name = f"{spec.id.lower()}/{source}-{episodes}-v0"
    if name in minari.list_local_datasets():
        return minari.load_dataset(name)
    return record(spec.name, Shares() if source == "shares" else source, episodes, name)


def transitions(datasets: list[Any], random: np.random.Generator) -> d3rlpy.dataset.MDPDataset:
    """Flows of all datasets as d3rlpy has them; of several as many decisions as the first has."""
    flows = [list(one.iterate_episodes()) for one in datasets]
    room = sum(len(flow.rewards) for flow in flows[0])
    chosen = []
    for several in flows:
        left = room / len(flows)
        for i in random.permutation(len(several)):
            if left > 0:
                chosen.append(several[i])
                left -= len(several[i].rewards)
    seen = [np.sign(x.observations[:-1]) * np.log1p(np.abs(x.observations[:-1])) for x in chosen]
    ends = [np.arange(len(x.rewards)) == len(x.rewards) - 1 for x in chosen]
    columns = (seen, [x.actions for x in chosen], [x.rewards for x in chosen], ends)
    return d3rlpy.dataset.MDPDataset(
        *map(np.concatenate, columns), action_space=d3rlpy.ActionSpace.CONTINUOUS, action_size=1
    )


def learners() -> dict[str, Any]:
    """Algorithms with d3rlpy's settings, but for smaller networks and the discount."""
    encoder = d3rlpy.models.encoders.VectorEncoderFactory([64, 64])
    actor = {"actor_encoder_factory": encoder, "critic_encoder_factory": encoder, "gamma": GAMMA}
    return {
        "BC": d3rlpy.algos.BCConfig(batch_size=256, encoder_factory=encoder),
        "IQL": d3rlpy.algos.IQLConfig(value_encoder_factory=encoder, **actor),
        "CQL": d3rlpy.algos.CQLConfig(**actor),
        "TD3+BC": d3rlpy.algos.TD3PlusBCConfig(**actor),
    }


def actor_of(learner: Any) -> nn.Sequential:
    """The layers of a trained policy: of a distribution those of its mean."""
    modules = learner.impl.modules
    policy = getattr(modules, "policy", None) or modules.imitator
    last = getattr(policy, "_fc", None) or policy._mu
    return nn.Sequential(*policy._encoder._layers, last, nn.Tanh())


def train(spec: TaskSpec, recorded: dict[str, Any], steps: int, seeds: int, out: Path) -> None:
    """Writes OUT/LEARNER-DATASET/SEED/policy.safetensors for each that is not there."""
    for name, sources in SOURCES.items():
        for seed in range(1, seeds + 1):
            rows = transitions([recorded[source] for source in sources], np.random.default_rng(seed))
            for learner, config in learners().items():
                file = out / f"{learner}-{name}" / str(seed) / "policy.safetensors"
                if not file.exists():
                    d3rlpy.seed(seed)
                    trained = config.create()
                    trained.fit(
                        rows,
                        n_steps=steps,
                        n_steps_per_epoch=steps,
                        show_progress=False,
                        logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
                    )
                    file.parent.mkdir(parents=True, exist_ok=True)
                    save(actor_of(trained), spec, file, learner)
                    print(f"{learner}, {name}, seed {seed}: {rows.transition_count:,} decisions", flush=True)


def table(scores: pd.DataFrame) -> str:
    """A row for each dataset, a column for each learner."""

    def cell(entry: str) -> str:
        mine = scores[scores["entry"] == entry]
        by_run = mine.groupby("run")["score"].mean()
        low, high = bootstrap_interval((by_run if len(by_run) > 1 else mine["score"]).to_numpy())
        return f"{by_run.mean():.0f} [{low:.0f}, {high:.0f}]"

    rows = [[name, *(cell(f"{learner}-{name}") for learner in learners())] for name in SOURCES]
    recorded = [
        [f"{name} itself", cell(name), *["–"] * (len(learners()) - 1)] for name in ("dispatcher", "mpcc")
    ]
    return "\n".join(markdown_table(["dataset", *learners()], rows + recorded))


def main() -> None:
    """Records, learns, runs the tests."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--task", default="Incast")
    arguments.add_argument("--episodes", type=int, default=20, help="training scenarios of each policy")
    arguments.add_argument("--steps", type=int, default=1_000, help="updates of each learner")
    arguments.add_argument("--seeds", type=int, default=5, help="trainings of each learner and dataset")
    arguments.add_argument("--out", type=Path, default=Path("runs/d3rlpy"), help="folder of what is saved")
    given = arguments.parse_args()
    torch.set_num_threads(1)  # the networks are small
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    out, spec = given.out.absolute(), task(given.task)
    out.mkdir(parents=True, exist_ok=True)
    os.environ["MINARI_DATASETS_PATH"] = str(out / "datasets")

    sources = dict.fromkeys(source for several in SOURCES.values() for source in several)
    recorded = {source: dataset(spec, source, given.episodes) for source in sources}
    train(spec, recorded, given.steps, given.seeds, out)
    entries = [str(out / f"{learner}-{name}") for name in SOURCES for learner in learners()]
    command = [sys.executable, "-m", "eval", "leaderboard", spec.name, "--entries", *entries]
    subprocess.run([*command, "dispatcher", "mpcc", "--out", str(out / "scores")], check=True)
    print(table(pd.read_parquet(out / "scores" / "scores.parquet")))


if __name__ == "__main__":
    main()
