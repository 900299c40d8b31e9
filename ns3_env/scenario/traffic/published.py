# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of a flow.txt of the published simulator."""

from __future__ import annotations

import re
import warnings
from typing import Literal, TextIO

from pydantic import PrivateAttr

from ns3_env.config.model import shown
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.topology.published import PublishedText, nanoseconds
from ns3_env.scenario.traffic.flow_file import FlowsInFile
from ns3_env.scenario.traffic.kind import DATA_GROUP, MAX_GROUP
from ns3_env.scenario.traffic.listed import FlowList

_COLUMNS = ("src", "dst", "priority_group", "dst_port", "size_bytes", "start_time")
#: Forks of the published simulator write a flow's id before them.
_COLUMNS_WITH_ID = ("id", *_COLUMNS)
_SECONDS = re.compile(r"[0-9]{1,10}(\.[0-9]{0,30})?")
#: Priority group of every flow here, and in the published files (docs/sources/published-simulator.md).
DESTINATION_PORT = 100


class PublishedFlows(FlowsInFile):
    """A flow.txt of the published simulator, as it is (docs/sources/published-simulator.md, "Files").

    The number of flows, then a row for each: src, dst, priority group, destination port, size in bytes, start
    in seconds, which is cut to nanoseconds as its double is there; in files of some forks an id precedes
    src. A network has one data class: all have the
    same priority group. Switches neither mark, pause nor lose group 0.
    """

    kind: Literal["published"] = "published"

    _group: int = PrivateAttr(default=DATA_GROUP)

    def priority_groups(self) -> set[int]:
        return {self._group}

    def without_files(self) -> FlowList:
        return super().without_files().model_copy(update={"priority_group": self._group})

    def _take(self, text: TextIO) -> None:
        words = PublishedText(text)
        ports: set[int] = set()
        try:
            flows = words.count("the number of flows")
            what = f"one of {flows} flows"
            columns = _COLUMNS_WITH_ID if flows and words.width(what) == len(_COLUMNS_WITH_ID) else _COLUMNS
            for _ in range(flows):
                row = words.row(columns, what)[-len(_COLUMNS) :]
                line = words.line
                if self._is_full(line):
                    return
                numbers = self._wholes(line, dict(zip(_COLUMNS, row[:-1], strict=False)))
                if numbers is None:
                    continue
                src, dst, group, port, size = numbers
                start = _nanoseconds(row[-1])
                if start is None:
                    self._wrong.add(line, f"start_time is {shown(row[-1])}, must be seconds")
                    continue
                if not 0 <= group <= MAX_GROUP:
                    self._wrong.add(line, f"priority_group is {group}, must be in [0, {MAX_GROUP}]")
                    return
                if ports and group != self._group:
                    self._wrong.add(
                        line,
                        f"priority group {group} after {self._group}: a network has one data class; give "
                        "all flows the same",
                    )
                    return
                self._group = group
                ports.add(port)
                self._add(line, src, dst, size, start)
            words.pass_over(self.file, columns, f"{flows} flows")
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            self._wrong.add(words.line, str(error))
        if not self._lines and not len(self._wrong):
            self._wrong.add(0, "no flows after the first line")
        if ports - {DESTINATION_PORT}:
            warnings.warn(
                f"{self.file}: destination ports other than {DESTINATION_PORT} are not kept: flows go to "
                f"{DESTINATION_PORT}, and may take another of several equal paths than as published",
                ScenarioWarning,
                stacklevel=2,
            )


def _nanoseconds(seconds: str) -> int | None:
    """None for a text that is no number of seconds."""
    return nanoseconds(seconds, "s") if _SECONDS.fullmatch(seconds) else None
