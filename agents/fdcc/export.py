# SPDX-License-Identifier: GPL-2.0-or-later
"""Export of FDCC's actor to a policy's file: LSTM, shortcut and head, tensor by tensor."""

from __future__ import annotations

from ns3_env.agents.fdcc.policy import RecurrentTD3Policy
from ns3_env.agents.trainer.policy_tensors import Exported
from ns3_env.policies.header import Network
from ns3_env.policies.tensors import Tensors


def of_fdcc(policy: RecurrentTD3Policy) -> Exported:
    """The actor. Its two biases of the LSTM are added: only their sum acts."""
    stack = policy.actor.stack
    lstm = {name: value.detach().cpu() for name, value in stack.lstms[0].named_parameters()}
    shortcut, *layers = [
        (weight[0].detach().cpu().numpy(), bias[0, 0].detach().cpu().numpy())
        for weight, bias in zip(stack.weights, stack.biases, strict=True)
    ]
    tensors: Tensors = {
        "lstm.weight_ih": lstm["weight_ih_l0"].numpy().copy(),
        "lstm.weight_hh": lstm["weight_hh_l0"].numpy().copy(),
        "lstm.bias": (lstm["bias_ih_l0"] + lstm["bias_hh_l0"]).numpy(),
    }
    for place, (weight, bias) in [
        ("shortcut", shortcut),
        *((f"layers.{n}", x) for n, x in enumerate(layers)),
    ]:
        tensors |= {f"{place}.weight": weight.copy(), f"{place}.bias": bias.copy()}
    return Exported(
        Network(kind="lstm", hidden_activation="relu", output_activation="tanh"),
        tensors,
        history=policy.history_length,
        transform="symlog" if policy.actor.compress else "none",
        appended=("last_action",) if policy.append_last_action else (),
    )
