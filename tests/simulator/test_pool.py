# SPDX-License-Identifier: GPL-2.0-or-later
"""The pool of processes: jobs of a script travel, the script does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.pool import LocalPool, Play

class Found:
    def __init__(self, unfinished):
        self.unfinished = unfinished

def measure(results):
    return Found(results["totals"]["unfinished"])

print("once")
scenario = Scenario(topology=Dumbbell(senders=2), traffic=Incast(size_bytes=10_000), controllers=["hpcc"])
with LocalPool(2) as pool:
    for future in [pool.submit(Play(scenario.with_seed(seed), measure)) for seed in range(3)]:
        found = future.result()
        assert isinstance(found, Found)
        print(found.unfinished)
print(__file__)
"""


def test_a_script_without_a_main_guard_uses_a_pool_and_is_run_once(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["once", "0", "0", "0", str(script)], done.stderr


PREPARED = """
import sys
from ns3_env.simulator.pool import LocalPool, prepare

class Asked:
    def run(self, simulator):
        return "colorsys" in sys.modules

prepare("colorsys")
with LocalPool(1) as pool:
    print(pool.submit(Asked()).result(), "colorsys" in sys.modules)
"""


def test_processes_begin_with_what_was_prepared_for_them(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(PREPARED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr
