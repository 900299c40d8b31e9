# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a link's rate over time: mahimahi's, Pensieve's, and a CSV with units."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TextIO

from ns3_env.config.bounds import MAX_DELAY_NS, MAX_RATE_BPS, MAX_TIME_NS, MIN_LINK_RATE_BPS
from ns3_env.config.files import LineFaults
from ns3_env.config.model import shown
from ns3_env.config.units import RATE, TIME, quantity

MS_NS = 1_000_000
#: Each line of mahimahi is a packet of 1500 B that may leave in that millisecond (Netravali 2015).
_PACKET_BPS = 8 * 1500 * 1000.0
#: Columns of a CSV; the last one may be missing.
COLUMNS = ("at_ns", "rate_bps", "delay_ns")
FORMS = (
    "mahimahi's (a whole number of ms in each line), Pensieve's (seconds and Mb/s), or a CSV with the "
    f"columns {', '.join(COLUMNS[:2])} and, if it changes, {COLUMNS[2]}"
)
_NUMBERS = re.compile(r"[-+.\deE]+(\s+[-+.\deE]+)*")

Lines = Iterable[tuple[int, str]]


class Step(NamedTuple):
    """Rate (bit/s) of a link from a time (ns) on, and its delay (ns; None: as the topology has it)."""

    at_ns: int
    rate_bps: float
    delay_ns: int | None = None


class Steps(NamedTuple):
    """Steps of a link from time 0 on, and the time (ns) after which they may repeat."""

    rows: list[Step]
    period_ns: int


def steps_of(rows: Iterable[Step]) -> Steps:
    """Returns steps whose times count from the first one; the last one lasts as long as the one before.

    Rates below the lowest of a link, 10 kb/s, are 0.
    """
    steps: list[Step] = []
    first = before = at = None
    for row in rows:
        first = row.at_ns if first is None else first
        before, at = at, row.at_ns - first
        step = Step(at, row.rate_bps if row.rate_bps >= MIN_LINK_RATE_BPS else 0.0, row.delay_ns)
        if not steps or steps[-1][1:] != step[1:]:
            steps.append(step)
    return Steps(steps, 2 * at - before if at and before is not None else MS_NS)


class RateFile:
    """A file of a link's rate.

    Attributes:
        faults: its faults, each with its line.
        steps: its steps; none if there is a fault.
    """

    def __init__(self, file: str) -> None:
        self.faults = LineFaults(file)
        self.steps = Steps([], 0)
        self._last_ns = -1
        self.faults.read("file of a link's rate", self._take)

    def _take(self, text: TextIO) -> None:
        lines = ((number, line.strip()) for number, line in enumerate(text, 1) if line.strip())
        first = next(lines, None)
        if first is None:
            self.faults.add(0, f"has no line; a file of a link's rate is {FORMS}")
            return
        all_lines = itertools.chain([first], lines)
        if not _NUMBERS.fullmatch(first[1]):
            steps = steps_of(self._csv_rows(all_lines))
        elif " " in first[1] or "\t" in first[1]:
            steps = steps_of(self._pensieve_rows(all_lines))
        else:
            steps = _mahimahi_steps(self._milliseconds(all_lines))
        if not self.faults and not any(step.rate_bps for step in steps.rows):
            self.faults.add(0, "no line has a rate above 0: the link would never send")
        if not self.faults:
            self.steps = steps

    def _milliseconds(self, lines: Lines) -> Iterator[int]:
        """The whole numbers of a mahimahi file, which never fall."""
        before = 0
        for number, line in lines:
            if not (line.isascii() and line.isdigit()) or int(line[:18]) * MS_NS > MAX_TIME_NS:
                self.faults.add(
                    number, f"{shown(line)} is no whole number of ms, at most {MAX_TIME_NS // MS_NS}"
                )
            elif int(line) < before:
                self.faults.add(number, f"{line} ms comes after {before} ms: times never fall")
            else:
                before = int(line)
                yield before

    def _pensieve_rows(self, lines: Lines) -> Iterator[Step]:
        for number, line in lines:
            cells = [f"{cell}{unit}" for cell, unit in zip(line.split(), ("s", "Mbps"), strict=False)]
            yield from self._step(number, cells)

    def _csv_rows(self, lines: Lines) -> Iterator[Step]:
        width = 0
        for number, line in lines:
            try:
                row = [cell.strip() for cell in next(csv.reader([line]))]
            except csv.Error as error:
                self.faults.add(number, f"no CSV: {error}")
                return
            if not width and tuple(row) not in (COLUMNS, COLUMNS[:2]):
                self.faults.add(number, f"{shown(', '.join(row))}: a file of a link's rate is {FORMS}")
                return
            if not width:
                width = len(row)
            elif len(row) == width:
                yield from self._step(number, row)
            else:
                self.faults.add(number, f"{len(row)} columns, must be {width}")

    def _step(self, number: int, cells: list[str]) -> Iterator[Step]:
        """The step of a line's cells, or nothing and a fault."""
        bounds = ((TIME, MAX_TIME_NS), (RATE, MAX_RATE_BPS), (TIME, MAX_DELAY_NS))
        values = []
        for name, cell, (dimension, most) in zip(COLUMNS, cells, bounds, strict=False):
            try:
                value = float(quantity(cell, dimension))
            except ValueError as error:
                self.faults.add(number, f"{name}: {error}")
                return
            if not 0 <= value <= most:
                self.faults.add(number, f"{name} is {shown(cell)}, must be in [0, {most:g} {dimension.unit}]")
                return
            values.append(value)
        if len(values) < 2:
            self.faults.add(number, f"{shown(' '.join(cells))}: a time and a rate are needed")
            return
        if (at_ns := round(values[0])) <= self._last_ns:
            self.faults.add(number, f"{shown(cells[0])} is not after the line above: times ascend")
            return
        self._last_ns = at_ns
        yield Step(at_ns, values[1], round(values[2]) if len(values) > 2 else None)


def _mahimahi_steps(milliseconds: Iterable[int]) -> Steps:
    """Packets of each ms as a rate; the file repeats after its last ms."""
    steps: list[Step] = []
    end = 0

    def add(begin: int, packets: int) -> None:
        if not steps or steps[-1].rate_bps != packets * _PACKET_BPS:
            steps.append(Step(begin * MS_NS, packets * _PACKET_BPS))

    for ms, packets in itertools.groupby(max(ms, 1) for ms in milliseconds):
        if ms - 1 > end:
            add(end, 0)
        add(ms - 1, sum(1 for _ in packets))
        end = ms
    return Steps(steps, end * MS_NS)
