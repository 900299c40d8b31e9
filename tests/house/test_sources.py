# SPDX-License-Identifier: GPL-2.0-or-later
"""Citations such as "Zheng 2024, eq. 4.12", each with its entry in docs/sources."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

PAGES = ROOT / "docs" / "sources"
FOLDERS = ("ns3_env", "agents", "eval", "examples", "configs", "curricula", "tests", "docs")
SUFFIXES = (".py", ".cc", ".h", ".md", ".yaml")

#: "Zheng 2024", "Ni et al. 2022", "Efron and Tibshirani 1993".
_SOURCE = r"[A-Z][\w'’]+(?: et al\.| and [A-Z]\w+)? (?:19|20)\d\d"
_KINDS = {
    "eq": "eq", "eqs": "eq", "sec": "sec", "secs": "sec", "section": "sec", "sections": "sec", "ch": "ch",
    "chapter": "ch", "chapters": "ch", "Fig": "Fig", "Figs": "Fig", "Table": "Table", "Tables": "Table",
    "Algorithm": "Algorithm", "App": "App", "Exp": "Exp",
}  # fmt: skip
_NUMBER = r"[A-Z]?\.?\d+(?:\.\d+)*"
_NUMBERS = rf"{_NUMBER}(?:(?: ?[–-] ?| to |, | and ){_NUMBER})*"
_PLACE = rf"(?:{'|'.join(sorted(_KINDS, key=len, reverse=True))})\.? {_NUMBERS}"
#: Capitalised words before a year that are no authors.
_NO_AUTHORS = {"January", "July", "November"}


def places(text: str) -> Iterator[str]:
    """ "eq. 4.2", "eq. 4.3" of "eqs. 4.2 and 4.3" or "eqs. 4.2–4.3"."""
    for match in re.finditer(_PLACE, text):
        kind, numbers = re.split(r"\.? ", match[0], maxsplit=1)
        parts = re.split(r"( ?[–-] ?| to |, | and )", numbers)
        before = ""
        for number, joint in itertools.zip_longest(parts[::2], ["", *parts[1::2]]):
            if joint.strip() in ("–", "-", "to"):
                stem, _, first = before.rpartition(".")
                last = int(number.rpartition(".")[2])
                for i in range(int(first) + 1, last):
                    yield f"{_KINDS[kind]} {stem}.{i}" if stem else f"{_KINDS[kind]} {i}"
            yield f"{_KINDS[kind]} {number}"
            before = number


def entries() -> dict[str, set[str]]:
    """Source -> the places that its page has an entry for: those in bold below its heading."""
    places_by_source: dict[str, set[str]] = {}
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for heading in re.finditer(rf"^## ({_SOURCE})$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL):
            bold = re.findall(r"\*\*(.+?)\*\*", heading[2], re.DOTALL)
            places_by_source[heading[1]] = {place for text in bold for place in places(text)}
    return places_by_source


def citing_files() -> list[Path]:
    """Every file that may cite."""
    files = [ROOT / "README.md", ROOT / "train.py"]
    for folder in FOLDERS:
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return [path for path in files if PAGES not in path.parents and path != Path(__file__)]


@functools.cache
def texts() -> dict[Path, str]:
    """The running text of each file that may cite."""
    return {path: running_text(path) for path in citing_files()}


def running_text(path: Path) -> str:
    """The file without line breaks and comment markers."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\s*\n\s*(?:///<|//+|\*(?!\*)|#:?|#)?\s*", " ", text)


ENTRIES = entries()


def test_what_is_cited_has_an_entry() -> None:
    lost = {str(path.relative_to(ROOT)): unresolved(text) for path, text in texts().items()}
    assert len(lost) > 500
    assert not {path: what for path, what in lost.items() if what}, "docs/sources has no entry for these"


def unresolved(text: str) -> list[str]:
    """Citations in a text that have no entry."""
    lost = []
    for match in re.finditer(rf"({_SOURCE})((?:(?:,|;| and|, and)? ?\(?{_PLACE})*)", text):
        source, cited = match[1], match[2]
        author = source.split()[0]
        if author.isupper() or author in _NO_AUTHORS:
            continue  # a conference, a month
        if source not in ENTRIES:
            lost.append(f"{source}: no such source")
            continue
        lost += [f"{source}, {place}" for place in places(cited) if place not in ENTRIES[source]]
    return lost


def test_a_cited_page_and_its_section_are_there() -> None:
    for path, text in texts().items():
        private = re.search(r"(?:SYSTEMS|REFERENCE|DESIGN|FACTS)\.md", text)
        assert not private, f"{path}: a page that only its writers have"
        for page, section in re.findall(r"docs/sources/([\w-]+\.md)(?:,? \"([^\"]+)\")?", text):
            assert (PAGES / page).exists(), f"{path}: {page}"
            if section:
                content = (PAGES / page).read_text(encoding="utf-8")
                there = re.search(rf"^#+ {re.escape(section)}$", content, re.MULTILINE)
                assert there, f"{path}: {page}: {section}"
