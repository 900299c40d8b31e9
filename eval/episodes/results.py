# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's files: flows, queues and counters as CSV, and every value that was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ns3_env.agents.configuration.run_folder import versions
from ns3_env.config.yaml import to_text
from ns3_env.eval.episodes.critical_path import COLUMNS as PATH_COLUMNS
from ns3_env.eval.episodes.critical_path import FILE as PATHS
from ns3_env.eval.episodes.critical_path import critical_paths
from ns3_env.eval.episodes.recording import FILES as SERIES_FILES
from ns3_env.eval.metrics import OF_FLOWS, by_group, measure, without_nan
from ns3_env.eval.metrics.job_times import SECTION as JOBS
from ns3_env.eval.metrics.job_times import TASK_COLUMNS, spans, task_rows
from ns3_env.eval.output.table import csv_text
from ns3_env.scenario import Scenario
from ns3_env.simulator import default_attributes
from ns3_env.simulator.results import Results

FLOW_COLUMNS = (
    "src",
    "dst",
    "size_bytes",
    "start_ns",
    "fct_ns",
    "standalone_ns",
    "base_rtt_ns",
    "payload_bytes",
    "header_bytes",
    "end_ns",
    "acked_bytes",
    "retransmitted_bytes",
    "pause_ns",
    "timeouts",
)
_PORT = ("node", "port", "peer")
_LENGTHS = ("mean_bytes", "p50_bytes", "p95_bytes", "p99_bytes", "max_bytes")
_SENT = ("tx_bytes", "paused_ns", "pause_frames")
QUEUE_COLUMNS = (*_PORT, "rate_bps", *_LENGTHS, *_SENT, "pause_frames_sent")
STORM_COLUMNS = ("pause_storms", "pause_storm_ns")
#: A row for each port and cause that lost packets.
LOSS_COLUMNS = (*_PORT, "cause", "packets", "payload_bytes")
#: A row for each port and traffic class.
CLASS_COLUMNS = (*_PORT, "name", *_LENGTHS, *_SENT)
#: A row for each stream of the background.
STREAM_COLUMNS = (
    "src",
    "dst",
    "rate_bps",
    "start_ns",
    "stop_ns",
    "sent_bytes",
    "received_bytes",
    "lost_bytes",
)
#: A row for each iteration of a job (``part`` empty), and for each of its collectives.
JOB_COLUMNS = (
    "job",
    "iteration",
    "part",
    "start_ns",
    "end_ns",
    "duration_ns",
    "compute_ns",
    "exposed_ns",
    "straggler_ns",
)
#: Columns of flows.csv that are written only if the results have them.
MORE_COLUMNS = (
    "group",
    "class",
    "counted",
    "endless",
    "out_of_order_packets",
    "duplicate_bytes",
    "delivered_ns",
    "reordered_packets",
    "reorder_distance",
    "rtt_samples",
    "rtt_mean_ns",
    "rtt_p50_ns",
    "rtt_p99_ns",
    "rtt_max_ns",
)
#: An episode's metrics, and its identification.
METRICS_FILE = "metrics.json"
#: Files that such a folder may contain.
FILES = (
    METRICS_FILE,
    "flows.csv",
    "streams.csv",
    "queues.csv",
    "losses.csv",
    "groups.csv",
    "classes.csv",
    "jobs.csv",
    "tasks.csv",
    PATHS,
    "counters.csv",
    "config.yaml",
    *SERIES_FILES,
    "pcap",
)


