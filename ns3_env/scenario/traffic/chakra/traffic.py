# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra as traffic: a file for each rank."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import few
from ns3_env.config.files import NamedFile, check_plain, naming
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.traffic.chakra.budget import TraceError
from ns3_env.scenario.traffic.chakra.durations import Durations
from ns3_env.scenario.traffic.chakra.groups import read_groups
from ns3_env.scenario.traffic.chakra.job import FileJob
from ns3_env.scenario.traffic.chakra.reading import find_files, read_trace
from ns3_env.scenario.traffic.chakra.trace import COMPUTE
from ns3_env.scenario.traffic.jobs.collective import MAX_RANKS, WHY_RANKS
from ns3_env.scenario.traffic.kind import Flows


class Chakra(FileJob):
    """Training job whose ranks compute and send by their execution traces (Sridharan 2023).

    Computation lasts its node's ``duration_micros``; a rank's accelerator computes one node after the other,
    and in parallel so does its processor (``is_cpu_op``), in the order of the file, but that a node comes
    after its dependencies. No node waits for one that is not in the file. A collective is that of the
    ranks of its process group (``pg_name``), which ``groups`` or the traces specify, otherwise of all ranks
    whose traces have it, matched in the same order: a rank's part in it starts when its node may, and is over
    when all that it sends and receives is delivered, at once if there is nothing to send. Sends and receives
    are matched by ranks and tag. Other nodes last their duration, and so does a processor's work to launch
    communication.
    """

    kind: Literal["chakra"] = "chakra"
    file: NamedFile | None = Field(
        default=None,
        description="rank 0's is this and .0.et (or .json, each also .gz), rank 1's this and .1.et, and "
        "so on; or with %d instead of the rank",
    )
    groups: NamedFile | dict[str, list[int]] | None = Field(
        default=None,
        description="ranks of each process group, by name, or ASTRA-sim's file of them; none: from traces",
    )
    flops_per_s: float | None = Field(
        default=None, gt=0, description="of a computation that has num_ops and no duration; none: no time"
    )
    memory_bytes_per_s: float | None = Field(
        default=None, gt=0, description="with which such a computation, or a load, moves its tensor_size"
    )
    content: Annotated[list[str], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, min_length=1, description="instead of files: each rank's, as base64"
    )
    job: str = Field(default="trace", min_length=1, description="its name in results")

    _groups: dict[str, list[int]] | None = PrivateAttr(default=None)

    def _load(self) -> None:
        for data in self._data():
            self._traces.append(read_trace(data, self._budget))
        if not isinstance(self.groups, str):
            self._groups = self.groups
            return
        self._place = f"groups: {self.groups}"
        with naming(Path(self.groups)):
            self._groups = read_groups(self.groups)

    @model_validator(mode="after")
    def _warn(self) -> Self:
        if self.file is not None and not self._wrong:
            self._warn_of_computation()
        return self

    def _warn_of_computation(self) -> None:
        computing = [node for trace in self._traces for node in trace if node.type == COMPUTE]
        timeless = [node for node in computing if not self._durations.ns(node)]
        if timeless and (
            len(timeless) == len(computing) or any("num_ops" in node.numbers for node in timeless)
        ):
            warnings.warn(
                f"{self.file}: {len(timeless)} of {len(computing)} computations have no duration_micros, and "
                "take no time: num_ops and tensor_size do not say how fast a rank computes; flops_per_s and "
                "memory_bytes_per_s would",
                ScenarioWarning,
                stacklevel=2,
            )

    def _data(self) -> Iterator[bytes]:
        """Each rank's trace. Raises OSError, TraceError and binascii.Error."""
        self._place = "content" if self.file is None else f"file: {self.file}"
        if (self.file is None) == (self.content is None):
            raise TraceError("say either file or content")
        for rank, text in enumerate(self.content or ()):
            self._place = f"content.{rank}"
            yield base64.b64decode(text, validate=True)
        for path in self._files():
            with naming(path):
                check_plain(path)
                self._place = f"file: {path}"
                yield path.read_bytes()

    def _files(self) -> list[Path]:
        return [] if self.file is None else find_files(self.file, MAX_RANKS, WHY_RANKS)

    @property
    def _durations(self) -> Durations:
        return Durations(self.flops_per_s, self.memory_bytes_per_s)

    def without_files(self) -> Chakra:
        """The same with its traces in it."""
        content = [base64.b64encode(data).decode() for data in self._data()]
        without = self.model_dump(exclude={"file"})
        return Chakra.model_validate({**without, "content": content, "groups": self._groups})

    def flows_between(self, hosts: Sequence[int]) -> Flows:
        return self._play(self._traces, hosts, self._groups, self._durations)
