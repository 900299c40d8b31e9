# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on claims: a claim is true if it is in every case and against every controller it names."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ns3_env.eval.papers.outcome import Measured, Table, Verdict

#: "Comparable": the largest accepted shortfall, as a share of the best other controller.
COMPARABLE = 0.1
#: Places that evidence names.
_NAMED = 4


#: Whether the first number, that of the claim's subject, supports it against the second.
_WINS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "comparable": lambda value, other: value >= (1 - COMPARABLE) * other,
}


def listed(
    values: Iterable[float] | Mapping[Any, float],
    form: str = ".1f",
    unit: str = "",
    missing: str = "–",
) -> str:
    """Lists numbers ("0.1, 0.2"), or numbers after their names ("a 0.1 ms, b 0.2 ms"); the unit has its
    space, ``missing`` replaces NaN."""
    pairs = values.items() if isinstance(values, Mapping) else (("", x) for x in values)
    return ", ".join(
        f"{name} {missing if math.isnan(x) else format(float(x), form)}{unit}".lstrip() for name, x in pairs
    )


@dataclass
class Tally:
    """Comparisons won and lost; for each lost one its place and the winner."""

    won: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list)

    @property
    def holds(self) -> bool | None:
        """True if no comparison was lost; None without any."""
        return None if self.won + len(self.lost) == 0 else not self.lost

    @property
    def verdict(self) -> Verdict:
        """True if none is lost, and the number of wins."""
        return self.holds, str(self)

    def __str__(self) -> str:
        if self.holds is None:
            return "nothing to compare"
        more = ", ..." if len(self.lost) > _NAMED else ""
        winners: dict[str, list[str]] = {}
        for place, other in self.lost[:_NAMED]:
            winners.setdefault(place, []).append(other)
        places = ", ".join(f"{place} ({', '.join(others)})" for place, others in winners.items())
        where = f"; not {places}{more}" if self.lost else ""
        return f"in {self.won} of {self.won + len(self.lost)} comparisons{where}"


def value(numbers: Measured, key: str) -> float:
    """A number of an entry; NaN if it is not defined. A slowdown is infinite if flows did not
    finish: to leave them out would flatter."""
    x = numbers.get(key)
    if key.startswith("fct_slowdown") and numbers.get("unfinished_flows"):
        return math.inf
    return math.nan if x is None else float(x)


@dataclass(frozen=True)
class Comparison:
    """A claim that compares.

    Attributes:
        entries: names of the entries that the claim is about.
        wins: comparison that each of them has to win in every case in which both have the number;
            "comparable": no more than ``COMPARABLE`` below.
        others: names of the entries to compare with.
        key: name of the number.
        case: the only case that counts; "": all of them.
    """

    entries: Sequence[str]
    wins: Literal["<", "<=", ">", ">=", "comparable"]
    others: Sequence[str]
    key: str
    case: str = ""

    def tally(self, table: Table) -> Tally:
        """Counts comparisons. A lost one's place is the case, with the entry's name if there are several."""
        count = Tally()
        for name, (case, by_name), other in itertools.product(self.entries, table.items(), self.others):
            if other == name or not {other, name} <= by_name.keys() or self.case not in ("", case):
                continue
            pair = value(by_name[name], self.key), value(by_name[other], self.key)
            if any(map(math.isnan, pair)):
                continue
            if _WINS[self.wins](*pair):
                count.won += 1
            else:
                place = case if len(self.entries) == 1 else f"{case} {name.upper()}"
                count.lost.append((place, other.upper()))
        return count


def below_one(ratios: Mapping[str, float], wins: str, mean: str, none: str) -> Verdict:
    """Judges ratios by the place that evidence names, each of which has to be below 1; NaN is ignored.

    ``wins`` precedes "N of M comparisons", ``mean`` follows it; ``none`` is the evidence without a ratio.
    """
    ratios = {place: x for place, x in ratios.items() if not math.isnan(x)}
    lost = [place for place, x in ratios.items() if x >= 1]
    where = f"; not: {', '.join(lost[:_NAMED])}{' ...' if len(lost) > _NAMED else ''}" if lost else ""
    won = f"{wins} {len(ratios) - len(lost)} of {len(ratios)} comparisons{mean}{where}"
    return (not lost, won) if ratios else (None, none)


def in_every_case(
    numbers: Mapping[str, float], meets: Callable[[float], bool], worst: Any, words: str, none: str = ""
) -> Verdict:
    """Judges numbers by case: all have to meet a bound; NaN meets none.

    ``worst`` is min or max, and replaces "{}" in ``words``; ``none`` is the evidence without a number.
    """
    if not numbers:
        return None, none
    met, case = sum(map(meets, numbers.values())), worst(numbers, key=lambda case: numbers[case])
    return met == len(numbers), f"in {met} of {len(numbers)} cases; {words.format(numbers[case])} ({case})"
