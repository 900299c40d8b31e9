# SPDX-License-Identifier: GPL-2.0-or-later
"""How does FDCC's actor become a policy's file? LSTM, shortcut and head, tensor by tensor."""

from __future__ import annotations

import torch as th
from torch import nn

from agents.export.networks import Exported, head, linear
from agents.fdcc.policy import RecurrentTD3Policy
from ns3_env.policy_spec import Network


def of_fdcc(policy: RecurrentTD3Policy) -> Exported:
    """The actor. Its two biases of the LSTM are added: only their sum acts. Raises ConfigError."""
    encoder = policy.actor.encoder
    layers, hidden, output = head([*policy.actor.mu, nn.Tanh()], "actor.mu")
    lstm: dict[str, th.Tensor] = {
        name: value.detach().cpu() for name, value in encoder.lstm.named_parameters()
    }
    return Exported(
        Network(kind="lstm", hidden_activation=hidden, output_activation=output),
        {
            "lstm.weight_ih": lstm["weight_ih_l0"].numpy().copy(),
            "lstm.weight_hh": lstm["weight_hh_l0"].numpy().copy(),
            "lstm.bias": (lstm["bias_ih_l0"] + lstm["bias_hh_l0"]).numpy(),
            **linear("shortcut", encoder.shortcut[0]),
            **layers,
        },
        history=policy.history_length,
        transform="symlog" if encoder.compress else "none",
        appended=("last_action",) if policy.append_last_action else (),
    )
