# SPDX-License-Identifier: GPL-2.0-or-later
"""How is one rdma-sim process run? Start, reset, step, close; its death or silence becomes an exception."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ns3_env import _native
from ns3_env.errors import ScenarioError, SimulatorDied, SimulatorHung, SimulatorNotFound

if TYPE_CHECKING:
    from ns3_env.scenario import Scenario

#: Names the simulator's program; overrides the one installed with the package.
EXECUTABLE_VARIABLE = "NS3_ENV_RDMA_SIM"

#: One sleep while waiting, s; between two, the process is looked at and Python's signal handlers run.
_SLICE_S = 0.02
_LAST_WORDS_BYTES = 4096
_CLOSE_PATIENCE_S = 1.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Decisions:
    """The flows due at one instant: k rows.

    Attributes:
        time_ns: simulated time.
        flows: (k,) index of each flow in the scenario's flow list.
        slots: (k,) slot of each flow.
        first: (k,) the flow's first decision, which carries no reward.
        terminated: (k,) the flow is done and needs no action.
        truncated: (k,) the episode was cut; no action is needed.
        records: (k, fields) telemetry, in the units of :data:`ns3_env.telemetry.FIELDS`.
    """

    time_ns: float
    flows: NDArray[np.int64]
    slots: NDArray[np.int64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    records: NDArray[np.float64]

    @property
    def due(self) -> NDArray[np.bool_]:
        """(k,) rows that need an action, in the order in which :meth:`Simulator.send_actions` takes them."""
        return ~(self.terminated | self.truncated)


@dataclass(frozen=True)
class EpisodeEnd:
    """The episode is over; ``results`` is the simulator's account of it (flows, queues, totals)."""

    results: dict[str, Any]


def find_executable() -> Path:
    """Path of rdma-sim: that in NS3_ENV_RDMA_SIM, or the one installed beside the compiled module.

    Raises SimulatorNotFound.
    """
    named = os.environ.get(EXECUTABLE_VARIABLE)
    path = Path(named) if named else Path(_native.__file__).parent / "bin" / "rdma-sim"
    if not os.access(path, os.X_OK) or path.is_dir():
        hint = (
            f"{EXECUTABLE_VARIABLE} names it"
            if named
            else f"install the package, or set {EXECUTABLE_VARIABLE}"
        )
        raise SimulatorNotFound(f"no simulator at {path} ({hint})")
    return path


