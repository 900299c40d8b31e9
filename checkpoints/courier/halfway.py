# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the released file: halfway from the network that the search began with to what it found.

python checkpoints/courier/halfway.py runs/courier-... policy.safetensors
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.search.config import SearchRunConfig
from ns3_env.agents.search.network import NetworkSubject
from ns3_env.config.model import validate
from ns3_env.policies.file import POLICY_FILE, PolicyFile, read_policy, write_policy


def halfway(run: Path, out: Path) -> None:
    """Writes the mean of both networks' weights. Raises ConfigError where ``run`` is no such search."""
    folder = RunFolder(run)
    config = validate(folder.read()[0], SearchRunConfig, str(run))
    assert config.network is not None
    subject = NetworkSubject(config.network, config.name, config.seed, str(run))
    first = subject.policy(subject.space.start)
    found = read_policy(folder.latest_checkpoint()[0] / POLICY_FILE)
    mean = {name: ((a + found.tensors[name]) / 2).astype(np.float32) for name, a in first.tensors.items()}
    write_policy(out, PolicyFile(found.spec, mean))


if __name__ == "__main__":
    halfway(Path(sys.argv[1]), Path(sys.argv[2]))
