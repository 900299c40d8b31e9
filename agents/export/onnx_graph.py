# SPDX-License-Identifier: GPL-2.0-or-later
"""Exports a policy's file as an ONNX graph, from the network that ``torch_program`` builds from it.

Inputs and outputs have that program's names and shapes; the properties of the model's metadata contain the
header of the policy's file.
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import onnxscript  # noqa: F401  (PyTorch's exporter needs it)
import torch as th

from ns3_env.agents.export.formats import Evaluator
from ns3_env.agents.export.torch_program import export_program
from ns3_env.config.files import write_atomically
from ns3_env.policies.file import KEY, PolicyFile
from ns3_env.policies.history import Floats, Ints, after_steps
from ns3_env.policies.policy import State

#: The oldest operator set that PyTorch's exporter writes without conversion.
OPSET = 18
#: Logger that reports a missing torchvision.
_REGISTRATION = "torch.onnx._internal.exporter._registration"


def write(path: Path, policy: PolicyFile) -> None:
    """Writes the graph, checked. Raises OSError."""
    outputs = ["action", "next_h", "next_c"] if policy.spec.network.carries else ["action"]
    logging.getLogger(_REGISTRATION).setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = th.onnx.export(
            export_program(policy), dynamo=True, output_names=outputs, opset_version=OPSET, verbose=False
        )
    assert program is not None
    model = program.model_proto
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.helper.set_model_props(model, {KEY: policy.header()})
    onnx.checker.check_model(model, full_check=True)
    write_atomically(path, model.SerializeToString())


def evaluator(path: Path) -> Evaluator:
    """The graph in a file, run by ONNX Runtime on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    shapes = {value.name: value.shape for value in session.get_inputs()}

    def step(rows: Floats, state: State | None) -> tuple[Floats, State]:
        h, c = 2 * [np.zeros((len(rows), shapes["h"][1]), np.float32)] if state is None else state
        answer = session.run(["action", "next_h", "next_c"], {"observations": rows, "h": h, "c": c})
        return answer[0], (answer[1], answer[2])

    def act(histories: Floats, lengths: Ints) -> Floats:
        if "h" in shapes:
            return after_steps(step, histories, lengths)
        memory = "history" in shapes
        feed = {"history": histories, "length": lengths} if memory else {"observations": histories[:, 0]}
        actions: Floats = session.run(["action"], feed)[0]
        return actions

    return act
