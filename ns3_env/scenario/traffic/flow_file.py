# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of files, read once, with each faulty row named by its line; those of a CSV."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, TextIO

import numpy as np
from pydantic import PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_BYTES, MAX_FLOWS, MAX_TIME_NS, WHY_FLOWS
from ns3_env.config.files import LineFaults, NamedFile
from ns3_env.config.json_list import JsonList
from ns3_env.config.model import shown
from ns3_env.config.units import SIZE, TIME, Dimension, quantity, whole
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import Flows, TrafficKind, host_fault
from ns3_env.scenario.traffic.listed import FlowList
from ns3_env.scenario.traffic.sizes import ENDLESS, ENDLESS_BYTES, size_of
from ns3_env.scenario.traffic.tasks import Tasks, named_waits

#: Characters in which a file's form shows.
_LOOK = 1024
_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
#: Columns of a CSV of flows, and those that may be there.
CSV_COLUMNS = ("src", "dst", "size_bytes", "start_ns")
MORE_COLUMNS = ("controller", "name", "after", "delay_ns", "id")
_DIMENSIONS = {"size_bytes": SIZE, "start_ns": TIME, "delay_ns": TIME}
#: Units of a column of starts whose name ends so; the nearest nanosecond is taken.
_START_UNITS = {f"start_{unit}": unit for unit in ("us", "ms", "s")}
#: Keys of other projects' flows in JSON, sizes in bytes and starts in nanoseconds.
_SAME = {"size": "size_bytes", "start": "start_ns"}
_DECIMAL = re.compile(r"[0-9]{1,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")


def _with_unit(text: str, dimension: Dimension | None) -> int:
    """The whole number of a text with a unit. Raises ValueError, always without a dimension."""
    if dimension is None:
        raise ValueError(text)
    return whole(text, dimension)


