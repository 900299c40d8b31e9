# SPDX-License-Identifier: GPL-2.0-or-later
"""Process of a simulator: started, watched and ended, with the end of its output kept."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from io import FileIO
from pathlib import Path
from typing import Any

from typing_extensions import Self

from ns3_env import _native
from ns3_env.config.files import write_atomically
from ns3_env.errors import ConfigError, SimulatorNotFound
from ns3_env.programs.executable import HANG_TIMEOUT_VARIABLE, plugin_options
from ns3_env.programs.transport import Transport
from ns3_env.simulator.script import Script
from ns3_env.simulator.sibling import Child, Sibling

_SHOWN_BYTES = 4096


class LastWords:
    """A file in memory that receives a process's output, until :meth:`close` or its own end."""

    def __init__(self, name: str) -> None:
        """``name`` is the name in /proc."""
        self._file = FileIO(os.memfd_create(name, os.MFD_CLOEXEC))  # its close() cannot be interrupted
        if self.fd <= 2:  # a closed standard stream's number: a child's own stream would replace it
            with self._file as low:
                self._file = FileIO(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 3))
        fcntl.fcntl(self.fd, fcntl.F_SETFL, os.O_APPEND)

    @property
    def fd(self) -> int:
        """Its descriptor. Raises ValueError once it is closed."""
        return self._file.fileno()

    def __len__(self) -> int:
        """Bytes kept."""
        return os.fstat(self.fd).st_size

    def end(self) -> str:
        """The end of the output that is kept, as the end of a sentence."""
        text = os.pread(self.fd, _SHOWN_BYTES, max(0, len(self) - _SHOWN_BYTES))
        words = text.decode(errors="replace").strip()
        return f"; its last words:\n{words}" if words else "; it left no last words"

    def forget(self) -> None:
        """Discards the output so far."""
        if len(self):  # cutting costs much more than looking
            os.ftruncate(self.fd, 0)

    def close(self) -> None:
        """Closes the file; may be called again."""
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()


def killed_by(number: int) -> str:
    """Describes how a process ended that a signal killed."""
    return f"was killed by signal {number} ({signal.strsignal(number)})"


#: One sleep while waiting, s; between two, the process is looked at and Python's signal handlers run.
SLICE_S = 0.02
#: Time between two checks of a simulator that no caller waits for, s.
LOOK_S = 0.1
#: Signals of a program's own faults.
FAULTS = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
#: Patience with the last thread of a process whose main thread has ended, s.
_LAST_THREAD_S = 5.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_HANG_TIMEOUT_S = 30.0


class Program(subprocess.Popen[bytes]):
    """A child that is ended when no reference to it is left, as after an interrupt while it starts."""

    ending = signal.SIGKILL

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._owner = os.getpid()
        super().__init__(*arguments, **keywords)

    def __del__(self) -> None:
        if getattr(self, "pid", None) is not None and self.returncode is None and os.getpid() == self._owner:
            self.send_signal(self.ending)
            self.wait()


class SimulatorProcess:
    """One process of rdma-sim or tcp-sim. It ends with this object, and at the interpreter's exit.

    Attributes:
        networks: number of simulators that use it.
    """

    def __init__(self, process: Child, words: LastWords, command: Sequence[str]) -> None:
        """
        Args:
            process: a child of ours.
            words: the end of its output; closed with the process.
            command: command that started it, without the channel.
        """
        self._process, self._words, self._command = process, words, command
        self._death: str | None = None  # once it is known
        self._last_words: str | None = None  # once the file is closed
        self.networks = 1
        self.end = weakref.finalize(self, _end_process, process, words, os.getpid())

    @classmethod
    def started(
        cls,
        executable: Path,
        agents: Sequence[_native.AgentChannel],
        transport: Transport = "rdma",
        script: Script | None = None,
        bell: _native.Doorbell | None = None,
    ) -> Self:
        """Starts one at our end of the channel, with the transport's plugins; or a script, which finds the
        channel in its environment. With ``bell``, it plays a network for each of several channels.

        Raises SimulatorNotFound.
        """
        files = [file for agent in agents for file in (agent.channel_fd, agent.blob_fd)]
        channels = f"--channel-fd={','.join(str(agent.channel_fd) for agent in agents)}"
        words = LastWords("ns3_env-stderr")
        if script is None:
            command = [os.fspath(executable), *plugin_options(transport)]
            started, environment = [*command, channels], None
        else:
            started = command = script.command()
            environment = {**script.environment(), "NS3_ENV_CHANNEL_FD": str(agents[0].channel_fd)}
        if bell is not None:
            started.append(f"--bell-fd={bell.fd}")
            files.append(bell.fd)
        try:
            process = Program(
                started,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=words.fd,
                stderr=words.fd,
                pass_fds=files,
                # Its own session: Ctrl-C at the terminal is the parent's to handle.
                start_new_session=True,
            )
        except OSError as error:
            words.close()
            raise SimulatorNotFound(f"cannot start {executable}: {error.strerror}") from error
        return cls(process, words, command)

    def copied(self, pid: int, words: LastWords) -> SimulatorProcess:
        """Returns the object of this process's copy ``pid``, which prints to ``words``."""
        return SimulatorProcess(Sibling(pid), words, self._command)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Also in the moment between the death of the main thread and that of the last one."""
        return self._process.poll() is not None or process_state(self.pid)[0] in ("Z", "X")

    def death(self, scenario_json: Callable[[], bytes]) -> str | None:
        """Describes how the process ended, with its last output; None while it runs.

        Args:
            scenario_json: the JSON of its episode, for the command that reproduces the fault.
        """
        if self._death is not None or not self.has_ended():
            return self._death
        self.wait(_LAST_THREAD_S)
        if (code := self._process.poll()) is None:
            return None
        how = killed_by(-code) if code < 0 else f"ended with exit code {code}"
        if -code in FAULTS:
            how += _shown_again(self._command, scenario_json())
        self._death = f"the simulator (pid {self.pid}) {how}{self.last_words()}"
        return self._death

    def last_words(self) -> str:
        """The end of its output since ``forget_words``, as the end of a sentence."""
        return self._words.end() if self._last_words is None else self._last_words

    def leave(self) -> None:
        """Ends the process for a simulator; others that use it learn of that later."""
        self.networks -= 1
        if self.networks > 0 and self.end.alive:
            self._last_words = self._words.end()
        self.end()

    def forget_words(self) -> None:
        """Discards the output so far, in an episode that is over."""
        self._words.forget()

    def wait(self, seconds: float) -> None:
        """Waits for the process's end, up to ``seconds``."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)


