# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of a CSV file, with every fault in it named by its line."""

from __future__ import annotations

import csv
from typing import Literal, TextIO

from ns3_env.scenario.traffic.endless import ENDLESS, ENDLESS_BYTES
from ns3_env.scenario.traffic.flow_file import FlowsInFile

#: Columns of a CSV of flows, and the one that may be there.
CSV_COLUMNS = ("src", "dst", "size_bytes", "start_ns")
CONTROLLER = "controller"


class FlowFile(FlowsInFile):
    """Flows as a CSV has them: a header naming src, dst, size_bytes and start_ns, then a row for each flow.

    Columns may come in any order. The size of a flow that never ends is ``endless``. A column ``controller``
    may name each flow's; where it is empty the flow has that of the traffic, or the scenario's.
    """

    kind: Literal["csv"] = "csv"

    @property
    def kind_of_file(self) -> str:
        """See the base class."""
        return "CSV"

    def _take(self, text: TextIO) -> None:
        reader = csv.reader(text, strict=True)
        try:
            header = [name.strip() for name in next(reader, [])]
            named = CONTROLLER in header
            columns = (*CSV_COLUMNS, CONTROLLER) if named else CSV_COLUMNS
            if sorted(header) != sorted(columns):
                found = ",".join(header) or "nothing"
                self._wrong.add(
                    1,
                    f"the header must name {','.join(CSV_COLUMNS)}, and may name {CONTROLLER}; "
                    f"it names {found}",
                )
                return
            order = [header.index(name) for name in columns]
            seen: dict[tuple[int, int, int], int] = {}
            for row in reader:
                line = reader.line_num
                if not row:
                    continue
                if self._is_full(line):
                    return
                if len(row) != len(columns):
                    self._wrong.add(line, f"{len(row)} values, but there are {len(columns)} columns")
                    continue
                texts = {name: row[i].strip() for name, i in zip(columns, order, strict=True)}
                controller = texts.pop(CONTROLLER, "") or None
                if endless := texts["size_bytes"] == ENDLESS:
                    texts["size_bytes"] = str(ENDLESS_BYTES)
                numbers = self._wholes(line, texts)
                if numbers is None:
                    continue
                src, dst, size, start = numbers
                if src != dst and (first := seen.setdefault((src, dst, start), line)) != line:
                    self._wrong.add(line, f"the same src, dst and start_ns as line {first}")
                else:
                    self._add(line, src, dst, size, start, endless, controller)
        except csv.Error as error:
            self._wrong.add(reader.line_num, f"not a CSV: {error}")
        if not self._lines and not self._wrong:
            self._wrong.add(0, "no flows after the header")
