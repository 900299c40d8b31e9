# SPDX-License-Identifier: GPL-2.0-or-later
"""Table of lost packets: ports and causes of each controller, where there were any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ns3_env.eval.benchmark.folder import Cell
from ns3_env.eval.benchmark.frames import read_losses

#: What a cause of ``ns3_env.simulator.results`` means to a reader.
CAUSES = {"buffer_full": "buffer full", "link": "lost on the link", "failure": "link or switch down"}
#: Ports of a controller that are shown, those that lost most; the others stand in a row together.
SHOWN = 4
#: Headings of the rows of ``of_scenario``.
HEADINGS = ("controller", "port (node:port, to node)", "cause", "packets", "payload (kB)")


@dataclass(frozen=True)
class LostRow:
    """What one controller lost at one port by one cause; ``packets``, ``payload_kb``: means over seeds."""

    controller: str
    port: str
    cause: str
    packets: float
    payload_kb: float

    @property
    def texts(self) -> tuple[str, ...]:
        """As shown, a text for each of ``HEADINGS``."""
        return self.controller, self.port, self.cause, f"{self.packets:,.1f}", f"{self.payload_kb:,.1f}"


def of_scenario(names: Sequence[str], cells: Sequence[Cell]) -> list[LostRow]:
    """Rows by controller, ports that lost most first.

    Args:
        names: controllers, in order.
        cells: complete cells of one scenario.

    Raises:
        ScenarioError: a cell's file cannot be read.
    """
    rows = []
    for name in names:
        own = [cell for cell in cells if cell.controller == name]
        tables = [table for cell in own if (table := read_losses(cell)) is not None]
        packets: Counter[tuple[str, str]] = Counter()
        payload: Counter[tuple[str, str]] = Counter()
        for lost in (lost for table in tables for lost in table.itertuples()):
            port = f"{lost.node:.0f}:{lost.port:.0f}, to {lost.peer:.0f}"
            key = (port, CAUSES.get(lost.cause, lost.cause))
            packets[key] += lost.packets
            payload[key] += lost.payload_bytes
        most = [key for key, _ in packets.most_common()]
        kept, others = most[:SHOWN], most[SHOWN:]
        if len(others) == 1:  # a row of its own is no longer than one for "1 other"
            kept, others = most, []
        rows += [LostRow(name, *key, packets[key] / len(own), payload[key] / len(own) / 1000) for key in kept]
        if others:
            ports = len({port for port, _ in others})
            causes = " and ".join(sorted({cause for _, cause in others}))
            total = sum(packets[key] for key in others) / len(own)
            kb = sum(payload[key] for key in others) / len(own) / 1000
            rows.append(LostRow(name, f"{ports} other ports", causes, total, kb))
    return rows
