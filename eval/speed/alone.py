# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs an episode in a separate process and measures it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ns3_env.eval.episodes.variants import Variants, read_variants
from ns3_env.scenario import Scenario
from ns3_env.simulator import find_executable

#: Scenarios whose speed is measured, by name.
SCENARIOS = read_variants(Path(__file__).parent / "scenarios.yaml", Variants)
_EVERY_S = 0.005  # interval between queries of the process's memory


@dataclass(frozen=True)
class Run:
    """One episode without Python in the loop.

    Args:
        results: results as the simulator writes them.
        cpu_s: CPU time of its process, over all threads, s.
        wall_s: wall time from its start to its end, s.
        peak_bytes: peak memory.
    """

    results: dict[str, Any]
    cpu_s: float
    wall_s: float
    peak_bytes: int

    @property
    def packet_hops(self) -> int:
        """Transmissions of data packets and ACKs."""
        return int(self.results["totals"]["packet_hops"])


def scenario(name: str) -> Scenario:
    """One of :data:`SCENARIOS` without axes."""
    return SCENARIOS[name].cases()[()]


def play_alone(measured: Scenario) -> Run:
    """Runs the scenario in a separate process. Raises subprocess.CalledProcessError if that fails."""
    with tempfile.TemporaryDirectory() as folder:
        path, answer = Path(folder, "scenario.json"), Path(folder, "results.json")
        complaint = Path(folder, "complaint.txt")
        path.write_text(json.dumps(measured.to_simulator_json()), encoding="utf-8")
        command = [str(find_executable(measured.transport)), str(path)]
        start_s = time.perf_counter()
        peak = 0
        with answer.open("wb") as out, complaint.open("wb") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err)
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                peak = _peak_bytes(process.pid) or peak
                time.sleep(_EVERY_S)
        wall = time.perf_counter() - start_s
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command, stderr=complaint.read_bytes())
        results = json.loads(answer.read_bytes())
    return Run(results, usage.ru_utime + usage.ru_stime, wall, peak)


def _peak_bytes(pid: int) -> int:
    """VmHWM of proc(5); 0 if the process has ended. wait4(2) would count memory from before exec."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    match = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return 1024 * int(match[1]) if match else 0
