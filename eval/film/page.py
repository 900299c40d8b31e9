# SPDX-License-Identifier: GPL-2.0-or-later
"""Films: a page for all controllers of a folder of ``run --watch``, one HTML file for each seed."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.config.files import write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.eval.film.content import content
from ns3_env.eval.film.recording import FILE, Recording
from ns3_env.scenario import Scenario

_PAGE = Path(__file__).parent / "page"
_VENDOR = Path(__file__).parent / "vendor" / "dygraphs-2.2.1"

#: Place of a part in a page.
_PLACE = re.compile(r"\[\[(\w+)\]\]")
#: First line of each film: only files with it may be replaced.
MARK = "<!-- film of ns3-env -->"
#: The page's script, in the order of reading.
_SCRIPTS = (
    "unpack.js",
    "units.js",
    "colours.js",
    "run.js",
    "selection.js",
    "clock.js",
    "picture.js",
    "picture-draw.js",
    "pointing.js",
    "charts.js",
    "panels.js",
    "table.js",
    "keys.js",
    "film.js",
)


def render(content: Mapping[str, Any]) -> str:
    """The page's text; ``content``: of ``ns3_env.eval.film.content``."""
    parts = {
        **look([], [_PAGE / name for name in _SCRIPTS]),
        "title": escape(str(content["title"])),
        "content": json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"),
    }
    return f"{MARK}\n{fill(_PAGE / 'film.html', parts)}"


def look(styles: Sequence[Path], scripts: Sequence[Path]) -> dict[str, str]:
    """The parts "style", "library" and "script" of a page that looks like a film; its own come last."""
    script = "\n".join(_read(file) for file in scripts)
    return {
        "style": "".join(map(_read, (_VENDOR / "dygraph.min.css", _PAGE / "film.css", *styles))),
        "library": f"/* {_read(_VENDOR / 'LICENSE.txt')} */\n{_read(_VENDOR / 'dygraph.min.js')}",
        "script": f'(() => {{\n"use strict";\n{script}\n}})();',
    }


def fill(page: Path, parts: Mapping[str, str]) -> str:
    """A page's file with its parts instead of their names, [[name]]; parts are inserted unchanged."""
    return _PLACE.sub(lambda place: parts[place[1]], _read(page))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


PAGE = "film.html"
#: Keys of a scenario that a film needs.
_SHOWN = (
    "transport",
    "topology",
    "failures",
    "link_rates",
    "retransmission_timeout_ns",
    "seed",
    "time_limit_ns",
    "record",
)


def refuse_other(out: Path) -> None:
    """Only films are replaced. Raises ScenarioError if a folder's page is a link or another file."""
    for page in (out / PAGE, *out.glob("film-seed-*.html")):
        refuse_link(page)
        if page.exists() and not (page.is_file() and _begins_as_film(page)):
            raise ScenarioError(f"{page}: is no film of an earlier run: it is not replaced")


def write_films(out: Path, folders: Sequence[Path] = ()) -> list[Path]:
    """film.html of the files of ``run --watch --out OUT``; for several seeds film-seed-S.html each.

    ``folders``: those of the runs below ``out`` that are shown; none: all.

    Raises:
        ScenarioError: no recording exists, one cannot be read, or a page is no film.
    """
    recordings = (*out.glob(f"*/{FILE}"), *out.glob(f"*/seed-*/{FILE}"))
    folders = folders or sorted(file.parent for file in recordings)
    if not folders:
        raise ScenarioError(f"{out}: holds no */{FILE}: run SCENARIO --watch --out {out} writes them")
    refuse_other(out)
    by_seed: dict[int, dict[str, Recording]] = defaultdict(dict)
    scenarios: dict[int, Scenario] = {}
    for folder in folders:
        scenario, recording = _scenario(folder / "config.yaml"), Recording.read(folder)
        first = scenarios.setdefault(scenario.seed, scenario)
        beside = next(iter(by_seed[scenario.seed].values()), recording)
        same_flows = np.array_equal(beside.flows[:, :4], recording.flows[:, :4])
        if (
            first.topology != scenario.topology
            or first.record.film_ns != scenario.record.film_ns
            or not same_flows
        ):
            raise ScenarioError(f"{folder}: is of another scenario than the folders beside it")
        by_seed[scenario.seed][folder.relative_to(out).parts[0]] = recording
    written = []
    for seed, runs in sorted(by_seed.items()):
        page = out / (PAGE if len(by_seed) == 1 else f"film-seed-{seed}.html")
        title = Path((scenarios[seed].source or "").partition(",")[0]).stem or "film"
        write_atomically(page, render(_content(out, scenarios[seed], runs, title)))
        written.append(page)
    return written


def _content(out: Path, scenario: Scenario, runs: dict[str, Recording], title: str) -> dict[str, Any]:
    """Raises ScenarioError for recordings whose numbers do not fit the network."""
    try:
        with np.errstate(all="ignore"):
            return content(scenario, runs, title)
    except Exception as error:  # whatever indices and shapes that do not fit come to
        names = ", ".join(f"{name}/{FILE}" for name in runs)
        text = f"{out}: {names}: do not fit the scenario beside them ({type(error).__name__}: {error})"
        raise ScenarioError(" ".join(text.split())) from None


def _scenario(file: Path) -> Scenario:
    """Reads the keys that the page shows from a run's config.yaml; its flows are in the recording."""
    data = read_mapping(file, ScenarioError)
    scenario = data.get("scenario")
    if not isinstance(scenario, dict):
        raise ScenarioError(f"{file}: holds no scenario: run --watch writes it")
    fields = {name: scenario[name] for name in _SHOWN if name in scenario}
    return Scenario.from_mapping(fields, str(data.get("source") or file), file.parent)


def _begins_as_film(page: Path) -> bool:
    with page.open("rb") as file:
        return file.read(len(MARK)) == MARK.encode()
