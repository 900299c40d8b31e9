# SPDX-License-Identifier: GPL-2.0-or-later
"""Which flows are there, and when do they start? Incast, long-short, joining flows, Poisson, lists, CSV."""

from __future__ import annotations

import csv
import itertools
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from ns3_env.strict import Strict
from ns3_env.topology import Network

#: Flow-size distributions: (bytes, percent of flows no larger), linear between points
#: (SYSTEMS.md, section 7).
SIZE_CDFS: dict[str, list[tuple[float, float]]] = {
    "websearch": [
        (0, 0),
        (10_000, 15),
        (20_000, 20),
        (30_000, 30),
        (50_000, 40),
        (80_000, 53),
        (200_000, 60),
        (1_000_000, 70),
        (2_000_000, 80),
        (5_000_000, 90),
        (10_000_000, 97),
        (30_000_000, 100),
    ],
    "fb_hadoop": [
        (0, 0),
        (100, 1),
        (200, 2),
        (300, 5),
        (350, 15),
        (400, 20),
        (500, 30),
        (600, 40),
        (700, 50),
        (1_000, 60),
        (2_000, 67),
        (7_000, 70),
        (30_000, 72),
        (50_000, 82),
        (80_000, 87),
        (120_000, 90),
        (300_000, 95),
        (1_000_000, 97.5),
        (2_000_000, 99),
        (10_000_000, 100),
    ],
}


@dataclass
class Flows:
    """Columns of a flow list; ``controller`` holds the controller's name, None where the scenario decides."""

    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    size_bytes: list[int] = field(default_factory=list)
    start_ns: list[int] = field(default_factory=list)
    controller: list[str | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.src)

    def add(self, src: int, dst: int, size_bytes: int, start_ns: int, controller: str | None) -> None:
        """Appends a flow."""
        self.src.append(src)
        self.dst.append(dst)
        self.size_bytes.append(size_bytes)
        self.start_ns.append(start_ns)
        self.controller.append(controller)

    def extend(self, other: Flows) -> None:
        """Appends another list."""
        self.src += other.src
        self.dst += other.dst
        self.size_bytes += other.size_bytes
        self.start_ns += other.start_ns
        self.controller += other.controller


def mean_size_bytes(cdf: Sequence[tuple[float, float]]) -> float:
    """Mean of a size distribution given by points, linear between them."""
    return sum((q - p) / 100 * (x + y) / 2 for (x, p), (y, q) in itertools.pairwise(cdf))


