# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra as traffic: a file for each rank."""

from __future__ import annotations

import base64
import binascii
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import Bytes, Nanoseconds, few
from ns3_env.config.files import NamedFile, check_plain, naming
from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.chakra.graph import ALGORITHMS, Graph
from ns3_env.scenario.traffic.chakra.trace import COMPUTE, Node, read_trace
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

    def _play(self, traces: Sequence[Sequence[Node]], hosts: Sequence[int]) -> Flows:
        """The flows of these hosts, one for each rank. Raises WireError where traces do not fit together."""
        where = Collected(hosts, self.job, 0, "", self.controller, self.chunk_bytes, self.start_ns)
        return Graph(traces, where, {**ALGORITHMS, "ALL_REDUCE": self.all_reduce}).play()


class Chakra(TraceJob):
    """Training job whose ranks compute and send as their execution traces say (Sridharan 2023).

    Computation takes its node's ``duration_micros``; a rank computes one node after the other, in the order
    of its file, but that a node comes after what it depends on. A node that is not in the file is waited for
    by none. A collective is that of all ranks whose traces have its process group (``pg_name``), matched in
    the same order: a rank's part in it begins when its node may, and is over when all that it sends and
    receives is delivered, at once where there is nothing to send. Sends and receives are matched by ranks and
    tag. Other nodes take their duration, and so does what a processor does to launch communication.
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
    job: str = Field(default="trace", min_length=1, description="its name in results")

    _traces: list[list[Node]] = PrivateAttr(default_factory=list)
    _wrong: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _read(self) -> Self:
        whole = "content" if self.file is None else f"file: {self.file}"
        place = whole
        try:
            for place, data in self._data():  # noqa: B007
                self._traces.append(read_trace(data))
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
        timeless = [node for node in computing if not node.duration_micros]
        if timeless and (
            len(timeless) == len(computing) or any("num_ops" in node.numbers for node in timeless)
        ):
            warnings.warn(
                f"{self.file}: {len(timeless)} of {len(computing)} computations have no duration_micros, and "
                "take no time: num_ops and tensor_size do not say how fast a rank computes",
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
        """Each rank's file. Raises OSError where one is missing, WireError where there are too many."""
        if self.file is None:
            return []
        first = Path(f"{self.file}.0.et")
        with naming(first):
            check_plain(first)
        pattern = re.compile(re.escape(Path(self.file).name) + r"\.([1-9][0-9]{0,8})\.et")
        ranks = {0, *(int(name[1]) for x in os.listdir(first.parent) if (name := pattern.fullmatch(x)))}
        files = [Path(f"{self.file}.{rank}.et") for rank in range(len(ranks))]
        if missing := sorted(set(range(len(ranks))) - ranks):
            text = f"there is no such file, though there is {self.file}.{max(ranks)}.et"
            raise OSError(0, text, str(files[missing[0]]))
        if len(files) > MAX_RANKS:
            raise WireError(f"{len(files)} ranks; there may be at most {MAX_RANKS}: {WHY_RANKS}")
        return files

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
        return self._play(self._traces, hosts)

    def without_files(self) -> Chakra:
        """The same with its traces in it."""
        content = [base64.b64encode(data).decode() for _, data in self._data()]
        return Chakra.model_validate({**self.model_dump(exclude={"file"}), "content": content})

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        return self.flows_between(self._of(network))
