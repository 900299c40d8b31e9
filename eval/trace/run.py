# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces one run: rates, windows, queue, marks, pauses and controllers' states over time."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ns3_env.config.bounds import MAX_TIME_NS, WHY_TIME, excess
from ns3_env.config.durable import write_file
from ns3_env.config.folders import refuse_foreign, replace_folder
from ns3_env.config.model import validate
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.cell import played_by, recorded
from ns3_env.eval.benchmark.suite import Contestant
from ns3_env.eval.episodes.names import check_names
from ns3_env.eval.episodes.results import FILES, write_results
from ns3_env.eval.episodes.series import COLUMNS, recorded_series, write_series
from ns3_env.eval.episodes.trained import policy_of
from ns3_env.eval.plots.files import FOLDER as FIGURES
from ns3_env.eval.plots.files import save
from ns3_env.eval.plots.plots import for_paper, picture
from ns3_env.eval.trace.figure import draw, separately
from ns3_env.scenario import Record, Scenario
from ns3_env.simulator import Simulator

Results = Mapping[str, Any]

#: Points of the queue's series, unless the interval is given.
POINTS = 4000
#: Columns with fractions; of the others, "name" is text and the rest whole numbers.
_REAL = {"t_ns", "time_ns", "window_bytes", "rate_bps", "value"}


def trace(
    file: Path,
    controller: str,
    out: Path,
    seed: int | None = None,
    sample_ns: int | None = None,
    allow_imports: bool = False,
    *,
    checkpoint: Path | None = None,
    formats: Sequence[str] = (),
    hang_timeout_s: float = 0.9,
) -> Path:
    """Plays a scenario once with everything recorded; writes its series and draws them.

    Args:
        file: the scenario's YAML, or the config.yaml of a benchmark's cell.
        controller: the simulator's name of it; of a cell, its own name in the suite will do too, so that a
            policy and a checkpoint can be traced.
        out: gets trace.png, a file for each series that was recorded (CSV, and Parquet where pyarrow
            is installed), flows.csv, queues.csv and config.yaml.
        seed: takes the place of the scenario's.
        sample_ns: interval of the queue's series; None: what a benchmark would take.
        checkpoint: a trained policy, which decides inside the simulator; ``controller`` is then its name.
        formats: each panel also becomes a file of these formats, in the folder ``figures``.
        allow_imports: a policy that the cell's file names may run its module's code.
        hang_timeout_s: see :class:`ns3_env.simulator.Simulator`.

    Returns:
        The figure's path.

    Raises:
        ScenarioError: the scenario, the controller or the folder is wrong.
        SimulatorError: the simulator failed.
    """
    scenario, who = _load(file, controller, checkpoint)
    if who.policy is not None and not allow_imports:
        raise ScenarioError(
            f"{file}: controller: policy: would run the code of {who.policy!r}; "
            "if you trust it: --allow-imports"
        )
    if sample_ns is not None and sample_ns <= 0:
        raise ScenarioError(f"--sample-ns: must be above 0, is {sample_ns}")
    if sample_ns is not None and (text := excess(sample_ns, MAX_TIME_NS, WHY_TIME)) is not None:
        raise ScenarioError(f"--sample-ns: {text}")
    if seed is not None:
        if not 0 <= seed < 2**63:
            raise ScenarioError(f"--seed: must be in 0 to 2^63 - 1, is {seed}")
        scenario = scenario.with_seed(seed)
    refuse_foreign(out, {*FILES, "trace.png", FIGURES, *(f"{name}.parquet" for name in COLUMNS)}, "trace")
    record = Record(
        windows=True,
        events=True,
        controller_state=True,
        queue_series_ns=sample_ns or recorded(scenario).record.queue_series_ns,
    )
    scenario = scenario.model_copy(update={"record": record})
    with Simulator(hang_timeout_s=hang_timeout_s) as simulator:
        scenario, results = played_by(who, scenario, simulator)
    out.parent.mkdir(parents=True, exist_ok=True)
    # A cell is cells/SCENARIO/CONTROLLER/seed-N/config.yaml.
    name = file.absolute().parents[2].name if file.name == "config.yaml" else file.stem
    title = f"{name} under {who.name}, seed {scenario.seed}{scenario.measured_text()}"

    def write(folder: Path) -> None:
        write_results(folder, scenario, results)
        write_series(folder, results)
        if importlib.util.find_spec("pyarrow") is not None:
            _write_parquet(folder, results)
        write_file(folder / "trace.png", picture(draw(results, title), "png"))
        if formats:
            with for_paper():
                for name, figure in separately(results):
                    save(figure, folder / FIGURES, name, formats)

    replace_folder(out, write)
    return out / "trace.png"


def _load(file: Path, controller: str, checkpoint: Path | None) -> tuple[Scenario, Contestant]:
    """The scenario and who plays it. Raises ScenarioError."""
    data = read_mapping(file, ScenarioError)
    given = None
    if checkpoint is not None:
        named = {"name": controller, "checkpoint": str(policy_of(checkpoint))}
        given = validate(named, Contestant, "--controller", raises=ScenarioError)
    if not (isinstance(data.get("scenario"), dict)):
        scenario = Scenario.from_mapping(data, str(file), file.parent)
        if given is None:
            check_names([controller], scenario.transport)
        return scenario, given or Contestant.model_validate(controller)
    scenario = Scenario.from_mapping(data["scenario"], str(data.get("source") or file), file.parent)
    who = given
    if who is None and "controller" in data:
        who = validate(data["controller"], Contestant, f"{file}: controller", raises=ScenarioError)
    if who is None or controller != who.name:
        check_names([controller], scenario.transport)
        who = Contestant.model_validate(controller)
    return scenario, who


def _write_parquet(folder: Path, results: Results) -> None:
    """A Parquet file beside each series' CSV."""
    import pyarrow
    from pyarrow import parquet

    def kind(column: str) -> pyarrow.DataType:
        text = pyarrow.string() if column == "name" else pyarrow.int64()
        return pyarrow.float64() if column in _REAL else text

    for series, rows in recorded_series(results).items():
        columns = COLUMNS[series]
        values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        table = {
            name: pyarrow.array(column, kind(name)) for name, column in zip(columns, values, strict=True)
        }
        parquet.write_table(pyarrow.table(table), folder / f"{series}.parquet")
