# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of ranks' traces, from files or generated."""

from __future__ import annotations

import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import Bytes, Nanoseconds, few
from ns3_env.config.files import NamedFile, naming, read_text
from ns3_env.errors import ScenarioError
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.chakra.budget import Budget, TraceError
from ns3_env.scenario.traffic.chakra.durations import Durations
from ns3_env.scenario.traffic.chakra.graph import ALGORITHMS, Graph
from ns3_env.scenario.traffic.chakra.groups import ProcessGroups
from ns3_env.scenario.traffic.chakra.trace import Node
from ns3_env.scenario.traffic.jobs.collective import MAX_RANKS, WHY_RANKS
from ns3_env.scenario.traffic.jobs.sending import flows_of
from ns3_env.scenario.traffic.kind import Flows, TrafficKind, rank_faults


class TraceJob(TrafficKind):
    """Base of jobs that are traces of their ranks."""

    all_reduce: Literal[
        "ring_all_reduce", "hierarchical_all_reduce", "halving_doubling_all_reduce", "tree_all_reduce"
    ] = "ring_all_reduce"
    all_to_all: Literal["all_to_all", "hierarchical_all_to_all"] = "all_to_all"
    node_ranks: int = Field(
        default=8, ge=1, le=MAX_RANKS, description="of hierarchical algorithms: ranks of a node, neighbours"
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
        """The flows of these hosts, one for each rank. Raises TraceError if traces do not fit together."""
        algorithms = {**ALGORITHMS, "ALL_REDUCE": self.all_reduce, "ALL_TO_ALL": self.all_to_all}
        process_groups, times = ProcessGroups(traces, groups), durations or Durations()
        graph = Graph(traces, hosts, algorithms, process_groups, times, self.node_ranks, self.chunk_bytes)
        return flows_of(graph.play(), self.job, self.controller, self.start_ns)


class FileJob(TraceJob):
    """Base of jobs whose ranks' traces come from files, and are read when the scenario is made."""

    file: NamedFile | None = None
    ranks: Annotated[list[int], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, description="host of each rank; several may be on one; none: the first ones"
    )

    _traces: list[list[Node]] = PrivateAttr(default_factory=list)
    _wrong: str = PrivateAttr(default="")
    _budget: Budget = PrivateAttr(default_factory=Budget)
    #: Name in errors of the file being read.
    _place: str = PrivateAttr(default="")

    @model_validator(mode="after")
    def _read(self) -> Self:
        try:
            self._load()
            self._place = "content" if self.file is None else f"file: {self.file}"
            self.flows_between(range(len(self._traces)))
        except OSError as error:
            self._wrong = f"file: {error.filename}: {error.strerror}"
        except (TraceError, binascii.Error) as error:
            self._wrong = f"{self._place}: {error}"
        return self

    def _load(self) -> None:
        """Reads ``_traces``, and keeps ``_place``. Raises OSError, TraceError and binascii.Error."""
        raise NotImplementedError

    def traces(self) -> list[list[Node]]:
        """The nodes of each rank. Raises ScenarioError if the files are no traces, or do not match."""
        if self._wrong:
            raise ScenarioError(self._wrong)
        return self._traces

    def _hosts(self, network: Network) -> list[int]:
        return list(network.hosts[: len(self._traces)] if self.ranks is None else self.ranks)

    def faults(self, network: Network) -> list[str]:
        if self._wrong:
            return [self._wrong]
        hosts = self._hosts(network)
        texts = rank_faults(network, hosts, len(self._traces))
        flows = self.flows_between(hosts) if not texts else Flows()
        if not texts and not len(flows):
            texts.append("file: the traces send nothing")
        return texts

    def flows_between(self, hosts: Sequence[int]) -> Flows:
        """The flows of these hosts, one for each rank. Raises TraceError if traces do not fit together."""
        return self._play(self._traces, hosts)

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        return self.flows_between(self._hosts(network))


class TextJob(FileJob):
    """Base of jobs whose ranks' traces are one text."""

    content: str | None = Field(default=None, description="instead of a file: its text")

    def _lines(self) -> list[str]:
        """The text's lines. Raises OSError, and TraceError if there is no text."""
        self._place = "file" if self.file is None else f"file: {self.file}"
        if (self.file is None) == (self.content is None):
            raise TraceError("say either file or content")
        text = self.content or ""
        if self.file is not None:
            with naming(Path(self.file)):
                try:
                    text = read_text(self.file)
                except UnicodeDecodeError:
                    raise TraceError("it is not UTF-8 text") from None
        Budget().spend(size_bytes=len(text))
        return text.splitlines()

    def _at(self, line: int) -> None:
        """Makes errors name a line, the first being 1."""
        self._place = f"content:{line}" if self.file is None else f"file: {self.file}:{line}"

    def without_files(self) -> Self:
        """The same with its text in it."""
        content = "\n".join(self._lines())
        return type(self).model_validate({**self.model_dump(exclude={"file"}), "content": content})
