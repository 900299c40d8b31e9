# SPDX-License-Identifier: GPL-2.0-or-later
"""Start of a learner from a policy's file: its tensors, once they fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch as th

from ns3_env.agents.training.policy_tensors import Exported
from ns3_env.errors import ConfigError
from ns3_env.policies.file import read_policy
from ns3_env.policies.header import Input
from ns3_env.policies.released import policy_path


def start_tensors(start: str, own: Exported, fields: Sequence[str]) -> dict[str, th.Tensor]:
    """The tensors of a policy's file, by the format's names.

    Args:
        start: name of a released policy, or a file's path.
        own: the network that is to begin as it.
        fields: what that network reads.

    Raises:
        ConfigError: the policy reads something else, or its network has another shape.
    """
    found = read_policy(policy_path(Path(start)))
    if found.spec.fields != tuple(fields) or found.spec.history != own.history:
        raise ConfigError(
            f"agent.start: {start} reads {found.spec.history} observations of "
            f"{', '.join(found.spec.fields)}: env.fields and agent.history_length have to say the same"
        )
    shapes = [{name: tensor.shape for name, tensor in x.tensors.items()} for x in (found, own)]
    if shapes[0] != shapes[1]:
        raise ConfigError(f"agent.start: {start} has other layers ({shapes[0]}) than the agent ({shapes[1]})")
    read = {entry.transform for entry in found.spec.observation if isinstance(entry, Input)}
    if found.spec.network != own.network or read != {own.transform}:
        raise ConfigError(
            f"agent.start: {start} is {found.spec.network} of inputs under {', '.join(sorted(read))}, the "
            f"agent {own.network} under {own.transform}"
        )
    return {name: th.as_tensor(tensor) for name, tensor in found.tensors.items()}