def result_files(
    scenario: Scenario,
    results: Results,
    used: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """flows.csv, queues.csv, config.yaml, and further files, by name.

    flows.csv: times in ns, ``fct_ns`` −1 and ``finished`` 0 if the time limit came first; with flows that
    never end there is ``endless``, 1 for those. streams.csv, if there is background of a constant rate: a
    row for each stream (``ns3_env.simulator.results`` has the columns). queues.csv: a row for each switch
    port that sent anything; lengths are time-weighted. losses.csv, if packets were lost: a row for each
    port and cause (``ns3_env.simulator.results`` has the causes). groups.csv and classes.csv, if the
    scenario has some: metrics of each group's flows, and each class's queue at each port. jobs.csv, where
    there are training jobs: iterations and collectives (``ns3_env.eval.metrics.job_times``);
    tasks.csv: a row for each flow and computation of theirs that started; critical_path.csv: what each
    iteration's time went into (``ns3_env.eval.episodes.critical_path``). counters.csv, where
    a controller counts something: a row per flow, empty where its controller does not. With a measurement
    window flows.csv has
    ``counted``, queues.csv ``window_tx_bytes``, and its lengths are those within the window. Under TCP
    flows.csv has each flow's RTTs, −1 if none was measured.

    Args:
        scenario: the scenario that was simulated.
        results: results of the episode.
        used: further keys of config.yaml; versions by default.
    """
    flows, sent = results["flows"], scenario.to_simulator_json()
    columns = [*FLOW_COLUMNS, *(name for name in MORE_COLUMNS if name in flows)]
    finished = [int(fct >= 0) for fct in flows["fct_ns"]]
    files = {"flows.csv": _by_column({**{name: flows[name] for name in columns}, "finished": finished})}
    if streams := results.get("streams"):
        files["streams.csv"] = _by_column({name: streams[name] for name in STREAM_COLUMNS})
    of_ports = [*QUEUE_COLUMNS, *(["window_tx_bytes"] if "measurement" in results else [])]
    of_ports += STORM_COLUMNS if scenario.switch.pfc_watchdog is not None else ()
    files["queues.csv"] = _by_row(of_ports, results["queues"])
    if losses := results["losses"]:
        files["losses.csv"] = _by_row(LOSS_COLUMNS, losses)
    if groups := by_group(results, lambda group_results: measure(group_results, OF_FLOWS)):
        files["groups.csv"] = csv_text(
            ["group", "flows", *OF_FLOWS],
            ([name, *without_nan(row).values()] for name, row in groups.items()),
        )
    if of_classes := [
        {**port, **class_row} for port in results["queues"] for class_row in port.get("classes", ())
    ]:
        files["classes.csv"] = _by_row(CLASS_COLUMNS, of_classes)
    if JOBS in results:
        of_jobs = [[*(getattr(x, name) for name in JOB_COLUMNS), int(x.finished)] for x in spans(results)]
        files["jobs.csv"] = csv_text([*JOB_COLUMNS, "finished"], of_jobs)
        files["tasks.csv"] = csv_text(TASK_COLUMNS, task_rows(results))
        rows = (row for path in critical_paths(sent, results) for row in path.rows())
        files[PATHS] = csv_text(PATH_COLUMNS, rows)
    if counters := results["flow_counters"]:
        numbers = range(len(finished))
        files["counters.csv"] = _by_column({"flow": numbers, **counters})
    config = {
        "source": scenario.source,
        **(used or {"versions": versions()}),
        "scenario": resolved(scenario, sent),
    }
    files["config.yaml"] = to_text(config)
    return files


def _by_column(columns: Mapping[str, Sequence[Any]]) -> str:
    return csv_text(list(columns), zip(*columns.values(), strict=True))


def _by_row(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    return csv_text(columns, ([row[name] for name in columns] for row in rows))


def resolved(scenario: Scenario, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Every value that the simulator ran with, defaults and attributes of controllers included.

    Args:
        scenario: the scenario that was simulated.
        sent: the simulator's input (``Scenario.to_simulator_json``).
    """
    values = scenario.model_dump(mode="json")
    values.update(_resolved_sections(scenario, sent))
    if (span := scenario.measured_ns()) is not None:
        values["measurement"] = {"warm_up_ns": span[0], "end_ns": span[1]}
    values["controllers"] = [
        {
            "name": controller.name,
            "attributes": {
                **default_attributes(controller.name, scenario.transport),
                **controller.attributes,
            },
        }
        for controller in scenario.controllers
    ]
    return values


def _resolved_sections(scenario: Scenario, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Resolves the transport's sections next to the user's keys."""
    if scenario.transport == "tcp":
        tcp = scenario.resolved_tcp().model_dump(mode="json")
        return {"tcp": tcp}
    rates = {link.rate_bps for link in scenario.topology.build().access.values()}
    hundredth = rates.pop() / 100 if len(rates) == 1 else None
    switch = {**sent["switch"], "ecn": _marking(sent["switch"]["ecn"])}
    if scenario.classes:  # which have their own
        switch |= scenario.switch.model_dump(mode="json", include={"ecn", "congestion_points"})
    classes = [
        {
            **traffic_class.model_dump(mode="json"),
            **used,
            "weight": traffic_class.weight,
            "ecn": _marking(used["ecn"]),
        }
        for traffic_class, used in zip(scenario.classes, sent.get("classes", ()), strict=True)
    ]
    return {
        "timing": sent["timing"],
        "switch": switch,
        "classes": classes,
        "min_rate_bps": sent.get("min_rate_bps", hundredth),
    }


def _marking(ecn: Mapping[str, Any] | None) -> Mapping[str, Any] | str | None:
    """Thresholds in a scenario's form: "auto" if each port has its own."""
    return "auto" if "most_kmax_bytes" in (ecn or ()) else ecn
