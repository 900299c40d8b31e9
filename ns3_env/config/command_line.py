# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines: arguments in any order, exit codes, and errors in one line.

SIGTERM, which batch systems send when a job's time is up, is Ctrl-C to every command.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ns3_env.config.model import cut
from ns3_env.errors import ConfigError, ScenarioError, SimulatorError

if TYPE_CHECKING:
    from rich.console import Console

#: Form of a trained policy in every command (``ns3_env.policies.released.policy_path``).
POLICY_HELP = (
    "a run's folder, a checkpoint's, a policy's file or its folder, a controller's file, or a released "
    "policy's name"
)
#: How each command continues in a clone; if the package is installed it is ``ns3-env`` and the key.
_IN_A_CLONE = {"train": "train.py", "eval": "-m eval", "export": "export.py"}
#: Extras of pyproject.toml, by the packages that they bring.
EXTRAS = {
    **dict.fromkeys(("torch", "stable_baselines3", "tensorboard", "tqdm", "cma"), "train"),
    **dict.fromkeys(("matplotlib", "jinja2", "scipy", "pandas", "pyarrow"), "report"),
    **dict.fromkeys(("onnx", "onnxruntime", "onnxscript"), "onnx"),
    "sb3_contrib": "contrib",
    "minari": "minari",
    **dict.fromkeys(("ray", "lz4", "ormsgpack", "tensorboardX"), "ray"),
}


_NOT_UTF8 = "a name that is not UTF-8, which the files that name it are: rename it"


def _is_utf8(text: str) -> bool:
    """Returns whether a text is free of the surrogates that Python puts for a path's bytes beyond UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class AnyOrder(argparse.ArgumentParser):
    """An ArgumentParser whose positional arguments may appear between options; also a subcommand's parser."""

    _within = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """See argparse. Ends with 2 for a path that is not UTF-8, before anything is done."""
        for text in sys.argv[1:] if args is None else args:
            if isinstance(text, str) and not _is_utf8(text):
                self.exit(2, f"error: {ascii(text)[1:-1]}: {_NOT_UTF8}\n")
        if self._within or self._subparsers is not None:  # argparse's intermixed parsing calls this itself
            return super().parse_known_args(args, namespace)
        self._within = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._within = False


def new_console(*, stderr: bool = False) -> Console:
    """Returns a console that shows texts unchanged: brackets and colons in names are no markup."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False)


def typed(command: str) -> str:
    """Returns how the user types one of the commands "train", "eval" and "export", by how this one was
    typed."""
    if Path(sys.argv[0]).name == "ns3-env":
        return f"ns3-env {command}"
    return f"{interpreter('python')} {_IN_A_CLONE[command]}"


def interpreter(program: str) -> str:
    """Returns how the user types a program of this Python's environment: with its folder if that lies
    below the working directory, as ``.venv/bin`` does."""
    path = Path(sys.executable).with_name(program)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else program


def guarded(work: Callable[[], int]) -> int:
    """The exit code of ``work()``; 2 for a mistake in the input, a package of an extra that is not installed,
    or a file that cannot be read or written, 1 if the simulator failed, 130 for Ctrl-C and SIGTERM. Each
    with one message on standard error. Warnings also go there, a line each."""
    warnings.formatwarning = plain_warning
    try:
        return _work(work)
    except (ConfigError, ScenarioError) as error:
        print("\n".join(map(cut, f"error: {error}".split("\n"))), file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {os_fault(error)}", file=sys.stderr)
        return 2
    except UnicodeEncodeError as error:
        if _is_utf8(error.object):
            raise
        print(f"error: {ascii(error.object)[1:-1][:200]}: {_NOT_UTF8}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if (message := missing(error)) is None:
            raise
        print(f"error: {message}", file=sys.stderr)
        return 2
    except SimulatorError as error:
        print(f"error: the simulator failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        exec("")  # Python forgets an interrupt of code in a string, for which it would end by SIGINT
        return 130


def _work(work: Callable[[], int]) -> int:
    """The exit code of ``work()``. Raises KeyboardInterrupt, also if a library made another error of it."""
    signals: list[int] = []
    try:
        with _interrupted_by_signals(signals):
            return work()
    except Exception:
        if signals:
            raise KeyboardInterrupt from None
        raise


def plain_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning as a line for the user of a command, without the place in the code that gave it."""
    return f"warning: {' '.join(str(message).split())}\n"


def os_fault(error: OSError) -> str:
    """Describes the fault in a file, and names it: ``PATH: No space left on device``."""
    if error.filename is None or error.strerror is None:
        return str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        path = Path(str(error.filename))
        files = [x for x in (path, *path.parents) if x.exists() and not x.is_dir()]
        if files:
            return f"{files[0]} is a file, where a folder is to be: name another"
    return f"{error.filename}: {error.strerror}"


@contextmanager
def _interrupted_by_signals(signals: list[int]) -> Iterator[None]:
    """Ctrl-C and SIGTERM, unless ignored, interrupt the block in the main thread, and go to ``signals``."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    numbers = [x for x in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(x) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def install(extra: str) -> str:
    """Returns the command that installs an extra."""
    return f"pip install 'ns3-env[{extra}]'"


def import_extra(name: str) -> Any:
    """Imports a package of an extra. Raises ConfigError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ConfigError(f"this needs {name}: {install(EXTRAS[name])}") from None


def missing(error: ModuleNotFoundError) -> str | None:
    """Returns the message on a package that is missing; None if it belongs to no extra."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return f"this needs {package}: {install(EXTRAS[package])}"
