# SPDX-License-Identifier: GPL-2.0-or-later
"""The pool of processes: jobs of a script travel, the script does not, and needs no standard streams."""

import errno
import os
import subprocess
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from ns3_env.config.command_line import os_fault
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.simulator.simulator import Simulator


def run_script(folder: Path, text: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs mine.py with this text; modules in the folder can be imported."""
    (folder / "mine.py").write_text(text)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(folder / "mine.py")]
    # The processes that a script starts have its standard streams: their end is its own.
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout_s, check=False, env=environment
    )


SCRIPT = """
import sys
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.pool import LocalPool, Play, prepare

class Found:
    def __init__(self, unfinished):
        self.unfinished, self.is_prepared = unfinished, "colorsys" in sys.modules

def measure(results):
    return Found(results["totals"]["unfinished"])

print("once")
prepare("colorsys")
scenario = Scenario(topology=Dumbbell(senders=2), traffic=Incast(size_bytes=10_000), controllers=["hpcc"])
pool = LocalPool(2)
for future in [pool.submit(Play(scenario.with_seed(seed), measure)) for seed in range(3)]:
    found = future.result()
    assert isinstance(found, Found)
    print(found.unfinished, found.is_prepared)
print(__file__, "colorsys" in sys.modules)
"""


def test_a_script_without_a_main_guard_is_run_once_uses_a_pool_and_ends_though_that_is_open(
    tmp_path: Path,
) -> None:
    """The pool's processes begin with what was prepared for them, which the script itself has not."""
    done = run_script(tmp_path, SCRIPT)
    lines = ["once", *["0 True"] * 3, f"{tmp_path / 'mine.py'} False"]
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, lines, "")


CLOSED = """
from ns3_env.simulator.pool import LocalPool, prepare

prepare("slow")
pool = LocalPool(2)
futures = [pool.submit(None) for _ in range(2)]
while not all(future.running() for future in futures):
    pass
pool.close()
assert all("closed" in str(future.exception()) or future.exception() for future in futures)
"""


def test_a_program_that_closes_a_pool_while_its_workers_start_ends(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1)\n")
    done = run_script(tmp_path, CLOSED)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_keeps_a_worker_from_starting_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(ForkServerProcess, "start", refuse)
    with LocalPool(1) as pool, pytest.raises(OSError, match="Too many open files") as info:
        pool.submit(Play({}, dict)).result()
    assert os_fault(info.value) == "a worker process cannot start: Too many open files"


class Three:
    """A job without a simulator."""

    def run(self, simulator: Simulator) -> int:
        """Returns three."""
        return 3


def test_threads_that_start_workers_leave_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulator that another thread starts meanwhile would not start: "Bad address"."""
    changes: list[object] = []
    monkeypatch.setattr(type(os.environ), "__setitem__", lambda _, *change: changes.append(change))
    monkeypatch.setattr(type(os.environ), "__delitem__", lambda _, name: changes.append(name))
    with LocalPool(2) as pool:
        assert pool.submit(Three()).result() == 3
    assert changes == []


KILLED = """
import os, signal
from ns3_env.simulator.pool import prepare

prepare("slow")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_process_that_forks_workers_ends_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nfor _ in range(3000): time.sleep(0.01)\n")
    run_script(tmp_path, KILLED, timeout_s=20)


_PROGRAM = """
import os, sys
for fd in range(3):
    os.close(fd)
import gymnasium, numpy as np, ns3_env
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.pool import LocalPool, Play

if __name__ == "__main__":
    env = gymnasium.make("ns3_env/RdmaIncast-v1", scenario=incast_scenario(2, 20_000))
    env.reset(seed=1)
    branch = env.unwrapped.branch()
    branch.step(np.zeros(1))
    branch.close()
    env.close()
    with LocalPool(1) as pool:
        scenario = Scenario(controllers=[Controller(name="hpcc")], traffic=Incast(flows=2, size_bytes=9_000))
        pool.submit(Play(scenario, len)).result()
    open(sys.argv[1], "w").write("played")
"""


def test_environments_and_pools_start_without_standard_streams(tmp_path: Path) -> None:
    program, report = tmp_path / "program.py", tmp_path / "told"
    program.write_text(_PROGRAM)
    subprocess.run([sys.executable, program, report], check=True, timeout=60)
    assert report.read_text() == "played"