def list_controllers(executable: str | os.PathLike[str] | None = None) -> list[str]:
    """Names of the congestion controllers the simulator knows. Raises SimulatorNotFound, SimulatorDied."""
    path = find_executable() if executable is None else Path(executable)
    done = subprocess.run(
        [os.fspath(path), "--controllers"], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode != 0:
        raise SimulatorDied(f"{path} --controllers ended with exit code {done.returncode}:\n{done.stderr}")
    return done.stdout.split()


class Simulator:
    """One rdma-sim process and the channel to it.

    Used in turns: :meth:`send_reset`, then :meth:`receive`, then :meth:`send_actions`, and so on until
    :class:`EpisodeEnd`. A reset may take the place of any other message, and starts the process if there is
    none. Not for use by two threads at once.

    Args:
        capacity: most rows of one message.
        executable: the program; default :func:`find_executable`.
        hang_timeout_s: a simulator that is stopped, asleep, or computing without a sign of life for longer
            is killed.
            One that waits for a core is left alone.
        start_timeout_s: patience for a process that starts.
    """

    def __init__(
        self,
        capacity: int = 64,
        *,
        executable: str | os.PathLike[str] | None = None,
        hang_timeout_s: float = 0.9,
        start_timeout_s: float = 60.0,
    ) -> None:
        self._capacity = capacity
        self._executable = executable
        self._hang_timeout_s = hang_timeout_s
        self._start_timeout_s = start_timeout_s
        self._source: str | None = None
        self._forget()

    def _forget(self) -> None:
        """State without a process."""
        self._agent: _native.AgentEnd | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[..., Any] | None = None
        self._words_fd = -1
        self._our_turn = False
        self._due = -1  # actions expected; -1: only a reset is

    @property
    def pid(self) -> int | None:
        """The process's id, None while there is none."""
        return None if self._process is None else self._process.pid

    @property
    def waiting(self) -> bool:
        """The simulator has the turn: :meth:`receive` will give its answer."""
        return self._process is not None and not self._our_turn

    def start(self) -> None:
        """Starts the process, if there is none. Raises SimulatorNotFound, SimulatorDied, SimulatorHung."""
        if self._process is not None:
            return
        executable = find_executable() if self._executable is None else Path(self._executable)
        agent = _native.AgentEnd(self._capacity)
        words_fd = os.memfd_create("ns3_env-stderr", os.MFD_CLOEXEC)
        fcntl.fcntl(words_fd, fcntl.F_SETFL, os.O_APPEND)
        try:
            process = subprocess.Popen(
                [os.fspath(executable), f"--channel-fd={agent.channel_fd}"],
                stdin=subprocess.DEVNULL,
                stdout=words_fd,
                stderr=words_fd,
                pass_fds=(agent.channel_fd, agent.blob_fd),
                # A session of its own: Ctrl-C at the terminal is the parent's to handle.
                start_new_session=True,
            )
        except OSError as error:
            os.close(words_fd)
            raise SimulatorNotFound(f"cannot start {executable}: {error.strerror}") from error
        self._agent, self._process, self._words_fd = agent, process, words_fd
        # Runs when this object is collected and at the interpreter's exit.
        self._end = weakref.finalize(self, _end_process, process, words_fd, os.getpid())
        self._flows, self._slots, self._flags = agent.flows, agent.slots, agent.flags
        self._records, self._actions = agent.records, agent.actions
        self._our_turn = False
        try:
            self._await(starting=True)
        except BaseException:
            self.kill()
            raise

    def send_reset(self, scenario: Scenario | Mapping[str, Any]) -> None:
        """Begins the scenario's episode, without waiting for it. An episode that still runs is given up.

        A mapping is sent as it is: the simulator's JSON (see ``Scenario.to_simulator_json``).
        Raises what :meth:`start` raises.
        """
        if isinstance(scenario, Mapping):
            self._source, content = None, scenario
        else:
            self._source, content = scenario.source, scenario.to_simulator_json()
        text = json.dumps(content, separators=(",", ":")).encode()
        if self.waiting:
            # Left over from an episode that was given up; a process that does not answer is replaced.
            with contextlib.suppress(SimulatorDied, SimulatorHung):
                self._await()
        if self._process is not None and self._has_ended():
            self.kill()  # while it had nothing to do
        self.start()
        assert self._agent is not None
        os.ftruncate(self._words_fd, 0)
        self._agent.write_blob(text)
        self._hand_over(_native.COMMAND_RESET, 0)

    def send_actions(self, actions: ArrayLike) -> None:
        """Answers the last decisions and lets the simulator go on.

        Args:
            actions: (m, 3), a row per due row of the last decisions: window (B), pacing rate (bit/s), and
                the number that comes back as ``last_action``.
        """
        if not self._our_turn or self._due < 0 or self._agent is None:
            raise RuntimeError(
                "the simulator has asked for no actions: send_reset() and receive() come first"
            )
        values = np.asarray(actions, dtype=np.float64)
        if values.shape != (self._due, _native.ACTION_WIDTH) and not values.size == self._due == 0:
            raise ValueError(
                f"{self._due} rows of {_native.ACTION_WIDTH} actions were due, not {values.shape}"
            )
        if self._due:
            self._actions[: self._due] = values
        self._hand_over(_native.COMMAND_STEP, self._due)

    def _hand_over(self, command: int, count: int) -> None:
        assert self._agent is not None
        self._our_turn = False
        self._due = -1
        self._agent.send(command, count)

    def receive(self) -> Decisions | EpisodeEnd:
        """Waits for the simulator's answer.

        Raises:
            ScenarioError: the simulator refuses the scenario; it stays alive.
            SimulatorDied: the process has ended; the message holds its last words.
            SimulatorHung: the process gave no sign of life and was killed.
        """
        if self._agent is None or self._our_turn:
            raise RuntimeError(
                "nothing was asked of the simulator: send_reset() or send_actions() come first"
            )
        kind = self._await()
        agent = self._agent
        if kind == _native.MESSAGE_DECISIONS:
            k = agent.row_count
            flags = self._flags[:k]
            decisions = Decisions(
                time_ns=agent.time_ps / 1000,
                flows=self._flows[:k].astype(np.int64),
                slots=self._slots[:k].astype(np.int64),
                first=(flags & _native.ROW_FIRST) != 0,
                terminated=(flags & _native.ROW_TERMINATED) != 0,
                truncated=(flags & _native.ROW_TRUNCATED) != 0,
                records=self._records[:k].copy(),
            )
            self._due = int(np.count_nonzero(decisions.due))
            return decisions
        if kind == _native.MESSAGE_EPISODE_END:
            return EpisodeEnd(json.loads(agent.read_blob()))
        if kind == _native.MESSAGE_ERROR:
            text = agent.read_blob().decode(errors="replace")
            raise ScenarioError(text if self._source is None else f"{self._source}: {text}")
        self.kill()
        raise SimulatorDied(f"the simulator broke the protocol: message {kind} out of turn")

    def answered(self) -> bool:
        """The simulator has the turn no longer: :meth:`receive` would not wait."""
        return self.waiting and self._agent is not None and _native.wait_any([self._agent], 0.0) == 0

    def _await(self, *, starting: bool = False) -> int:
        """Waits for the next message; the turn is then ours."""
        assert self._agent is not None
        kind = self._agent.wait(_SLICE_S)
        if kind == _native.MESSAGE_NONE:
            watch = _Watch(self._agent.heartbeat)
            began = time.monotonic()
            while kind == _native.MESSAGE_NONE:
                self._raise_if_dead()
                if starting:
                    if time.monotonic() - began > self._start_timeout_s:
                        self._raise_hung(f"did not start within {self._start_timeout_s:g} s")
                elif reason := watch.look(self.pid, self._agent.heartbeat, self._hang_timeout_s):
                    self._raise_hung(reason)
                kind = self._agent.wait(_SLICE_S)
        self._our_turn = True
        return kind

    def _has_ended(self) -> bool:
        """Also in the moment between the death of the main thread and that of the last one."""
        assert self._process is not None
        return self._process.poll() is not None or _process_state(self.pid)[0] in ("Z", "X")

    def _raise_if_dead(self) -> None:
        assert self._process is not None
        assert self._agent is not None
        code = self._process.poll()
        if code is None:
            return
        if code < 0:
            how = f"was killed by signal {-code} ({signal.strsignal(-code)})"
        else:
            how = f"ended with exit code {code}"
        message = f"the simulator (pid {self._process.pid}) {how}{self._last_words()}"
        self.kill()
        raise SimulatorDied(message)

    def _raise_hung(self, reason: str) -> None:
        message = f"the simulator (pid {self.pid}) {reason} and was killed{self._last_words()}"
        self.kill()
        raise SimulatorHung(message)

    def _last_words(self) -> str:
        size = os.fstat(self._words_fd).st_size
        text = os.pread(self._words_fd, _LAST_WORDS_BYTES, max(0, size - _LAST_WORDS_BYTES))
        words = text.decode(errors="replace").strip()
        return f"; its last words:\n{words}" if words else "; it left no last words"

    def kill(self) -> None:
        """Ends the process at once; :meth:`send_reset` starts a new one."""
        if self._end is not None:
            self._end()
        self._forget()

    def close(self) -> None:
        """Ends the process; may be called again."""
        if self._process is not None and self._agent is not None and self._our_turn:
            self._agent.send(_native.COMMAND_CLOSE)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSE_PATIENCE_S)
        self.kill()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def wait_any(simulators: Sequence[Simulator]) -> int:
    """Index of a simulator that has answered; all those given must be waiting.

    Raises SimulatorDied or SimulatorHung for one that never will.
    """
    ends = [simulator._agent for simulator in simulators if simulator._agent is not None]
    if len(ends) != len(simulators) or not ends:
        raise RuntimeError("there is a simulator of which nothing was asked")
    watches = [_Watch(end.heartbeat) for end in ends]
    while True:
        index = _native.wait_any(ends, _SLICE_S)
        if index >= 0:
            return index
        for i, (simulator, watch) in enumerate(zip(simulators, watches, strict=True)):
            simulator._raise_if_dead()
            if reason := watch.look(simulator.pid, ends[i].heartbeat, simulator._hang_timeout_s):
                simulator._raise_hung(reason)


