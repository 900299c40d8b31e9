# SPDX-License-Identifier: GPL-2.0-or-later
"""Which flows does a CSV file hold? Every fault in it is named with its line."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from typing import Any, Literal

import numpy as np
from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from ns3_env.bounds import MAX_BYTES, MAX_FLOWS, MAX_TIME_NS, WHY_FLOWS
from ns3_env.files import check_plain
from ns3_env.topology import Network
from ns3_env.traffic.kind import Flows, TrafficKind, host_fault

#: Columns of a CSV of flows.
CSV_COLUMNS = ("src", "dst", "size_bytes", "start_ns")

_FAULTS_SHOWN = 10


class FlowFile(TrafficKind):
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
            check_plain(self.file)
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
            if len(self._lines) + len(self._wrong) >= MAX_FLOWS:
                self._refuse(line, f"there may be at most {MAX_FLOWS} flows: {WHY_FLOWS}")
                return
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
            if not 1 <= size <= MAX_BYTES:
                self._refuse(line, f"size_bytes is {size}, must be in [1, {MAX_BYTES}]")
            elif not 0 <= start <= MAX_TIME_NS:
                self._refuse(line, f"start_ns is {start}, must be in [0, {MAX_TIME_NS}]")
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
                for x in host_fault(network, name, host)
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

    def expected_flows(self, network: Network) -> float:
        """See the base class."""
        return len(self._flows)

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        flows = Flows()
        flows.extend(self._flows)
        return flows