class FlowsInFile(TrafficKind):
    """Flows of a file. Those that start together start in the order of their rows.

    The file is read when the scenario is made. A relative ``file`` is looked for next to the scenario's
    file (for a scenario that has none, in the working directory).
    """

    #: Name in errors.
    kind_of_file: ClassVar[str] = "list of flows"

    file: NamedFile

    _flows: Flows = PrivateAttr(default_factory=Flows)
    _lines: list[int] = PrivateAttr(default_factory=list)
    _wrong: LineFaults = PrivateAttr(default_factory=LineFaults)

    def _take(self, text: TextIO) -> None:
        """Reads rows and hands each to ``_add``; faulty rows are reported to ``_wrong``."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _read(self) -> Self:
        self._wrong = LineFaults(self.file)
        self._wrong.read(self.kind_of_file, self._take)
        return self

    def _wholes(
        self, line: int, texts: dict[str, str], dimensions: Mapping[str, Dimension] = {}
    ) -> list[int] | None:
        """The columns' whole numbers; None, and a fault each, if one is invalid.

        ``dimensions``: of the columns that may have a unit.
        """
        numbers: list[int] = []
        for name, text in texts.items():
            dimension = dimensions.get(name)
            try:
                numbers.append(int(text) if _WHOLE.fullmatch(text) else _with_unit(text, dimension))
            except ValueError:
                fault = f"{name} is {text[:100]!r}, must be a whole number"
                self._wrong.add(
                    line, fault + (f" of {dimension.unit}; {dimension.takes}" if dimension else "")
                )
        return numbers if len(numbers) == len(texts) else None

    def _is_full(self, line: int) -> bool:
        """Returns whether the maximum number of flows is reached, which is a fault."""
        if len(self._lines) + len(self._wrong) < MAX_FLOWS:
            return False
        self._wrong.add(line, f"there may be at most {MAX_FLOWS} flows: {WHY_FLOWS}")
        return True

    def _add(
        self,
        line: int,
        src: int,
        dst: int,
        size_bytes: int,
        start_ns: int,
        endless: bool = False,
        controller: str | None = None,
    ) -> bool:
        """Adds a row, or reports its fault; ``size_bytes`` is ignored for an endless flow. A flow
        without its own controller has the traffic's."""
        if not (endless or 1 <= size_bytes <= MAX_BYTES):
            self._wrong.add(line, f"size_bytes is {size_bytes}, must be in [1, {MAX_BYTES}]")
        elif not 0 <= start_ns <= MAX_TIME_NS:
            self._wrong.add(line, f"start_ns is {start_ns}, must be in [0, {MAX_TIME_NS}]")
        elif src == dst:
            self._wrong.add(line, f"a flow from host {src} to itself")
        else:
            size = ENDLESS_BYTES if endless else size_bytes
            self._flows.add(src, dst, size, start_ns, controller or self.controller)
            self._lines.append(line)
            return True
        return False

    def named_controllers(self) -> set[str]:
        return super().named_controllers() | {name for name in self._flows.controller if name is not None}

    def faults(self, network: Network) -> list[str]:
        """Each faulty row, with the file's name and line."""
        strangers = [
            (line, x)
            for line, src, dst in zip(self._lines, self._flows.src, self._flows.dst, strict=True)
            for name, host in (("src", src), ("dst", dst))
            for x in host_fault(network, name, host)
        ]
        return self._wrong.texts(strangers)

    def senders_at(self, network: Network) -> Counter[int]:
        """Flows that start at the same instant."""
        together = Counter(zip(self._flows.dst, self._flows.start_ns, strict=True))
        most: Counter[int] = Counter()
        for (dst, _), flows in together.items():
            most[dst] = max(most[dst], flows)
        return most

    def expected_flows(self, network: Network) -> float:
        return len(self._flows)

    def first_start_ns(self) -> int | None:
        return min(self._flows.start_ns, default=None)

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        flows = Flows()
        flows.extend(self._flows)
        return flows

    def without_files(self) -> FlowList:
        """The flows, written out."""
        columns: Sequence[Sequence[int | str | None]] = (
            self._flows.src,
            self._flows.dst,
            [size_of(size) for size in self._flows.size_bytes],
            self._flows.start_ns,
            [None if name == self.controller else name for name in self._flows.controller],
        )
        names = ("src", "dst", "size_bytes", "start_ns", "controller")
        rows: list[dict[str, Any]] = [
            dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
        ]
        waits = self._flows.tasks.waits
        for flow in {other for wait in waits.values() for other in wait.after}:
            rows[flow]["name"] = str(flow)
        for flow, wait in waits.items():
            after = list(map(str, wait.after))
            rows[flow] |= {"after": after, "delay_ns": wait.delay_ns, "needed": wait.needed}
        common = {"controller": self.controller, "group": self.group}
        return FlowList.model_validate({**common, "flows": rows})

    def without_controllers(self) -> TrafficKind:
        return self.without_files().without_controllers() if self.named_controllers() else self


