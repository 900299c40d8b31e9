# SPDX-License-Identifier: GPL-2.0-or-later
"""Clones MPCC on a task: records it, fits a network, runs that inside the simulator.

    python examples/behaviour_cloning.py --task LongShort --episodes 16 --out runs/clone

The dataset (Minari's, ``pip install 'ns3-env[minari]'``) has training scenarios; the table is of the task's
test scenarios. MPCC sees every hop and decides with each ACK; its clone sees the task's fields.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import minari
import numpy as np
import torch
from torch import Tensor, nn

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.training.policy_tensors import Exported, mlp
from ns3_env.agents.training.trainer import policy_file
from ns3_env.agents.trajectories import record
from ns3_env.policies.file import write_policy
from ns3_env.policies.header import Training
from ns3_env.scenario import Controller
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.tasks import TESTS, TaskSpec, task


def decisions(dataset: Any) -> tuple[Tensor, Tensor]:
    """All observations (n, D), as the policy's file reads them, and actions (n, 1) of a dataset."""
    flows = list(dataset.iterate_episodes())
    seen = np.concatenate([flow.observations[:-1] for flow in flows])
    symlog = np.sign(seen) * np.log1p(np.abs(seen))
    return torch.as_tensor(symlog), torch.as_tensor(np.concatenate([flow.actions for flow in flows]))


def fit(seen: Tensor, done: Tensor, updates: int) -> nn.Sequential:
    """A network whose answers are near the actions."""
    network = nn.Sequential(
        nn.Linear(seen.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1), nn.Tanh()
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, updates)
    for _ in range(updates):
        rows = torch.randint(len(seen), (512,))
        loss = nn.functional.smooth_l1_loss(network(seen[rows]), done[rows], beta=0.1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return network


def save(network: nn.Sequential, spec: TaskSpec, path: Path, agent: str = "clone of MPCC") -> Controller:
    """Writes the policy's file; returns the simulator's controller that runs it."""
    exported = mlp(network, "clone")
    settings = EnvConfig.model_validate(
        {
            "fields": list(spec.fields),
            "action": {"name": spec.action.name, **vars(spec.action)},
            "clock": spec.clock.model_dump(),
            **spec.spared,
        }
    )
    symlog = Exported(exported.network, exported.tensors, transform="symlog")
    write_policy(path, policy_file(symlog, settings, Training(agent=agent)))
    return Controller(name="policy", attributes={"File": str(path.absolute())})


def slowdown(results: dict[str, Any]) -> float:
    """Mean FCT slowdown of an episode's flows; NaN if one was truncated."""
    fct, alone = (np.array(results["flows"][column], float) for column in ("fct_ns", "standalone_ns"))
    return float(np.mean(np.where(fct > 0, fct, np.nan) / alone))


def main() -> None:
    """Records, fits, saves, compares."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--task", default="LongShort")
    arguments.add_argument("--episodes", type=int, default=16, help="training scenarios that are recorded")
    arguments.add_argument("--updates", type=int, default=5_000, help="steps of the regression")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", type=Path, default=Path("runs/clone"), help="folder of what is saved")
    given = arguments.parse_args()
    torch.set_num_threads(1)  # the network is small
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    os.environ["MINARI_DATASETS_PATH"] = str(given.out / "datasets")

    spec = task(given.task)
    dataset_id = f"{spec.id.lower()}/mpcc-{given.episodes}-{given.seed}-v0"
    if dataset_id in minari.list_local_datasets():
        dataset = minari.load_dataset(dataset_id)
    else:
        dataset = record(spec.name, "mpcc", given.episodes, dataset_id, seed=given.seed)
    seen, done = decisions(dataset)
    print(f"{dataset.total_episodes} flows with {len(done)} decisions in {dataset.spec.data_path}")
    network = fit(seen, done, given.updates)
    error = (network(seen) - done).abs().mean().item()
    print(
        f"an action's mean error: {error:.3f}, where an action is {done.abs().mean().item():.3f} on average"
    )

    players = {
        "clone": save(network, spec, given.out / "policy.safetensors"),
        "MPCC": Controller(name="mpcc"),
        "constant window": Controller(name="fixed-window", attributes={"WindowBdp": 1.0}),
    }
    with LocalPool(len(os.sched_getaffinity(0))) as pool:
        began = {
            name: [
                pool.submit(Play(spec.test(number).under(who.name, who.attributes), slowdown))
                for number in range(TESTS)
            ]
            for name, who in players.items()
        }
        for name, plays in began.items():
            mean = np.mean([play.result() for play in plays])
            print(f"{name}: mean FCT slowdown {mean:.2f} on {TESTS} test scenarios")


if __name__ == "__main__":
    main()
