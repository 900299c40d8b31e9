# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcome of a paper's experiment: numbers next to the paper's, verdicts on its claims; over seeds."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.eval.output import results
from ns3_env.eval.papers.panels import Drawing

#: The unit at the end of a column's head.
_UNIT = re.compile(r" \(([^()]*)\)$")

T = TypeVar("T")
#: One number of an episode by its name; None if it is not defined.
Measured = Mapping[str, float | None]
#: Numbers by case ("16-to-1"), entry and name.
Table = Mapping[str, Mapping[str, Measured]]
#: Whether a claim is true (None if the run cannot decide it), and the evidence.
Verdict = tuple[Any, str]
#: An outcome in the form of its JSON (``Outcome.as_dict``).
Json = Mapping[str, Any]


def defined(x: Any) -> Any:
    """The value; None instead of NaN."""
    return None if isinstance(x, float) and math.isnan(x) else x


def deviation(published: float | None, simulated: float) -> float | None:
    """(ours − published) / |published|; None without both numbers, or if the published one is 0."""
    return None if not published or math.isnan(simulated) else (simulated - published) / abs(published)


@dataclass(frozen=True)
class Row:
    """One number of ours next to the paper's.

    Attributes:
        what: name of the quantity.
        unit: unit of both numbers; "" for none.
        published: number in the paper; None if it has none.
        ours: measured number; NaN where the run does not define it.
        where: section or figure of ``published``.
    """

    what: str
    unit: str
    published: float | None
    ours: float
    where: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Returns the content for JSON; None instead of NaN."""
        return {
            "what": self.what,
            "unit": self.unit,
            "where": self.where,
            "published": self.published,
            "ours": defined(self.ours),
            "deviation": deviation(self.published, self.ours),
        }


@dataclass(frozen=True)
class Grid:
    """Numbers that the paper draws but does not print: ``rows`` of texts and numbers under ``columns``."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    def as_dict(self) -> dict[str, Any]:
        """Returns the content for JSON; None instead of NaN."""
        rows = [[defined(x) for x in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


def grid(
    title: str,
    first: str | Sequence[str],
    columns: str,
    rows: Iterable[tuple[Any, Measured]] | Mapping[Any, Any],
) -> Grid:
    """A grid of numbers by name.

    Args:
        title: title of the grid.
        first: heading of the first column, or headings of several.
        columns: further columns, "heading = name of the number; ..."; "name/1e3" divides it. NaN if a row
            does not define a number.
        rows: the first cell (or a tuple of several), and the row's numbers; or a table of numbers, as deep as
            there are first columns.
    """
    pairs = [column.split(" = ") for column in columns.split("; ")]
    names = [name.split("/") for _, name in pairs]
    firsts = (first,) if isinstance(first, str) else tuple(first)
    cells = [
        (*(key if isinstance(key, tuple) else (key,)), *(_cell(numbers, *name) for name in names))
        for key, numbers in (flat(rows, len(firsts)) if isinstance(rows, Mapping) else rows)
    ]
    return Grid(title, (*firsts, *(head for head, _ in pairs)), cells)


def flat(table: Mapping[Any, Any], depth: int) -> list[tuple[Any, Any]]:
    """The numbers of tables in tables, each with its keys; a key that is a tuple counts as its parts."""
    pairs: list[tuple[Any, Any]] = [((), table)]
    while pairs and len(pairs[0][0]) < depth:
        pairs = [
            ((*keys, *(key if isinstance(key, tuple) else (key,))), record)
            for keys, inner in pairs
            for key, record in inner.items()
        ]
    return pairs


def nested(table: Mapping[tuple[Any, Any], T]) -> dict[Any, dict[Any, T]]:
    """A table in which two keys are one, as a table of tables."""
    tables: dict[Any, dict[Any, T]] = {}
    for (first, second), record in table.items():
        tables.setdefault(first, {})[second] = record
    return tables


def column(table: Mapping[Any, Mapping[str, T]], name: str) -> dict[Any, T]:
    """One number of each row of a table, by the row's key."""
    return {key: numbers[name] for key, numbers in table.items()}


def _cell(numbers: Measured, name: str, divisor: str = "") -> float:
    value = numbers.get(name)
    return math.nan if value is None else value / float(divisor) if divisor else value


def _names(heads: Sequence[str]) -> list[str]:
    """Names of columns without units, all different: "p99" after "queue, mean" is "queue, p99"."""
    plain = [_UNIT.sub("", head) for head in heads]
    names, of = list[str](), ""
    for name in plain:
        alone = plain.count(name) == 1
        of = name.partition(", ")[0] if alone else of
        names.append(name if alone else f"{of}, {name}")
    return [
        name if names.count(name) == 1 else f"{name.rpartition(', ')[0]}, {head}"
        for name, head in zip(names, heads, strict=True)
    ]


def _texts(cells: Sequence[object]) -> list[int]:
    """Places of the cells that are texts."""
    return [i for i, cell in enumerate(cells) if isinstance(cell, str)]


def _first_columns(rows: Sequence[Sequence[object]]) -> int:
    """The number of first columns that, with a row's texts, distinguish all rows."""
    for count in range(1, len(rows[0]) if rows else 1):
        keys = {(*cells[:count], *(cells[i] for i in _texts(cells))) for cells in rows}
        if len(keys) == len(rows):
            return count
    return 1


def _place(head: str, cell: object) -> str:
    """Words for a cell that identifies a row: "flows 16", or the cell itself if it is a text."""
    return cell if isinstance(cell, str) else f"{head} {cell:g}"


@dataclass(frozen=True)
class Outcome:
    """Everything that an experiment leaves.

    Attributes:
        rows: the table published / ours / deviation.
        claims: the verdict on each claim, in our words, with its place in the paper.
        grids: further tables.
        notes: notes on this run for the reader, a sentence each.
        pictures: figures by file name without ending, in the paper's order.
    """

    rows: Sequence[Row] = ()
    claims: Mapping[str, Verdict] = field(default_factory=dict)
    grids: Sequence[Grid] = ()
    notes: Sequence[str] = ()
    pictures: Mapping[str, Drawing] = field(default_factory=dict)

    def numbers(self, experiment: str, seed: int) -> Iterator[results.Row]:
        """Yields the numbers of all tables as rows of results.

        The first columns of a table and its texts identify a row: the column "under" is the entry, the
        others belong to the scenario. The entry "ours" is compared with the paper.
        """
        for row in self.rows:
            yield results.Row("ours", f"{experiment}, {row.where}", seed, "", row.what, row.ours, row.unit)
        for table in self.grids:
            names, first = _names(table.columns), _first_columns(table.rows)
            for cells in table.rows:
                keys = {*range(first), *_texts(cells)}
                entry = next((str(cells[i]) for i in keys if names[i] == "under"), "")
                places = [_place(names[i], cells[i]) for i in sorted(keys) if names[i] != "under"]
                scenario = ", ".join([experiment, table.title, *places])
                for i, cell in enumerate(cells):
                    if i not in keys and isinstance(cell, int | float):
                        unit = _UNIT.search(table.columns[i])
                        text = unit[1] if unit else ""
                        yield results.Row(entry, scenario, seed, "", names[i], float(cell), text)

    def as_dict(self) -> dict[str, Any]:
        """Returns everything but the pictures themselves, for JSON."""
        return {
            "rows": [row.as_dict() for row in self.rows],
            "claims": [
                {"text": text, "holds": None if holds is None else bool(holds), "evidence": evidence}
                for text, (holds, evidence) in self.claims.items()
            ],
            "grids": [grid.as_dict() for grid in self.grids],
            "notes": list(self.notes),
            "pictures": [f"{name}.png" for name in self.pictures],
        }


def parse_seeds(text: str) -> range:
    """Returns the seeds of "3" or "1-5".

    Raises:
        ScenarioError: it is neither, or a seed is below 1.
    """
    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()) or not 1 <= int(first) <= int(last or first):
        raise ScenarioError(f"--seeds: must be a number from 1 on, or two as in 1-5, is {text!r}")
    return range(int(first), int(last or first) + 1)


def all_hold(verdicts: Collection[bool | None]) -> bool | None:
    """Combines verdicts: False if any is False, else None if any is undecided."""
    return False if False in verdicts else None if None in verdicts else True


def combine(outcomes: Sequence[Json]) -> dict[str, Any]:
    """Returns one outcome of several seeds; that of a single seed is as it was.

    A number becomes {"mean", "low", "high"} with the 95 % bootstrap interval of its mean. A claim is true if
    it is with every seed. Notes and pictures are the first seed's.
    """
    first = outcomes[0]
    if len(outcomes) == 1:
        return dict(first)
    return {
        **first,
        "rows": [_row(rows) for rows in zip(*(x["rows"] for x in outcomes), strict=True)],
        "grids": [_grid(grids) for grids in zip(*(x["grids"] for x in outcomes), strict=True)],
        "claims": [_claim(claim["text"], outcomes) for claim in first["claims"]],
    }


def _row(rows: Sequence[Json]) -> dict[str, Any]:
    interval = _interval([row["ours"] for row in rows])
    mean = math.nan if interval is None else interval["mean"]
    return {**rows[0], "ours": interval, "deviation": deviation(rows[0]["published"], mean)}


def _grid(grids: Sequence[Json]) -> Json:
    """Combines a table over seeds; if the rows differ between seeds, it is the first seed's, with a note."""
    titles = [[[x for x in row if isinstance(x, str)] for row in grid["rows"]] for grid in grids]
    if any(each != titles[0] for each in titles):
        return {**grids[0], "title": f"{grids[0]['title']} (the first seed)"}
    rows = [
        [cells[0] if isinstance(cells[0], str) else _interval(cells) for cells in zip(*rows, strict=True)]
        for rows in zip(*(grid["rows"] for grid in grids), strict=True)
    ]
    return {**grids[0], "rows": rows}


def _interval(values: Sequence[float | None]) -> dict[str, float] | None:
    """Mean and interval over the seeds that define the number; None if no seed does."""
    defined = np.array([x for x in values if x is not None], dtype=np.float64)
    if not len(defined):
        return None
    mean = float(defined.mean())
    low, high = bootstrap_interval(defined) if len(defined) > 1 else (mean, mean)
    return {"mean": mean, "low": low, "high": high}


def _claim(text: str, outcomes: Sequence[Json]) -> dict[str, Any]:
    verdicts = [claim for outcome in outcomes for claim in outcome["claims"] if claim["text"] == text]
    holds = [claim["holds"] for claim in verdicts]
    evidence = verdicts[0]["evidence"]
    if set(holds) != {None}:
        evidence = f"holds in {holds.count(True)} of {len(outcomes)}; the first: {evidence}"
    return {"text": text, "holds": all_hold(holds), "evidence": evidence}