def hang_timeout_s() -> float:
    """Seconds of computing without a sign of life after which a simulator of this process is killed.

    Raises ConfigError if NS3_ENV_HANG_TIMEOUT is no number of seconds above 0.
    """
    text = os.environ.get(HANG_TIMEOUT_VARIABLE)
    if text is None:
        return _HANG_TIMEOUT_S
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ConfigError(f"{HANG_TIMEOUT_VARIABLE}: {text!r} is no number of seconds above 0")
    return value


class Watch:
    """Distinguishes a hung process from one that computes, waits for a core, or has nothing to do.

    Lives as long as the process; two checks may be any time apart.
    """

    def __init__(self) -> None:
        self._sign: object = None
        self._heard: object = None
        self._cpu_s = 0.0
        self._looked = 0.0
        self._asleep_s: float | None = None
        self._stopped_since: float | None = None

    def hears(self, sign: object) -> bool:
        """Returns whether there is another sign of life than when this was asked last: then no look is
        needed."""
        heard, self._heard = self._heard, sign
        if sign == heard:
            return False
        self._stopped_since = None
        return True

    def look(self, pid: int | None, sign: object, timeout_s: float, *, working: bool) -> str | None:
        """Why the process counts as hung, or None.

        Args:
            pid: the process.
            sign: sign of life; any change since the last look counts.
            timeout_s: patience, s.
            working: true if it should compute; otherwise it may sleep, but not be stopped.
        """
        now = time.monotonic()
        state, cpu_s = process_state(pid)
        # Time between checks is no evidence of sleep: it may have worked in between.
        gap_s, self._looked = min(now - self._looked, LOOK_S), now
        if state in "Tt":
            if self._stopped_since is None:
                self._stopped_since = now
            stopped_s = now - self._stopped_since
            # Looks lie up to LOOK_S apart: it may have been stopped that much longer.
            if stopped_s > max(timeout_s / 2, timeout_s - 2 * LOOK_S):
                return f"was stopped for {stopped_s:.1f} s"
            return None
        self._stopped_since = None
        if not working or sign != self._sign:
            self._sign, self._cpu_s, self._asleep_s = sign, cpu_s, None
            return None
        # Runnable (R) may mean waiting for a core, D for memory or disk: both are the machine's doing.
        if state == "S":
            self._asleep_s = 0.0 if self._asleep_s is None else self._asleep_s + gap_s
            if self._asleep_s > timeout_s:
                return f"was asleep for {self._asleep_s:.1f} s while it should compute"
            return None
        self._asleep_s = None
        if cpu_s - self._cpu_s > timeout_s - SLICE_S:
            return f"computed for {cpu_s - self._cpu_s:.1f} s without a sign of life"
        return None


def _shown_again(command: Sequence[str], scenario_json: bytes) -> str:
    """Returns the command that reproduces a simulator's own fault; "" if its JSON is invalid or cannot
    be stored."""
    from ns3_env.scenario.controllers import AGENT  # scenarios need simulators

    try:
        content = json.loads(scenario_json)
        under = {content["controllers"][i]["name"] for i in content["flows"]["controller"]}
        file = Path(tempfile.gettempdir(), f"ns3_env-{hashlib.sha256(scenario_json).hexdigest()[:12]}.json")
        write_atomically(file, scenario_json)
    except (ValueError, LookupError, TypeError, OSError):
        return ""
    if AGENT in under:
        return f"; it played {file} under the policy's actions"
    return f"; to see it again: `{shlex.join([*command, str(file)])}`"


def process_state(pid: int | None) -> tuple[str, float]:
    """State letter and CPU time (s) of a process; see proc(5), /proc/pid/stat."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            text = file.read()
    except OSError:
        return "X", 0.0
    fields = text.rpartition(b")")[2].split()
    return fields[0].decode(), (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def _end_process(process: Child, words: LastWords, owner: int) -> None:
    """Kills and reaps the process, unless this is a fork of the process that owns it."""
    try:
        if os.getpid() == owner:
            process.kill()
            process.wait()
    finally:
        words.close()
