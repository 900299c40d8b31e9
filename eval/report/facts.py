# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts of a benchmark's folder for both reports: runs, losses, missing cells, how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ns3_env.config.command_line import import_extra
from ns3_env.eval.benchmark.folder import BenchFolder, Cell, Key, read_losses
from ns3_env.eval.benchmark.yardsticks import within_noise

#: Entries of a list that the page shows; the complete list is in suite.yaml.
SHOWN = 40


@dataclass(frozen=True)
class Facts:
    """Facts that the reports give in addition to the numbers.

    Attributes:
        title: title of the suite, or its file's name.
        done, cells: numbers of complete cells and of all cells.
        versions: package -> version.
        commands: (description, command line).
        suite: the suite's own values as YAML, without its scenarios.
        scenarios: scenario -> its values as YAML.
        failed: the error of each cell that failed.
        missing: cells without any result.
        stale: cells of other versions or settings.
        within_noise: a line for each policy that is within noise of a constant window in a scenario.
    """

    title: str
    done: int
    cells: int
    versions: Mapping[str, str]
    commands: Sequence[tuple[str, str]]
    suite: str
    scenarios: Mapping[str, str]
    failed: Mapping[Key, str]
    missing: Sequence[Key]
    stale: Sequence[Key]
    within_noise: Sequence[str]


def gather(folder: BenchFolder) -> Facts:
    """The facts of a folder that was read."""
    values = folder.suite.model_dump(mode="json", exclude_none=True)
    scenarios = {entry["name"]: _text(entry) for entry in values.pop("scenarios")}
    stale = [cell.key for cell in folder.stale]
    return Facts(
        title=folder.suite.title or Path(folder.source or folder.path.name).stem,
        done=len(folder.cells),
        cells=len(folder.cells) + len(folder.failed) + len(folder.missing),
        versions=folder.versions,
        commands=_commands(folder),
        suite=_text({"source": folder.source, **values}),
        scenarios=scenarios,
        failed={key: text.strip() for key, text in folder.failed.items()},
        missing=[key for key in folder.missing if key not in stale],
        stale=stale,
        within_noise=list(within_noise(folder)),
    )


def _commands(folder: BenchFolder) -> list[tuple[str, str]]:
    commands = []
    if folder.command:
        commands.append(("run what is missing", shlex.join(folder.command)))
    commands.append(
        ("write this report again", shlex.join(["python", "-m", "eval", "report", str(folder.path)]))
    )
    if folder.cells:
        cell = folder.cells[0]
        command = ["python", "-m", "eval", "run", str(cell.folder / "config.yaml"), "--trace"]
        command += ["--out", f"trace-{cell.scenario}"]
        commands.append(("look inside a cell (here the first one)", shlex.join(command)))
    return commands


def _shortened(values: Any) -> Any:
    """The same values with long lists, as of flows, cut."""
    if isinstance(values, dict):
        return {key: _shortened(value) for key, value in values.items()}
    if isinstance(values, list):
        more = len(values) - SHOWN
        return [_shortened(x) for x in values[:SHOWN]] + ([f"... {more} more"] if more > 0 else [])
    return values


def _text(values: Any) -> str:
    return yaml.safe_dump(
        _shortened(values), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )


#: Causes of ``ns3_env.simulator.results`` in a reader's words.
CAUSES = {
    "buffer_full": "buffer full",
    "link": "lost on the link",
    "failure": "link or switch down",
    "pause_storm": "PFC watchdog",
    "trimmed": "trimmed",
}
#: Ports of a controller that are shown, those with the most losses; the rest share a row.
SHOWN_PORTS = 4
_PLACE = ["node", "port", "peer"]
#: Headings of the rows of ``lost_rows``.
HEADINGS = ("controller", "port (node:port, to node)", "cause", "packets", "payload (kB)")


@dataclass(frozen=True)
class LostRow:
    """Losses of one controller at one port by one cause; ``packets``, ``payload_kb``: means over seeds."""

    controller: str
    port: str
    cause: str
    packets: float
    payload_kb: float

    @property
    def texts(self) -> tuple[str, ...]:
        """The row as text, one for each of ``HEADINGS``."""
        return self.controller, self.port, self.cause, f"{self.packets:,.1f}", f"{self.payload_kb:,.1f}"


def lost_rows(names: Sequence[str], cells: Sequence[Cell]) -> list[LostRow]:
    """Rows by controller, ports that lost most first.

    Args:
        names: controllers, in order.
        cells: complete cells of one scenario.

    Raises:
        ScenarioError: a cell's file cannot be read.
    """
    rows = []
    for name in names:
        controller_cells = [cell for cell in cells if cell.controller == name]
        tables = [table for cell in controller_cells if (table := read_losses(cell)) is not None]
        if not tables:
            continue
        by_port = import_extra("pandas").concat(tables).replace({"cause": CAUSES}).groupby([*_PLACE, "cause"])
        sums = (
            by_port[["packets", "payload_bytes"]].sum().sort_values("packets", ascending=False, kind="stable")
        )
        means = (sums / len(controller_cells)).reset_index()
        # one more row is no longer than one for "1 other"
        count = SHOWN_PORTS if len(means) > SHOWN_PORTS + 1 else len(means)
        rows += [
            LostRow(
                name,
                f"{x.node:.0f}:{x.port:.0f}, to {x.peer:.0f}",
                x.cause,
                x.packets,
                x.payload_bytes / 1000,
            )
            for x in means[:count].itertuples()
        ]
        others = means[count:]
        if len(others):
            ports = f"{len(others[_PLACE].drop_duplicates())} other ports"
            causes = " and ".join(sorted(others["cause"].unique()))
            rows.append(
                LostRow(name, ports, causes, others["packets"].sum(), others["payload_bytes"].sum() / 1000)
            )
    return rows