def sample_sizes(
    cdf: Sequence[tuple[float, float]], count: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """``count`` flow sizes (bytes, at least 1) drawn from a distribution."""
    sizes, percents = np.array(cdf, dtype=np.float64).T
    drawn = np.interp(random.random(count) * 100, percents, sizes)
    whole: NDArray[np.int64] = np.maximum(np.rint(drawn), 1).astype(np.int64)
    return whole


class _Common(Strict):
    """What every kind of traffic has."""

    controller: str | None = Field(
        default=None, description="name of these flows' controller; none: the scenario's"
    )

    def faults(self, network: Network) -> list[str]:
        """What does not fit the network, as "key: text"."""
        return []

    def named_controllers(self) -> set[str]:
        """Names of the controllers that this traffic itself gives to flows."""
        return set() if self.controller is None else {self.controller}

    def senders_at(self, network: Network) -> Counter[int]:
        """Flows that send to each host at the same time; empty where that is not known beforehand."""
        return Counter()


def _host_fault(network: Network, key: str, host: int) -> list[str]:
    if host in network.access:
        return []
    return [f"{key}: there is no host {host}; hosts are {network.hosts[0]} to {network.hosts[-1]}"]


class Incast(_Common):
    """Many flows to one receiver.

    ``receiver`` is by default the last host; ``senders`` all hosts of other access switches (all other hosts
    where there is one access switch only). With more flows than senders each sender has several. Starts lie
    in [start_ns, start_ns + spread_ns], Gaussian (mean in the middle, three standard deviations to each end;
    Zhang 2023, section 5.2) or uniform.
    """

    kind: Literal["incast"] = "incast"
    flows: int | None = Field(default=None, ge=1, description="number of flows; none: one per sender")
    size_bytes: int = Field(default=20_000_000, ge=1, description="of each flow")
    receiver: int | None = Field(default=None, ge=0)
    senders: list[int] | None = Field(default=None, min_length=1)
    start_ns: int = Field(default=0, ge=0)
    spread_ns: int = Field(default=0, ge=0)
    distribution: Literal["gaussian", "uniform"] = "gaussian"

    def _ends(self, network: Network) -> tuple[list[int], int]:
        receiver = network.hosts[-1] if self.receiver is None else self.receiver
        if self.senders is not None:
            return self.senders, receiver
        near = network.access_switch(receiver)
        others = [host for host in network.hosts if host != receiver]
        return [host for host in others if network.access_switch(host) != near] or others, receiver

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        if self.receiver is not None and (fault := _host_fault(network, "receiver", self.receiver)):
            return fault
        senders, receiver = self._ends(network)
        found = [
            fault for i, host in enumerate(senders) for fault in _host_fault(network, f"senders.{i}", host)
        ]
        if receiver in senders:
            found.append(f"senders.{senders.index(receiver)}: a flow from host {receiver} to itself")
        return found

    def senders_at(self, network: Network) -> Counter[int]:
        """See the base class."""
        senders, receiver = self._ends(network)
        return Counter({receiver: self.flows or len(senders)})

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        senders, receiver = self._ends(network)
        n = self.flows or len(senders)
        if self.distribution == "gaussian":
            offsets = np.clip(random.normal(self.spread_ns / 2, self.spread_ns / 6, n), 0, self.spread_ns)
        else:
            offsets = random.uniform(0, self.spread_ns, n)
        flows = Flows()
        for i, offset in enumerate(offsets):
            start = self.start_ns + round(float(offset))
            flows.add(senders[i % len(senders)], receiver, self.size_bytes, start, self.controller)
        return flows


class LongShort(_Common):
    """A long flow and a short one (Zhang 2023, section 6.1), from hosts 0 and 1 to the last host."""

    kind: Literal["long_short"] = "long_short"
    long_bytes: int = Field(default=25_000_000, ge=1)
    short_bytes: int = Field(default=2_000_000, ge=1)
    short_start_ns: int = Field(default=1_000_000, ge=0)

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        return ["kind: long-short traffic needs at least three hosts"] if len(network.hosts) < 3 else []

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        flows = Flows()
        flows.add(network.hosts[0], network.hosts[-1], self.long_bytes, 0, self.controller)
        flows.add(network.hosts[1], network.hosts[-1], self.short_bytes, self.short_start_ns, self.controller)
        return flows


class Joining(_Common):
    """Flows that join a link one after the other (Zhang 2023, Fig. 6.2; Zheng 2024, Exp. 2).

    Flow i starts at i x interval_ns from host i to the last host.
    """

    kind: Literal["joining"] = "joining"
    sizes_bytes: list[Annotated[int, Field(ge=1)]] = Field(default=[1_000_000_000] * 4, min_length=1)
    interval_ns: int = Field(default=35_000_000, gt=0)

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        free = len(network.hosts) - 1
        if len(self.sizes_bytes) > free:
            return [f"sizes_bytes: {len(self.sizes_bytes)} flows, but only {free} hosts to send them"]
        return []

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        flows = Flows()
        for i, size in enumerate(self.sizes_bytes):
            flows.add(network.hosts[i], network.hosts[-1], size, i * self.interval_ns, self.controller)
        return flows


class Poisson(_Common):
    """Flows of random size between random hosts, so that each host sends at ``load`` of its link.

    Each host's gaps are exponential with mean 8 x mean size / (load x host rate) (SYSTEMS.md, section 7).
    """

    kind: Literal["poisson"] = "poisson"
    sizes: str | list[tuple[float, float]] = Field(
        default="websearch", description="name of a distribution, or its points (bytes, percent)"
    )
    load: float = Field(default=0.3, gt=0, le=1)
    duration_ns: int = Field(default=10_000_000, gt=0, description="flows start before")

    @field_validator("sizes")
    @classmethod
    def _is_distribution(cls, sizes: str | list[tuple[float, float]]) -> str | list[tuple[float, float]]:
        if isinstance(sizes, str):
            if sizes not in SIZE_CDFS:
                raise ValueError(f"unknown distribution {sizes!r}; known: {', '.join(sorted(SIZE_CDFS))}")
            return sizes
        ascending = all(x <= y and p <= q for (x, p), (y, q) in itertools.pairwise(sizes))
        if len(sizes) < 2 or not ascending or sizes[0][1] != 0 or sizes[-1][1] != 100 or sizes[0][0] < 0:
            raise ValueError("points (bytes, percent) must ascend, from 0 to 100 percent")
        if sizes[-1][0] <= 0:
            raise ValueError("sizes must be positive")
        return sizes

    @property
    def cdf(self) -> list[tuple[float, float]]:
        """The distribution's points."""
        return SIZE_CDFS[self.sizes] if isinstance(self.sizes, str) else self.sizes

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list, by start time. At least one flow."""
        mean = mean_size_bytes(self.cdf)
        hosts = network.hosts
        rows: list[tuple[int, int]] = []
        soonest: tuple[float, int] | None = None
        for host in hosts:
            gap_ns = 8e9 * mean / (self.load * network.access[host].rate_bps)
            at = random.exponential(gap_ns)
            if soonest is None or at < soonest[0]:
                soonest = (at, host)
            while at < self.duration_ns:
                rows.append((int(at), host))
                at += random.exponential(gap_ns)
        if not rows and soonest is not None:
            rows.append((0, soonest[1]))
        rows.sort()
        sizes = sample_sizes(self.cdf, len(rows), random)
        others = random.integers(len(hosts) - 1, size=len(rows))
        position = {host: i for i, host in enumerate(hosts)}
        flows = Flows()
        for (start, src), size, other in zip(rows, sizes, others, strict=True):
            dst = hosts[int(other) + (int(other) >= position[src])]
            flows.add(src, dst, int(size), start, self.controller)
        return flows


class Flow(Strict):
    """One flow of a list."""

    src: int = Field(ge=0)
    dst: int = Field(ge=0)
    size_bytes: int = Field(ge=1)
    start_ns: int = Field(default=0, ge=0)
    controller: str | None = None


class FlowList(_Common):
    """Flows as written."""

    kind: Literal["list"] = "list"
    flows: list[Flow] = Field(min_length=1)

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        found = []
        for i, flow in enumerate(self.flows):
            found += _host_fault(network, f"flows.{i}.src", flow.src)
            found += _host_fault(network, f"flows.{i}.dst", flow.dst)
            if flow.src == flow.dst:
                found.append(f"flows.{i}.dst: a flow from host {flow.src} to itself")
        return found

    def named_controllers(self) -> set[str]:
        """See the base class."""
        return super().named_controllers() | {x.controller for x in self.flows if x.controller is not None}

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        flows = Flows()
        for x in self.flows:
            flows.add(x.src, x.dst, x.size_bytes, x.start_ns, x.controller or self.controller)
        return flows


#: Columns of a CSV of flows.
CSV_COLUMNS = ("src", "dst", "size_bytes", "start_ns")

#: Latest start: an hour and more, as in ``Scenario.time_limit_ns``.
_MAX_START_NS = 4_000_000_000_000
_MAX_SIZE_BYTES = 2**53
_FAULTS_SHOWN = 10


class FlowFile(_Common):
    """Flows as a CSV has them: a header naming src, dst, size_bytes and start_ns, then a row for each flow.

    Columns may come in any order. Flows that start together start in the order of their rows. The file is
    read once, when the scenario is made. A relative ``file`` is looked for beside the scenario's own file
    (for a scenario that has none, in the working directory).
    """

    kind: Literal["csv"] = "csv"
    file: str = Field(min_length=1)

    _flows: Flows = PrivateAttr(default_factory=Flows)
    _lines: list[int] = PrivateAttr(default_factory=list)
    _wrong: list[tuple[int, str]] = PrivateAttr(default_factory=list)  # line (0: the file), text

    @field_validator("file")
    @classmethod
    def _beside_the_scenario(cls, file: str, info: ValidationInfo) -> str:
        folder = (info.context or {}).get("folder", "")
        return os.path.abspath(os.path.join(folder, file))

    @model_validator(mode="after")
    def _read(self) -> FlowFile:
        try:
            with open(self.file, newline="", encoding="utf-8-sig") as lines:
                reader = csv.reader(lines, strict=True)
                try:
                    self._take(reader)
                except csv.Error as error:
                    self._refuse(reader.line_num, f"not a CSV: {error}")
        except OSError as error:
            self._refuse(0, error.strerror or str(error))
        except UnicodeDecodeError:
            self._refuse(0, "not a CSV: it is not UTF-8 text")
        return self

    def _take(self, reader: Any) -> None:
        header = [name.strip() for name in next(reader, [])]
        if sorted(header) != sorted(CSV_COLUMNS):
            found = ",".join(header) or "nothing"
            self._refuse(1, f"the header must name {','.join(CSV_COLUMNS)}; it names {found}")
            return
        order = [header.index(name) for name in CSV_COLUMNS]
        seen: dict[tuple[int, int, int], int] = {}
        for row in reader:
            line = reader.line_num
            if not row:
                continue
            if len(row) != len(CSV_COLUMNS):
                self._refuse(line, f"{len(row)} values, but there are {len(CSV_COLUMNS)} columns")
                continue
            texts = {name: row[i].strip() for name, i in zip(CSV_COLUMNS, order, strict=True)}
            wrong = [name for name, text in texts.items() if not re.fullmatch(r"[+-]?[0-9]{1,30}", text)]
            for name in wrong:
                self._refuse(line, f"{name} is {texts[name]!r}, must be a whole number")
            if wrong:
                continue
            src, dst, size, start = (int(texts[name]) for name in CSV_COLUMNS)
            if not 1 <= size <= _MAX_SIZE_BYTES:
                self._refuse(line, f"size_bytes is {size}, must be in [1, {_MAX_SIZE_BYTES}]")
            elif not 0 <= start <= _MAX_START_NS:
                self._refuse(line, f"start_ns is {start}, must be in [0, {_MAX_START_NS}]")
            elif src == dst:
                self._refuse(line, f"a flow from host {src} to itself")
            elif (first := seen.setdefault((src, dst, start), line)) != line:
                self._refuse(line, f"the same src, dst and start_ns as line {first}")
            else:
                self._flows.add(src, dst, size, start, self.controller)
                self._lines.append(line)
        if not self._lines and not self._wrong:
            self._refuse(0, "no flows after the header")

    def _refuse(self, line: int, text: str) -> None:
        self._wrong.append((line, text))

    def faults(self, network: Network) -> list[str]:
        """See the base class: each faulty row, with the CSV's name and line."""
        wrong = list(self._wrong)
        for line, src, dst in zip(self._lines, self._flows.src, self._flows.dst, strict=True):
            wrong += [
                (line, x)
                for name, host in (("src", src), ("dst", dst))
                for x in _host_fault(network, name, host)
            ]
        wrong.sort(key=lambda fault: fault[0])
        place = f"file: {self.file}"
        found = [
            f"{place}:{line}: {text}" if line else f"{place}: {text}" for line, text in wrong[:_FAULTS_SHOWN]
        ]
        if len(wrong) > _FAULTS_SHOWN:
            found.append(f"{place}: {len(wrong) - _FAULTS_SHOWN} more faults like these")
        return found

    def senders_at(self, network: Network) -> Counter[int]:
        """See the base class: flows that start at the same instant."""
        together = Counter(zip(self._flows.dst, self._flows.start_ns, strict=True))
        most: Counter[int] = Counter()
        for (dst, _), flows in together.items():
            most[dst] = max(most[dst], flows)
        return most

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        flows = Flows()
        flows.extend(self._flows)
        return flows


class Mix(_Common):
    """Several kinds of traffic at once, one flow list after the other."""

    kind: Literal["mix"] = "mix"
    parts: list[Traffic] = Field(min_length=1)

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        return [f"parts.{i}.{fault}" for i, part in enumerate(self.parts) for fault in part.faults(network)]

    def named_controllers(self) -> set[str]:
        """See the base class."""
        return super().named_controllers().union(*(part.named_controllers() for part in self.parts))

    def senders_at(self, network: Network) -> Counter[int]:
        """See the base class."""
        return sum((part.senders_at(network) for part in self.parts), Counter())

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list; each part draws from a generator of its own: parts do not disturb each other."""
        flows = Flows()
        for part, own in zip(self.parts, random.spawn(len(self.parts)), strict=True):
            flows.extend(part.generate(network, own))
        return flows


Traffic = Annotated[
    Incast | LongShort | Joining | Poisson | FlowList | FlowFile | Mix, Field(discriminator="kind")
]
Mix.model_rebuild(_types_namespace={"Traffic": Traffic})
