# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of a benchmark: ``report.html``, which is self-contained, and ``report.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

from ns3_env.config.files import write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.output.results import PARQUET
from ns3_env.eval.output.table import lacking, write_parquet
from ns3_env.eval.report import pictures
from ns3_env.eval.report.facts import gather
from ns3_env.eval.report.pictures import Progress, parts_of
from ns3_env.eval.report.render import render_html, render_markdown
from ns3_env.eval.results.loading import results_in


def write(
    path: Path,
    formats: Sequence[str] = (),
    progress: Progress = lambda scenario, done, of: None,
    phase: Callable[[str], None] = lambda what: None,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """Writes both reports into a benchmark's folder, in place of earlier ones.

    With pandas and pyarrow, also ``results.parquet``: see ``ns3_env.eval.output.results``.

    Args:
        path: folder written by ``python -m eval benchmark``, complete or not.
        formats: each panel also becomes a file of these formats, in the folder's ``figures``.
        progress: called with the finished scenario's name, the number of finished scenarios, and their total.
        phase: called with a description of each phase as it starts.
        labels: texts in figures, in addition to the suite's, by the name of an entry or the key of an axis.

    Returns:
        The path of report.html.

    Raises:
        ScenarioError: the folder is no benchmark's, a cell's file cannot be read, or a report is a link.
    """
    page_file, text_file = path / "report.html", path / "report.md"
    for file in (page_file, text_file):
        refuse_link(file)
    phase("reading the cells")
    folder = BenchFolder.read(path)
    folder.suite.labels.update(labels)
    phase(f"comparing and drawing {len(folder.suite.scenarios)} scenarios, {len(folder.cells)} cells")
    with ThreadPoolExecutor(1) as beside:
        data = (
            None
            if lacking("pandas", "pyarrow")
            else beside.submit(lambda: write_parquet(results_in(folder).table, path / PARQUET))
        )
        parts = parts_of(folder, progress)
    if data is not None:
        phase("waiting for results.parquet")
        data.result()
    phase("writing the pages")
    summary = [part.standing for part in parts]
    facts = gather(folder)
    lost = {part.standing.name: part.lost for part in parts}
    panels = {
        **pictures.of_sweeps(folder, summary),
        **{part.standing.name: part.pictures for part in parts},
    }
    page = render_html(folder, facts, summary, panels, lost)
    write_atomically(text_file, render_markdown(facts, summary, lost))
    write_atomically(page_file, page)
    if formats:
        phase("writing the figures as files")
        pictures.write_files(folder, summary, formats)
    return page_file