class _Watch:
    """Tells a hung process from one that computes, or waits for a core."""

    def __init__(self, heartbeat: int) -> None:
        self._beat = heartbeat
        self._cpu_s: float | None = None
        self._idle_since: float | None = None

    def look(self, pid: int | None, heartbeat: int, timeout_s: float) -> str | None:
        """Why the process counts as hung, or None."""
        now = time.monotonic()
        state, cpu_s = _process_state(pid)
        if heartbeat != self._beat:
            self._beat, self._cpu_s, self._idle_since = heartbeat, cpu_s, None
            return None
        if self._cpu_s is None:
            self._cpu_s = cpu_s
        # Runnable (R) may mean waiting for a core, D for memory or disk: both are the machine's doing.
        if state in "STt":
            if self._idle_since is None:
                self._idle_since = now
            if now - self._idle_since > timeout_s:
                how = "stopped" if state in "Tt" else "asleep"
                return f"was {how} for {now - self._idle_since:.1f} s while it should compute"
        else:
            self._idle_since = None
            if cpu_s - self._cpu_s > timeout_s - _SLICE_S:
                return f"computed for {cpu_s - self._cpu_s:.1f} s without a sign of life"
        return None


def _process_state(pid: int | None) -> tuple[str, float]:
    """State letter and CPU time (s) of a process; see proc(5), /proc/pid/stat."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "X", 0.0
    fields = text.rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def _end_process(process: subprocess.Popen[bytes], words_fd: int, owner: int) -> None:
    """Kills and reaps the process, unless this is a fork of the process that owns it."""
    if os.getpid() == owner:
        process.kill()
        process.wait()
    os.close(words_fd)
