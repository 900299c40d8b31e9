# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the released file: a quarter of the way from courier to what was found, and a first window.

python checkpoints/courier-2/blend.py runs/courier-2-... policy.safetensors

The first window is three units more: where no hop has reported yet (no flows counted)
and more than LONG_BDPS are left, they take FALL off the output before its tanh; elsewhere they add nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.policies.file import POLICY_FILE, PolicyFile, read_policy, write_policy
from ns3_env.policies.released import released
from ns3_env.simulator.results import Floats

#: Of the way, and of the first window.
SHARE, LONG_BDPS, FALL, START_BDPS = 0.25, 4.0, 1.8, 0.5


def blend(run: Path, out: Path) -> None:
    """Writes the file. Raises ConfigError where ``run`` has no checkpoint with a policy."""
    courier = read_policy(released("courier"))
    found = read_policy(RunFolder(run).latest_checkpoint()[0] / POLICY_FILE)
    fields = list(found.spec.fields)
    tensors = {name: np.asarray(tensor, np.float64) for name, tensor in found.tensors.items()}
    for name, tensor in courier.tensors.items():
        begun = np.zeros_like(tensors[name])
        columns = [fields.index(x) for x in courier.spec.fields] if name == "layers.0.weight" else slice(None)
        begun[..., columns] = tensor
        # As float32, as a file keeps it.
        tensors[name] = ((1 - SHARE) * begun + SHARE * tensors[name]).astype(np.float32).astype(np.float64)
    clock = found.spec.clock.model_copy(update={"start_bdps": START_BDPS})
    write_policy(out, PolicyFile(found.spec.model_copy(update={"clock": clock}), _widened(tensors, fields)))


def _widened(tensors: dict[str, Floats], fields: list[str]) -> dict[str, NDArray[np.float32]]:
    """The tensors with two units more in the first hidden layer and one more in the second."""
    first, bias = tensors["layers.0.weight"], tensors["layers.0.bias"]
    unseen, long = np.zeros(len(fields)), np.zeros(len(fields))
    unseen[fields.index("flow_count")] = -8.0  # 1 where none is counted, -1 from one flow on
    long[fields.index("remaining")] = 6.0  # 1 where much is left
    second = tensors["layers.1.weight"]
    both = np.block(
        [[second, np.zeros((len(second), 2))], [np.zeros((1, second.shape[1])), np.full((1, 2), 3.0)]]
    )
    wider = {
        "layers.0.weight": np.vstack([first, unseen, long]),
        "layers.0.bias": np.append(bias, [8.0 * 0.35, -6.0 * np.log1p(LONG_BDPS)]),
        "layers.1.weight": both,
        "layers.1.bias": np.append(tensors["layers.1.bias"], -3.0),
        "layers.2.weight": np.hstack([tensors["layers.2.weight"], [[-FALL / 2]]]),
        "layers.2.bias": tensors["layers.2.bias"] - FALL / 2,
    }
    return {name: tensor.astype(np.float32) for name, tensor in wider.items()}


if __name__ == "__main__":
    blend(Path(sys.argv[1]), Path(sys.argv[2]))