class FlowFile(FlowsInFile):
    """Flows as a CSV has them: a header naming src, dst, size_bytes and start_ns, then a row for each flow.

    Columns may come in any order; sizes and times may have units ("2MB", "1.5us"). The size of a flow that
    never ends is ``endless``. ``start_us``, ``start_ms`` or ``start_s`` may replace ``start_ns``, with
    numbers that are rounded to nanoseconds. A column ``controller`` may name each flow's; if it is empty the
    flow has that of the traffic, or the scenario's. ``name``, or ``id``, names a flow, ``after`` those that
    it waits for (with spaces between); it starts ``delay_ns`` later. A list of objects with these keys in
    JSON has the same keys; ``size`` and ``start`` are there in bytes and nanoseconds, as in Parsimon's files.
    """

    kind_of_file: ClassVar[str] = "CSV"

    kind: Literal["csv"] = "csv"

    #: Of each flow: its name, the flows it waits for, and its delay after them.
    _waits: list[tuple[str | None, list[str], int]] = PrivateAttr(default_factory=list)

    def _take(self, text: TextIO) -> None:
        is_json = text.read(_LOOK).lstrip().startswith("[")
        text.seek(0)
        if is_json:
            self._take_json(text)
        else:
            self._take_csv(text)
        self._tie()
        if not self._lines and not self._wrong:
            self._wrong.add(0, f"no flows {'in the list' if is_json else 'after the header'}")

    def _take_csv(self, text: TextIO) -> None:
        reader = csv.reader(text, strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
            if not self._are_columns(1, header, "header"):
                return
            for row in reader:
                line = reader.line_num
                if not row:
                    continue
                if self._is_full(line):
                    return
                if len(row) != len(header):
                    self._wrong.add(line, f"{len(row)} values, but there are {len(header)} columns")
                    continue
                self._take_flow(line, {name: x.strip() for name, x in zip(header, row, strict=True)})
        except csv.Error as error:
            self._wrong.add(reader.line_num, f"not a CSV: {error}")

    def _take_json(self, text: TextIO) -> None:
        rows = JsonList(text)
        columns: set[tuple[str, ...]] = set()
        try:
            for flow in rows.objects():
                if self._is_full(rows.line):
                    return
                names = [_SAME.get(key, key) for key in flow]
                if tuple(names) not in columns:
                    if not self._are_columns(rows.line, names, "flow"):
                        return
                    columns.add(tuple(names))
                row = dict(zip(names, map(_text, flow.values()), strict=True))
                self._take_flow(rows.line, row)
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            self._wrong.add(rows.line, str(error))

    def _are_columns(self, line: int, names: list[str], what: str) -> bool:
        """Returns whether these are the columns of a flow; otherwise that is a fault."""
        needed = {"start_ns" if name in _START_UNITS else name for name in names} - set(MORE_COLUMNS)
        if needed == set(CSV_COLUMNS) and len(set(names)) == len(names) and _one_start(names):
            return True
        listing = ",".join(names) or "nothing"
        self._wrong.add(
            line,
            f"the {what} must name {','.join(CSV_COLUMNS)}, and may name "
            f"{', '.join(MORE_COLUMNS)}; it names {shown(listing)[1:-1]}",
        )
        return False

    def _take_flow(self, line: int, texts: dict[str, str]) -> None:
        """Reads a row by its columns' names."""
        controller, after = texts.pop("controller", ""), texts.pop("after", "")
        name, number = texts.pop("name", ""), texts.pop("id", "")
        start = next(key for key in texts if key.startswith("start_"))
        row = {
            **{key: texts[key] for key in CSV_COLUMNS[:3]},
            "start_ns": _in_ns(texts[start], _START_UNITS.get(start)),
            "delay_ns": texts.get("delay_ns") or "0",
        }
        if endless := row["size_bytes"] == ENDLESS:
            row["size_bytes"] = str(ENDLESS_BYTES)
        numbers = self._wholes(line, row, _DIMENSIONS)
        if numbers is None:
            return
        src, dst, size, start_ns, delay = numbers
        if not 0 <= delay <= MAX_TIME_NS:
            self._wrong.add(line, f"delay_ns is {delay}, must be in [0, {MAX_TIME_NS}]")
        elif self._add(line, src, dst, size, start_ns, endless, controller or None):
            self._waits.append((name or number or None, after.split(), delay))

    def _tie(self) -> None:
        """Turns names into waits of flows for each other; names of faulty rows are unknown."""
        if not self._wrong and any(after or delay for _, after, delay in self._waits):
            names, after, delays = zip(*self._waits, strict=True)
            waits, wrong = named_waits(names, after, delays)
            self._flows.tasks = Tasks.waiting(waits)
            for flow, text in wrong.items():
                self._wrong.add(self._lines[flow], text)


def _one_start(names: Sequence[str]) -> bool:
    return sum(name.startswith("start_") for name in names) == 1


def _in_ns(text: str, unit: str | None) -> str:
    """A number of this unit as whole nanoseconds, the nearest; other texts stay, as all without a unit."""
    if unit is None or not _DECIMAL.fullmatch(text):
        return text
    return str(round(quantity(text + unit, TIME)))


def _text(value: Any) -> str:
    """A value of JSON as a column has it: of a list the names, with spaces between; of null nothing."""
    if isinstance(value, list):
        return " ".join(x if isinstance(x, str) else shown(x) for x in value)
    if value is None:
        return ""
    is_short = isinstance(value, str) or (isinstance(value, int) and value.bit_length() <= 64)
    return str(value) if is_short else shown(value)
