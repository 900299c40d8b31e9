# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a policy's file from a network and the configured environment it was trained in."""

from __future__ import annotations

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.trainer.policy_tensors import Exported
from ns3_env.policies.file import PolicyFile
from ns3_env.policies.header import AnyInput, Input, PolicySpec, Training
from ns3_env.task.observations import wire_bytes


def policy_file(network: Exported, env: EnvConfig, training: Training) -> PolicyFile:
    """A network with the environment around it. Raises ValueError where they make no policy."""
    fields = (*env.fields, *network.appended)
    plain: list[AnyInput] = [Input(field=name, transform=network.transform) for name in fields]
    spec = PolicySpec(
        observation=plain if network.observation is None else list(network.observation),
        history=network.history,
        network=network.network,
        action=env.action.model_dump(),
        clock=env.clock,
        decision_quantum_ns=env.decision_quantum_ns,
        telemetry_bytes=wire_bytes(env.fields) if env.telemetry_bytes is None else env.telemetry_bytes,
        training=training,
    )
    return PolicyFile(spec, network.tensors)
