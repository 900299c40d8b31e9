# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra as traffic: a file for each rank."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_FLOWS, WHY_FLOWS, Bytes, Nanoseconds, few
from ns3_env.config.files import NamedFile
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.chakra.graph import ALGORITHMS, Graph
from ns3_env.scenario.traffic.chakra.trace import Node, read_trace
from ns3_env.scenario.traffic.chakra.wire import WireError
from ns3_env.scenario.traffic.jobs.collective import MAX_RANKS, WHY_RANKS
from ns3_env.scenario.traffic.jobs.sending import Collected
from ns3_env.scenario.traffic.kind import Flows, TrafficKind, host_fault


class Chakra(TrafficKind):
    """What the ranks of a job compute and send, as their execution traces say (Sridharan 2023).

    Computation takes its node's ``duration_micros``; a rank computes one node after the other, in the order
    of its file. A collective is that of all ranks whose traces have its process group (``pg_name``), matched
    in their order: a rank's part in it begins when its node may, and is over when all that it sends and
    receives is delivered. Sends and receives are matched by ranks and tag. Other nodes take their duration.
    """

    kind: Literal["chakra"] = "chakra"
    file: NamedFile | None = Field(
        default=None, description="rank 0's is this and .0.et, rank 1's this and .1.et, and so on"
    )
    content: Annotated[list[str], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, min_length=1, description="in the place of files: each rank's, as base64"
    )
    ranks: Annotated[list[int], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, description="hosts, in the order of their ranks; none: the first ones"
    )
    all_reduce: Literal["ring_all_reduce", "halving_doubling_all_reduce", "tree_all_reduce"] = (
        "ring_all_reduce"
    )
    chunk_bytes: Bytes | None = Field(
        default=None, ge=1, description="a send is cut into flows of as much; none: whole"
    )
    start_ns: Nanoseconds = Field(default=0, ge=0)
    job: str = Field(default="trace", min_length=1, description="its name in results")

    _traces: list[list[Node]] = PrivateAttr(default_factory=list)
    _wrong: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _read(self) -> Self:
        try:
            self._traces = [read_trace(data) for data in self._data()]
            self._flows(list(range(len(self._traces))))
        except OSError as error:
            self._wrong = f"file: {error.filename}: {error.strerror}"
        except (WireError, binascii.Error) as error:
            key = f"file: {self.file}" if self.file is not None else "content"
            self._wrong = f"{key}: {error}"
        return self

    def _data(self) -> list[bytes]:
        if (self.file is None) == (self.content is None):
            raise WireError("say either file or content")
        if self.content is not None:
            return [base64.b64decode(text, validate=True) for text in self.content]
        found = [Path(f"{self.file}.0.et").read_bytes()]
        while (path := Path(f"{self.file}.{len(found)}.et")).is_file() and len(found) < MAX_RANKS:
            found.append(path.read_bytes())
        return found

    def _of(self, network: Network) -> list[int]:
        return list(network.hosts[: len(self._traces)] if self.ranks is None else self.ranks)

    def faults(self, network: Network) -> list[str]:
        if self._wrong:
            return [self._wrong]
        hosts, ranks = self._of(network), len(self._traces)
        if len(hosts) != ranks:
            return [f"ranks: {len(hosts)} hosts for {ranks} ranks"]
        found = [fault for i, host in enumerate(hosts) for fault in host_fault(network, f"ranks.{i}", host)]
        if len(set(hosts)) < len(hosts):
            found.append("ranks: a host has several; each rank is another host")
        flows = self._flows(hosts) if not found else Flows()
        if not found and not len(flows):
            found.append("file: the traces send nothing")
        if len(flows) > MAX_FLOWS:
            found.append(f"chunk_bytes: {len(flows)} flows; there may be at most {MAX_FLOWS}: {WHY_FLOWS}")
        return found

    def _flows(self, hosts: list[int]) -> Flows:
        where = Collected(hosts, self.job, 0, "", self.controller, self.chunk_bytes, self.start_ns)
        return Graph(self._traces, where, {**ALGORITHMS, "ALL_REDUCE": self.all_reduce}).play()

    def without_files(self) -> Chakra:
        """The same with its traces in it."""
        content = [base64.b64encode(data).decode() for data in self._data()]
        return Chakra.model_validate({**self.model_dump(exclude={"file"}), "content": content})

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        return self._flows(self._of(network))
