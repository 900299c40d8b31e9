# SPDX-License-Identifier: GPL-2.0-or-later
"""Learns offline: datasets of three qualities, behaviour cloning and TD3+BC on each, all on the tests.

    python examples/offline_rl.py --task LongShort --episodes 16 --out runs/offline

Datasets are Minari's (``pip install 'ns3-env[minari]'``): "expert" is a trained policy, "medium" the same
with noise of 0.5 on its actions, "mixed" half of each. TD3+BC is that of Fujimoto and Gu (2021).
"""

from __future__ import annotations

import argparse
import copy
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import minari
import numpy as np
import torch
from behaviour_cloning import fit, save
from torch import Tensor, nn

from ns3_env.agents.trajectories import record
from ns3_env.config.folders import DATA
from ns3_env.tasks import TaskSpec, task

#: A trained policy of the tasks.
EXPERT = DATA / "checkpoints" / "tasks" / "ppo-plain" / "1" / "policy.safetensors"
#: Standard deviation of noise, by the quality of the dataset.
NOISE = {"expert": 0.0, "medium": 0.5}
#: Discount per base RTT; weight of the critic against cloning; targets' noise, its bound, and their pace.
GAMMA, ALPHA, TARGET_NOISE, BOUND, TAU = 0.95, 2.5, 0.2, 0.5, 0.005


@dataclass(frozen=True)
class Transitions:
    """Decisions of a dataset: n rows."""

    seen: Tensor  # (n, D), as the policy's file reads them
    done: Tensor  # (n, 1), actions
    rewards: Tensor  # (n, 1)
    following: Tensor  # (n, D)
    discounts: Tensor  # (n, 1), 0 if nothing follows


def transitions(*datasets: Any) -> Transitions:
    """All decisions of some datasets."""
    flows = [flow for dataset in datasets for flow in dataset.iterate_episodes()]

    def joined(rows: list[Any]) -> Tensor:
        return torch.as_tensor(np.concatenate(rows), dtype=torch.float32)

    def symlog(rows: list[Any]) -> Tensor:
        seen = joined(rows)
        return seen.sign() * seen.abs().log1p()

    ends = [flow.terminations | flow.infos["final"][1:] for flow in flows]
    discounts = [GAMMA ** flow.infos["elapsed"][1:] * ~end for flow, end in zip(flows, ends, strict=True)]
    return Transitions(
        seen=symlog([flow.observations[:-1] for flow in flows]),
        done=joined([flow.actions for flow in flows]),
        rewards=joined([flow.rewards for flow in flows])[:, None],
        following=symlog([flow.observations[1:] for flow in flows]),
        discounts=joined(discounts)[:, None],
    )


def network(inputs: int, *last: nn.Module) -> nn.Sequential:
    """Two hidden layers of 64."""
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1), *last
    )


def td3_bc(rows: Transitions, updates: int) -> nn.Sequential:
    """An actor that two critics praise and that stays near the dataset's actions."""
    width = rows.seen.shape[1]
    actor, critics = network(width, nn.Tanh()), nn.ModuleList(network(width + 1) for _ in range(2))
    targets = copy.deepcopy(nn.ModuleList([actor, *critics]))
    of_actor = torch.optim.Adam(actor.parameters(), lr=3e-4)
    of_critics = torch.optim.Adam(critics.parameters(), lr=3e-4)
    for update in range(updates):
        drawn = torch.randint(len(rows.seen), (256,))
        seen, done, following = rows.seen[drawn], rows.done[drawn], rows.following[drawn]
        with torch.no_grad():
            noise = (TARGET_NOISE * torch.randn_like(done)).clamp(-BOUND, BOUND)
            after = torch.cat([following, (targets[0](following) + noise).clamp(-1, 1)], 1)
            least = torch.minimum(targets[1](after), targets[2](after))
            wanted = rows.rewards[drawn] + rows.discounts[drawn] * least
        told = torch.cat([seen, done], 1)
        loss = sum(nn.functional.mse_loss(critic(told), wanted) for critic in critics)
        of_critics.zero_grad()
        loss.backward()
        of_critics.step()
        if update % 2:
            chosen = actor(seen)
            praise = critics[0](torch.cat([seen, chosen], 1))
            weight = ALPHA / praise.abs().mean().detach()
            of_actor.zero_grad()
            (nn.functional.mse_loss(chosen, done) - weight * praise.mean()).backward()
            of_actor.step()
            for target, source in zip(targets, [actor, *critics], strict=True):
                for slow, fast in zip(target.parameters(), source.parameters(), strict=True):
                    slow.data.lerp_(fast.data, TAU)
    return actor


def dataset(spec: TaskSpec, policy: Path, quality: str, episodes: int, seed: int) -> Any:
    """The dataset of a quality, recorded unless it exists."""
    name = f"{spec.id.lower()}/{quality}-{episodes}-{seed}-v0"
    if name in minari.list_local_datasets():
        return minari.load_dataset(name)
    return record(spec.name, policy, episodes, name, seed=seed, noise=NOISE[quality])


def main() -> None:
    """Records, learns, runs the tests."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--task", default="LongShort")
    arguments.add_argument("--policy", type=Path, default=EXPERT)
    arguments.add_argument("--episodes", type=int, default=16, help="training scenarios of each dataset")
    arguments.add_argument("--updates", type=int, default=10_000, help="of each learner")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--out", type=Path, default=Path("runs/offline"), help="folder of what is saved")
    given = arguments.parse_args()
    torch.set_num_threads(1)  # the networks are small
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    os.environ["MINARI_DATASETS_PATH"] = str(given.out / "datasets")

    spec = task(given.task)
    recorded = {name: dataset(spec, given.policy, name, given.episodes, given.seed) for name in NOISE}
    chosen = {
        **{name: transitions(one) for name, one in recorded.items()},
        "mixed": transitions(*recorded.values()),
    }
    entries = [f"expert={given.policy}"]
    for name, rows in chosen.items():
        print(f"{name}: {len(rows.seen):,} decisions, mean reward {rows.rewards.mean().item():.4f}")
        learned = {"clone": fit(rows.seen, rows.done, given.updates), "td3bc": td3_bc(rows, given.updates)}
        for learner, actor in learned.items():
            file = given.out / f"{learner}-{name}.safetensors"
            save(actor, spec, file)
            entries.append(f"{learner}-{name}={file}")
    played = [sys.executable, "-m", "eval", "leaderboard", spec.name, "--entries", *entries]
    subprocess.run([*played, "--out", str(given.out / "scores")], check=True)


if __name__ == "__main__":
    main()
