# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra as traffic: a file for each rank."""

from __future__ import annotations

import base64
import binascii
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import Bytes, Nanoseconds, few
from ns3_env.config.files import NamedFile, check_plain, naming
from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.chakra.durations import Durations
from ns3_env.scenario.traffic.chakra.graph import ALGORITHMS, Graph
from ns3_env.scenario.traffic.chakra.groups import ProcessGroups, read_groups
from ns3_env.scenario.traffic.chakra.reading import find_files, read_trace
from ns3_env.scenario.traffic.chakra.trace import COMPUTE, Node
from ns3_env.scenario.traffic.chakra.wire import WireError
from ns3_env.scenario.traffic.jobs.collective import MAX_RANKS, WHY_RANKS
from ns3_env.scenario.traffic.jobs.sending import Collected
from ns3_env.scenario.traffic.kind import Flows, TrafficKind, host_fault


class TraceJob(TrafficKind):
    """Base of jobs that are traces of their ranks."""

    all_reduce: Literal["ring_all_reduce", "halving_doubling_all_reduce", "tree_all_reduce"] = (
        "ring_all_reduce"
    )
    chunk_bytes: Bytes | None = Field(
        default=None, ge=1, description="a send is cut into flows of as much; none: whole"
    )
    start_ns: Nanoseconds = Field(default=0, ge=0)
    job: str = Field(min_length=1, description="its name in results")

    def _play(
        self,
        traces: Sequence[Sequence[Node]],
        hosts: Sequence[int],
        groups: Mapping[str, Sequence[int]] | None = None,
        durations: Durations | None = None,
    ) -> Flows:
        """The flows of these hosts, one for each rank. Raises WireError where traces do not fit together."""
        where = Collected(hosts, self.job, 0, "", self.controller, self.chunk_bytes, self.start_ns)
        algorithms = {**ALGORITHMS, "ALL_REDUCE": self.all_reduce}
        return Graph(
            traces, where, algorithms, ProcessGroups(traces, groups), durations or Durations()
        ).play()


class Chakra(TraceJob):
    """Training job whose ranks compute and send as their execution traces say (Sridharan 2023).

    Computation takes its node's ``duration_micros``; a rank's accelerator computes one node after the other,
    and beside it so does its processor (``is_cpu_op``), in the order of the file, but that a node comes after
    what it depends on. A node that is not in the file is waited for by none. A collective is that of the
    ranks of its process group (``pg_name``), which ``groups`` or the traces say, otherwise of all ranks whose
    traces have it, matched in the same order: a rank's part in it begins when its node may, and is over when
    all that it sends and receives is delivered, at once where there is nothing to send. Sends and receives
    are matched by ranks and tag. Other nodes take their duration, and so does what a processor does to launch
    communication.
    """

    kind: Literal["chakra"] = "chakra"
    file: NamedFile | None = Field(
        default=None,
        description="rank 0's is this and .0.et (or .json, .eg, each also .gz), rank 1's this and .1.et, and "
        "so on; or with %d in the place of the rank",
    )
    groups: NamedFile | dict[str, list[int]] | None = Field(
        default=None,
        description="ranks of each process group, by name, or ASTRA-sim's file of them; none: as traces say",
    )
    flops_per_s: float | None = Field(
        default=None, gt=0, description="of a computation that has num_ops and no duration; none: no time"
    )
    memory_bytes_per_s: float | None = Field(
        default=None, gt=0, description="with which such a computation, or a load, moves its tensor_size"
    )
    content: Annotated[list[str], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, min_length=1, description="in the place of files: each rank's, as base64"
    )
    ranks: Annotated[list[int], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, description="hosts, in the order of their ranks; none: the first ones"
    )
    job: str = Field(default="trace", min_length=1, description="its name in results")

    _traces: list[list[Node]] = PrivateAttr(default_factory=list)
    _groups: dict[str, list[int]] | None = PrivateAttr(default=None)
    _wrong: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _read(self) -> Self:
        whole = "content" if self.file is None else f"file: {self.file}"
        place = whole
        try:
            for place, data in self._data():  # noqa: B007
                self._traces.append(read_trace(data))
            if isinstance(self.groups, str):
                place = f"groups: {self.groups}"
                with naming(Path(self.groups)):
                    self._groups = read_groups(self.groups)
            else:
                self._groups = self.groups
            place = whole
            self.flows_between(range(len(self._traces)))
        except OSError as error:
            self._wrong = f"file: {error.filename}: {error.strerror}"
        except (WireError, binascii.Error) as error:
            self._wrong = f"{place}: {error}"
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

    def _data(self) -> Iterator[tuple[str, bytes]]:
        """Each rank's place, as errors call it, and trace. Raises OSError, WireError and binascii.Error."""
        if (self.file is None) == (self.content is None):
            raise WireError("say either file or content")
        for rank, text in enumerate(self.content or ()):
            yield f"content.{rank}", base64.b64decode(text, validate=True)
        for path in self._files():
            with naming(path):
                check_plain(path)
                yield f"file: {path}", path.read_bytes()

    def _files(self) -> list[Path]:
        return [] if self.file is None else find_files(self.file, MAX_RANKS, WHY_RANKS)

    @property
    def _durations(self) -> Durations:
        return Durations(self.flops_per_s, self.memory_bytes_per_s)

    def traces(self) -> list[list[Node]]:
        """The nodes of each rank. Raises ScenarioError where the files are none, or do not fit together."""
        if self._wrong:
            raise ScenarioError(self._wrong)
        return self._traces

    def _of(self, network: Network) -> list[int]:
        return list(network.hosts[: len(self._traces)] if self.ranks is None else self.ranks)

    def faults(self, network: Network) -> list[str]:
        if self._wrong:
            return [self._wrong]
        hosts, ranks = self._of(network), len(self._traces)
        if len(hosts) != ranks:
            return [f"ranks: {len(hosts)} hosts for {ranks} ranks"]
        texts = [fault for i, host in enumerate(hosts) for fault in host_fault(network, f"ranks.{i}", host)]
        if len(set(hosts)) < len(hosts):
            texts.append("ranks: a host has several; each rank is another host")
        flows = self.flows_between(hosts) if not texts else Flows()
        if not texts and not len(flows):
            texts.append("file: the traces send nothing")
        return texts

    def flows_between(self, hosts: Sequence[int]) -> Flows:
        """The flows of these hosts, one for each rank. Raises WireError where traces do not fit together."""
        return self._play(self._traces, hosts, self._groups, self._durations)

    def without_files(self) -> Chakra:
        """The same with its traces in it."""
        content = [base64.b64encode(data).decode() for _, data in self._data()]
        without = self.model_dump(exclude={"file"})
        return Chakra.model_validate({**without, "content": content, "groups": self._groups})

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        return self.flows_between(self._of(network))
