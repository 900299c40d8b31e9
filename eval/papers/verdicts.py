# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on claims: a claim holds where it does in every case and against everybody it names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ns3_env.eval.papers.outcome import Claim, Measured
from ns3_env.eval.papers.show import number

#: Numbers by case ("16-to-1"), entry and name.
Table = Mapping[str, Mapping[str, Measured]]
#: Whether the first number, of whom the claim is, bears it out against the second.
Wins = Callable[[float, float], bool]

#: "Comparable": no more below the best of the others, as a share of it.
COMPARABLE = 0.1
#: Places that evidence names.
_NAMED = 4


def comparable(ours: float, other: float) -> bool:
    """No more than ``COMPARABLE`` below."""
    return ours >= (1 - COMPARABLE) * other


@dataclass
class Tally:
    """Comparisons won and lost, and where."""

    won: int = 0
    lost: list[str] = field(default_factory=list)

    def add(self, wins: bool, place: str) -> None:
        """One comparison."""
        if wins:
            self.won += 1
        else:
            self.lost.append(place)

    @property
    def holds(self) -> bool | None:
        """None without a comparison."""
        return None if self.won + len(self.lost) == 0 else not self.lost

    def __str__(self) -> str:
        if self.holds is None:
            return "nothing to compare"
        more = ", ..." if len(self.lost) > _NAMED else ""
        where = f"; not {', '.join(self.lost[:_NAMED])}{more}" if self.lost else ""
        return f"in {self.won} of {self.won + len(self.lost)} comparisons{where}"


def value(own: Measured, key: str) -> float:
    """A number of an entry; NaN where it is not defined. A slowdown is infinite where flows did not
    finish: to leave them out would flatter."""
    found = own.get(key)
    if key.startswith("fct_slowdown") and own.get("unfinished"):
        return math.inf
    return math.nan if found is None else float(found)


def tally(table: Table, entries: Iterable[str], others: Iterable[str], key: str, wins: Wins) -> Tally:
    """Each of ``entries`` against each of ``others``, in every case in which both have the number."""
    found, others = Tally(), list(others)
    for name in entries:
        for case, by_name in table.items():
            for other in others:
                if other == name or name not in by_name or other not in by_name:
                    continue
                pair = value(by_name[name], key), value(by_name[other], key)
                if not any(math.isnan(x) for x in pair):
                    found.add(wins(*pair), f"{case} ({name.upper()}, {other.upper()})")
    return found


@dataclass(frozen=True)
class Judge:
    """Judges claims on a table.

    Attributes:
        ours: what was measured here; it alone decides.
        names: of entries whose numbers the evidence lists.
        published: the paper's printed numbers.
    """

    ours: Table
    names: Sequence[str]
    published: Table = field(default_factory=dict)

    def claim(
        self,
        text: str,
        entries: Iterable[str],
        wins: Wins,
        others: Iterable[str],
        key: str,
        unit: tuple[float, str] = (1.0, ""),
    ) -> Claim:
        """The verdict, with what the paper's own table says of it beside it.

        Args:
            text: the claim.
            entries: of whom it is.
            wins: against each of the others, in every case.
            others: with whom they are compared.
            key: name of the number.
            unit: of the numbers listed: what divides them, and its name.
        """
        here, there = (tally(table, entries, others, key, wins) for table in (self.ours, self.published))
        evidence = [f"here {here}"]
        if there.holds is not None:
            evidence.append(f"by the thesis's own table {there}")
        if told := listed(self.ours, key, self.names, *unit):
            evidence.append(told)
        return Claim(text, here.holds, "; ".join(evidence))


def listed(table: Table, key: str, names: Iterable[str], divisor: float = 1.0, unit: str = "") -> str:
    """ "DCQCN 0.1, 0.2; HPCC ..." over the cases, in units of ``divisor``; "–" for what is not defined."""
    found = []
    for name in names:
        numbers = [value(by_name[name], key) for by_name in table.values() if name in by_name]
        if numbers:
            shown = ", ".join("–" if math.isnan(x) else number(x / divisor, 3) for x in numbers)
            found.append(f"{name.upper()} {shown}{unit}")
    return "; ".join(found)
