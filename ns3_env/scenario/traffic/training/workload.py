# SPDX-License-Identifier: GPL-2.0-or-later
"""Training of a model by its layers, as text files of ASTRA-sim and SimAI list them."""

from __future__ import annotations

import itertools
import re
import warnings
from typing import Literal

from pydantic import Field

from ns3_env.config.bounds import Nanoseconds
from ns3_env.config.model import shown
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.traffic.chakra.budget import TraceError
from ns3_env.scenario.traffic.chakra.job import TextJob
from ns3_env.scenario.traffic.jobs.collective import MAX_ITERATIONS, MAX_RANKS, WHY_RANKS
from ns3_env.scenario.traffic.training.layers import POLICIES, Layer, LayerProgram, read_layer
from ns3_env.scenario.traffic.training.program import Layout

_NUMBER = re.compile(r"\d{1,18}")
_COUNT = re.compile(r"\d{1,9}")
_BOTTOM = "DLRM_LAST_BOTTOM_LAYER"


class Workload(TextJob):
    """Job whose ranks go through a model's layers, forward and backward, by a workload's text.

    The first line has the kind of parallelism and its numbers (``model_parallel_NPU_group``, ``ep``, ``pp``,
    ``all_gpus``), the second how many layers there are; then comes a line for each. A layer's collective is
    waited for before the next layer computes, but that of its weights' gradients, for which its next forward
    pass waits. Ranks lie as those of a transformer's training (``Layout``); stages of a pipeline run in
    parallel with each other, and pass nothing on.
    """

    kind: Literal["workload"] = "workload"
    npus: int | None = Field(
        default=None, ge=2, le=MAX_RANKS, description="ranks; none: all_gpus of the file"
    )
    unit_ns: Nanoseconds = Field(
        default=1, ge=1, description="of the layers' times: 1 ns in ASTRA-sim and SimAI, 1 us for Chakra"
    )
    iterations: int = Field(default=1, ge=1, le=MAX_ITERATIONS, description="passes over all layers")
    job: str = Field(default="workload", min_length=1, description="its name in results")

    def _load(self) -> None:
        lines = [(i, text.strip()) for i, text in enumerate(self._lines(), start=1) if text.strip()]
        if len(lines) < 2:
            raise TraceError("a line of the parallelism should stand here, the number of layers, and layers")
        self._at(lines[0][0])
        kind, *words = lines[0][1].split()
        pairs = itertools.pairwise(words)
        numbers = {name.removesuffix(":"): int(text) for name, text in pairs if _NUMBER.fullmatch(text)}
        if kind not in POLICIES:
            raise TraceError(f"the parallelism is {shown(kind)}; {', '.join(POLICIES)} are played")
        if numbers.get("checkpoints"):
            raise TraceError("checkpoints, layers that are computed anew, are not played")
        layout = self._layout(numbers)
        self._at(lines[1][0])
        count = int(lines[1][1]) if _COUNT.fullmatch(lines[1][1]) else -1
        if not 0 < count <= len(lines) - 2:
            raise TraceError(f"{shown(lines[1][1])} layers are announced, and there are {len(lines) - 2}")
        layers: list[Layer] = []
        for line, text in lines[2 : count + 2]:
            self._at(line)
            layers.append(read_layer(text))
        bottom = int(words[0]) if words and _COUNT.fullmatch(words[0]) else numbers.get(_BOTTOM, 0)
        for rank in range(layout.ranks):
            groups = {"all": ("", layout.ranks), **layout.groups(rank)}
            program = LayerProgram(
                layers, POLICIES[kind], groups, self.unit_ns, "all_gpus" in numbers, self._budget, bottom
            )
            self._traces.append(program.play(self.iterations, kind == "MICRO"))
        if layout.pp > 1:
            self._warn(f"{layout.pp} stages of the pipeline play beside each other, and pass nothing on")
        if count < len(lines) - 2:
            self._warn(f"{len(lines) - 2 - count} lines more than the {count} layers announced are a comment")

    def _warn(self, text: str) -> None:
        if self.file is not None:
            warnings.warn(f"{self.file}: {text}", ScenarioWarning, stacklevel=2)

    def _layout(self, numbers: dict[str, int]) -> Layout:
        """The ranks' parallelism. Raises TraceError."""
        ranks = self.npus or numbers.get("all_gpus", 0)
        tp, pp, ep = (numbers.get(name, 1) for name in ("model_parallel_NPU_group", "pp", "ep"))
        if not 2 <= ranks <= MAX_RANKS:
            text = "say npus, how many ranks there are" if not ranks else f"{ranks} ranks"
            raise TraceError(f"{text}; there may be 2 to {MAX_RANKS}: {WHY_RANKS}")
        if not tp * pp * ep or ranks % (tp * pp) or ranks // (tp * pp) % ep:
            raise TraceError(f"{ranks} ranks are no multiple of groups of {tp}, {pp} stages and {ep} experts")
        return Layout(tp, pp, ranks // (tp * pp), ep, 0, 0)
