# SPDX-License-Identifier: GPL-2.0-or-later
"""Which flows does a CSV file hold? Every fault in it is named with its line."""

from __future__ import annotations

import csv
from typing import Literal, TextIO

from ns3_env.traffic.endless import ENDLESS, ENDLESS_BYTES
from ns3_env.traffic.flow_file import FlowsInFile

#: Columns of a CSV of flows.
CSV_COLUMNS = ("src", "dst", "size_bytes", "start_ns")


class FlowFile(FlowsInFile):
    """Flows as a CSV has them: a header naming src, dst, size_bytes and start_ns, then a row for each flow.

    Columns may come in any order. The size of a flow that never ends is ``endless``.
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
            if sorted(header) != sorted(CSV_COLUMNS):
                found = ",".join(header) or "nothing"
                self._wrong.add(1, f"the header must name {','.join(CSV_COLUMNS)}; it names {found}")
                return
            order = [header.index(name) for name in CSV_COLUMNS]
            seen: dict[tuple[int, int, int], int] = {}
            for row in reader:
                line = reader.line_num
                if not row:
                    continue
                if self._is_full(line):
                    return
                if len(row) != len(CSV_COLUMNS):
                    self._wrong.add(line, f"{len(row)} values, but there are {len(CSV_COLUMNS)} columns")
                    continue
                texts = {name: row[i].strip() for name, i in zip(CSV_COLUMNS, order, strict=True)}
                if endless := texts["size_bytes"] == ENDLESS:
                    texts["size_bytes"] = str(ENDLESS_BYTES)
                numbers = self._wholes(line, texts)
                if numbers is None:
                    continue
                src, dst, size, start = numbers
                if src != dst and (first := seen.setdefault((src, dst, start), line)) != line:
                    self._wrong.add(line, f"the same src, dst and start_ns as line {first}")
                else:
                    self._add(line, src, dst, size, start, endless)
        except csv.Error as error:
            self._wrong.add(reader.line_num, f"not a CSV: {error}")
        if not self._lines and not self._wrong:
            self._wrong.add(0, "no flows after the header")
