# SPDX-License-Identifier: GPL-2.0-or-later
"""Growth of memory, files and threads over steps, resets and kills: ``python -m tests.soak.soak``."""

import argparse
import contextlib
import functools
import gc
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.envs.flow_stream import FlowStream
from ns3_env.errors import SimulatorError
from ns3_env.simulator import HANG_TIMEOUT_VARIABLE
from tests.processes import alive, open_descriptors, shared_memory
from tests.samples.scenarios import incast

SIMULATORS = 4
SLOTS = 4
#: A stopped simulator is detected as late as a hung one; a killed one at once.
HANG_TIMEOUT_S = "0.9"
DETECTED_WITHIN_S = 5.0
_STOPPED_SHARE = 0.1
_BETWEEN_LINES_S = 3.0
_SAMPLES = 24
#: Accepted growth (kB) of mean memory from the second quarter of the samples to the last one.
_ALLOWED_KB = 1_000


@dataclass
class Usage:
    """Resources of this process and its simulators, sampled between episodes."""

    own_kb: list[int] = field(default_factory=list)
    simulators_kb: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    shared: list[int] = field(default_factory=list)

    def sample(self, pids: list[int]) -> None:
        """Adds a point to each series."""
        self.own_kb.append(_status("self", "VmRSS"))
        self.simulators_kb.append(max(_status(str(pid), "RssAnon") for pid in pids))
        self.descriptors.append(open_descriptors())
        self.threads.append(_status("self", "Threads"))
        self.children.append(_children())
        self.shared.append(len(shared_memory()))

    def grown(self) -> list[str]:
        """Lists the resources that have grown."""
        growths = []
        for name, series in vars(self).items():
            quarter = max(1, len(series) // 4)
            before, after = np.mean(series[quarter : 2 * quarter]), np.mean(series[-quarter:])
            allowed = _ALLOWED_KB if name.endswith("_kb") else 0.5
            if after - before > allowed:
                growths.append(f"{name} has grown from {before:.1f} to {after:.1f}: {series}")
        return growths

    def __str__(self) -> str:
        return ", ".join(f"{name} {series[0]} -> {series[-1]}" for name, series in vars(self).items())


def _status(pid: str, key: str) -> int:
    """A number of /proc/PID/status."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in text.splitlines() if line.startswith(f"{key}:")).split()[1])


def _children() -> int:
    """Processes whose parent this one is, including dead ones that were not waited for."""
    count = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended by now
            count += int(stat.read_text().rpartition(")")[2].split()[1]) == os.getpid()
    return count


def scenario() -> Mapping[str, Any]:
    """An incast of SLOTS flows that decide on every ACK: some ten thousand decisions, then truncated."""
    return incast(SLOTS, 3_000_000, spread_ns=1000, time_limit_ns=2_000_000).to_simulator_json()


class Soak:
    """Steps, aborts episodes and kills simulators until each was done the required number of times.

    Raises AssertionError or SimulatorError if the environment does not recover.
    """

    def __init__(
        self,
        steps: int,
        resets: int,
        kills: int,
        seed: int = 1,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.say, self.next_line = say, time.monotonic() + _BETWEEN_LINES_S
        #: Answered rows, episodes aborted and restarted, and episodes that ended by themselves.
        self.steps = self.resets = self.episodes = 0
        #: Time until each kill or stop of a simulator was detected.
        self.detected_s: list[float] = []
        self.at_work, self.under_kills = Usage(), Usage()
        chance = random.Random(seed)
        with FlowStream(scenario(), num_simulators=SIMULATORS, slots=SLOTS, ordered=False) as self.stream:
            self.stream.start()
            shares = [(i + 1) / _SAMPLES for i in range(_SAMPLES)]
            for share in shares:  # in which no simulator is replaced
                self._step_until(round(steps * share))
                self._reset_until(round(resets * share))
                self._sample(self.at_work)
            for share in shares:
                while self.kills < round(kills * share):
                    self._kill(chance)
                self._sample(self.under_kills)
            pids = self._pids()
        survivors = [pid for pid in pids if alive(pid)]
        assert survivors == [], f"simulators outlive their environment: {survivors}"

    @property
    def kills(self) -> int:
        return len(self.detected_s)

    def grown(self) -> list[str]:
        """Lists the resources that have grown."""
        return [*self.at_work.grown(), *self.under_kills.grown()]

    def _pids(self) -> list[int]:
        return [pid for pid in self.stream.pids if pid is not None]

    def _sample(self, usage: Usage) -> None:
        self.stream.start()
        self._step_until(self.steps + 100)  # all are running
        gc.collect()
        usage.sample(self._pids())
        if time.monotonic() > self.next_line:
            self.next_line = time.monotonic() + _BETWEEN_LINES_S
            self.say(f"{self.steps:,} steps, {self.resets:,} resets, {self.kills:,} kills: {usage}")

    def _step_until(self, steps: int) -> None:
        while self.steps < steps:
            self._answer()

    def _answer(self) -> None:
        batch = self.stream.recv()
        self.episodes += len(batch.results)
        due = batch.slots[batch.due]
        if len(due):
            self.stream.send(np.full((len(due), 1), 0.25), due)
            self.steps += len(due)

    def _reset_until(self, resets: int) -> None:
        """Aborts all episodes, some at once and some after a few decisions."""
        while self.resets < resets:
            self.stream.start()
            self.resets += SIMULATORS
            for _ in range(self.resets // SIMULATORS % 4):
                self._answer()

    def _kill(self, chance: random.Random) -> None:
        """Ends or stops a simulator at some instant; this is detected, and other simulators continue."""
        self.stream.start()
        for _ in range(chance.randrange(5)):
            self._answer()
        pid = chance.choice(self._pids())
        sent = signal.SIGSTOP if chance.random() < _STOPPED_SHARE else signal.SIGKILL
        time.sleep(chance.random() * 1e-3)
        os.kill(pid, sent)
        start_s = time.monotonic()
        with contextlib.suppress(SimulatorError):
            while time.monotonic() - start_s < DETECTED_WITHIN_S:
                self._answer()
            raise AssertionError(f"signal {sent.name} to {pid} was not noticed within {DETECTED_WITHIN_S} s")
        self.detected_s.append(time.monotonic() - start_s)


def main() -> int:
    """The long form: the exit code is 1 if a resource has grown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--resets", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ[HANG_TIMEOUT_VARIABLE] = HANG_TIMEOUT_S
    say = functools.partial(print, flush=True)
    done = Soak(options.steps, options.resets, options.kills, options.seed, say)
    grown = done.grown()
    print("\n".join(grown))
    print(
        f"soak: {done.steps:,} steps, {done.resets:,} resets, {done.episodes:,} episodes, "
        f"{done.kills:,} kills, "
        f"noticed within {max(done.detected_s):.2f} s; "
        f"at work: {done.at_work}; under kills: {done.under_kills}; "
        + ("GROWN" if grown else "nothing has grown")
    )
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
