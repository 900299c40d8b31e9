# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts of chapter 6 of the FDCC thesis: over links of both lengths, with goodput next to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ns3_env.eval.papers.experiment import Data
from ns3_env.eval.papers.outcome import Table, Verdict, all_hold
from ns3_env.eval.papers.verdicts import Comparison, value

#: The thesis's agent, and the one that learned another reward here (docs/decisions/0011-fdcc.md).
THESIS, RELEASED = "fdcc-zhang2023", "fdcc"
#: Lengths of links by their names.
LINKS_NS = {"1 µs": 1000, "180 ns": 180}
#: The length of links that figures are of.
IN_FIGURES = next(iter(LINKS_NS))
#: After a claim's text: the same of the released agent.
IN_ITS_PLACE = f"; with {RELEASED} in its place"
#: The thesis's agent as trained here earns less of its own reward than a constant window does
#: (docs/papers/fdcc.md): its behaviour is no evidence on the thesis's method.
UNLEARNED: Verdict = (None, "no agent here earns the thesis's reward")
#: A share of the best goodput from which no case is named.
_FULL = 0.995


def judge(
    claims: Mapping[str, Comparison],
    simulated: Mapping[str, Table],
    data: Data[Any],
    published: Table | None = None,
    goodput: str = "goodput",
) -> dict[str, Verdict]:
    """Judges each claim with the thesis's agent, then with the one released here.

    ``RELEASED`` represents FDCC among a claim's names. A claim, by its text, is true if it is over links
    of every length. The first are left open, unless a policy replaces the thesis's. These
    verdicts are followed by those of the thesis's printed numbers and the number named ``goodput``, if any.
    """
    verdicts = {}
    for text, claim in claims.items():
        for agent, words in ((THESIS, ""), (RELEASED, IN_ITS_PLACE)):
            open_yet = agent == THESIS and THESIS not in data.supplied
            verdict = UNLEARNED if open_yet else _verdict(claim, agent, simulated, published or {}, goodput)
            verdicts[text + words] = verdict
    return verdicts


def _verdict(
    claim: Comparison, agent: str, simulated: Mapping[str, Table], published: Table, goodput: str
) -> Verdict:
    entries, others = (
        [agent if name == RELEASED else name for name in names] for names in (claim.entries, claim.others)
    )
    claim = replace(claim, entries=entries, others=others)
    counts, words = [claim.tally(table) for table in simulated.values()], []
    for (links, table), count in zip(simulated.items(), counts, strict=True):
        beside = "" if claim.key == goodput else _beside(table, claim, goodput)
        words.append(f"{links}: {count}{beside}")
    if (there := claim.tally(published)).holds is not None:
        words.append(f"By the thesis's own table {there}")
    return all_hold([count.holds for count in counts]), ". ".join(words)


def _beside(table: Table, claim: Comparison, goodput: str) -> str:
    """Returns each entry's minimum share of the best goodput, in words."""
    phrases = []
    for name in claim.entries:
        shares = {
            case: value(by_name[name], goodput) / max(value(numbers, goodput) for numbers in by_name.values())
            for case, by_name in table.items()
            if claim.case in ("", case) and goodput in by_name.get(name, {})
        }
        if shares:
            case = min(shares, key=lambda place: shares[place])
            where = f" ({case})" if shares[case] < _FULL else ""
            phrases.append(f"; {name.upper()} has at least {shares[case]:.2f} of the best goodput{where}")
    return "".join(phrases)
