# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts of chapter 6 of the FDCC thesis: over links of both lengths, with goodput beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ns3_env.eval.papers.experiment import Data
from ns3_env.eval.papers.outcome import Table, Verdict
from ns3_env.eval.papers.verdicts import Judge, Wins, all_hold, tally, value

#: The thesis's agent, and the one that learned another reward here (docs/decisions/0011-fdcc.md).
THESIS, RELEASED = "fdcc-zhang2023", "fdcc"
#: Lengths of links by their names: ours, and the one that the thesis's queues fit. Those under RL-CC are
#: n − 1 times 16.5 kB up to 256 flows: windows that stay at a BDP, which such links have.
LINKS_NS = {"1 µs": 1000, "180 ns": 180}
#: The length of links that figures are of.
IN_FIGURES = next(iter(LINKS_NS))
#: After a claim's text: the same of the released agent.
IN_ITS_PLACE = f"; with {RELEASED} in its place"
#: The thesis's agent as it is trained here earns less of its own reward than a constant window does
#: (docs/papers/fdcc.md): what it does says nothing of the thesis's method.
UNLEARNED: Verdict = (None, "no agent here earns the thesis's reward")
#: A share of the best goodput from which no case is named.
_FULL = 0.995


@dataclass(frozen=True)
class Claims:
    """Judges the same claims over links of each length: one holds where it does over all.

    Attributes:
        simulated: a table for each length of links, by ``LINKS_NS``'s names.
        published: the thesis's printed numbers.
        goodput: name of the number that is told beside verdicts on others; "" for none.
    """

    simulated: Mapping[str, Table]
    published: Table
    goodput: str = "goodput"

    def __call__(self, entries: Iterable[str], wins: Wins, others: Iterable[str], key: str) -> Verdict:
        """Returns the verdict of :class:`ns3_env.eval.papers.verdicts.Judge` on all links together."""
        entries, others = tuple(entries), tuple(others)
        verdicts, words = [], []
        for links, table in self.simulated.items():
            holds, evidence = Judge(table)(entries, wins, others, key)
            verdicts.append(holds)
            beside = self._goodput(table, entries, key)
            words.append(f"{links}: {evidence}{beside}")
        there = tally(self.published, entries, others, key, wins)
        if there.holds is not None:
            words.append(f"By the thesis's own table {there}")
        return all_hold(verdicts), ". ".join(words)

    def _goodput(self, table: Table, entries: Iterable[str], key: str) -> str:
        """Tells each entry's least share of the best goodput; "" where the verdict is on goodput itself."""
        if not self.goodput or key == self.goodput:
            return ""
        phrases = []
        for name in entries:
            shares = {
                case: value(by_name[name], self.goodput)
                / max(value(numbers, self.goodput) for numbers in by_name.values())
                for case, by_name in table.items()
                if name in by_name and self.goodput in by_name[name]
            }
            if shares:
                case = min(shares, key=lambda place: shares[place])
                where = f" ({case})" if shares[case] < _FULL else ""
                phrases.append(f"{name.upper()} has at least {shares[case]:.2f} of the best goodput{where}")
        return "".join(f"; {words}" for words in phrases)


def with_both(claims: Callable[[str], Mapping[str, Verdict]], data: Data[Any]) -> dict[str, Verdict]:
    """Judges each claim on FDCC with the thesis's agent, then with the one released here.

    The first are left open, unless a policy is given in the place of the thesis's.
    """
    released = claims(RELEASED)
    of_thesis = claims(THESIS) if THESIS in data.supplied else dict.fromkeys(released, UNLEARNED)
    return {
        f"{text}{words}": verdict
        for text in released
        for words, verdict in (("", of_thesis[text]), (IN_ITS_PLACE, released[text]))
    }
