# SPDX-License-Identifier: GPL-2.0-or-later
"""Context that a driver sends to nodes with the work: plugins, allowed imports, program versions."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ns3_env.config.files import write_files
from ns3_env.config.imports import trust, trusted
from ns3_env.errors import ScenarioError, SimulatorNotFound
from ns3_env.programs.executable import PLUGINS_VARIABLE, find_executable, named_plugins
from ns3_env.programs.transport import TRANSPORTS
from ns3_env.scenario.scenario import Files
from ns3_env.simulator import HANG_TIMEOUT_VARIABLE, hang_timeout_s


def scratch() -> Path:
    """A folder on this node that is removed with Ray's. To be called by code on a node."""
    from ray._private.worker import global_worker

    assert global_worker.node is not None
    folder = Path(global_worker.node.get_session_dir_path()) / "ns3-env"
    folder.mkdir(exist_ok=True)
    return folder


def keep(files: Mapping[str, bytes]) -> Path:
    """A folder of this node with these files by their names ("/" parts folders), complete or not at all.

    Files that were sent before are not written again, no matter which worker kept them.
    """
    content = hashlib.sha256()
    for name, data in sorted(files.items()):
        content.update(f"{len(name)} {len(data)} {name}".encode() + data)
    folder = scratch() / content.hexdigest()[:32]
    if not folder.exists():
        partial = Path(tempfile.mkdtemp(dir=scratch(), prefix=".partial-"))
        write_files(partial, files)
        try:
            os.rename(partial, folder)
        except OSError:  # another worker was faster
            shutil.rmtree(partial, ignore_errors=True)
    return folder


@contextmanager
def unpacked(files: Files) -> Iterator[dict[str, str]]:
    """Paths that these files and folders have on this node within the block, by those that they had."""
    with tempfile.TemporaryDirectory(dir=scratch()) as name:
        paths = {}
        for number, (path, content) in enumerate(files.items()):
            here = Path(name, str(number), Path(path).name)
            if isinstance(content, bytes):
                write_files(here.parent, {here.name: content})
            else:
                write_files(here, content)
            paths[path] = str(here)
        yield paths


@dataclass(frozen=True)
class WorkerContext:
    """Context that travels with all work of a driver.

    Attributes:
        plugins: (file name, content) of shared objects with controllers.
        named_code: names (``pkg.module:name``) that the driver's command line allows.
        hang_timeout_s: hang timeout of the simulators, s.
        programs: version of the package and hash of each simulator, by name.
    """

    plugins: tuple[tuple[str, bytes], ...]
    named_code: tuple[str, ...]
    hang_timeout_s: float
    programs: Mapping[str, str]


def pack() -> WorkerContext:
    """Packs the context of this process, the driver."""
    plugins = tuple((path.name, path.read_bytes()) for path in named_plugins())
    return WorkerContext(plugins, tuple(sorted(trusted())), hang_timeout_s(), _programs())


def unpack(context: WorkerContext) -> None:
    """Gives this process, a worker, the driver's context.

    Raises:
        ScenarioError: the node has another simulator, or another version; the error names it, and the remedy.
    """
    for name, expected in context.programs.items():
        if (version := _programs().get(name, "none")) != expected:
            raise ScenarioError(
                f"node {platform.node()}: {name} is {version}, but {expected} where the command runs: all "
                "nodes need the same version of ns3-env"
            )
    trust(context.named_code)
    os.environ[HANG_TIMEOUT_VARIABLE] = repr(context.hang_timeout_s)
    files = [str(keep({name: content}) / name) for name, content in context.plugins]
    if files:
        os.environ[PLUGINS_VARIABLE] = os.pathsep.join(files)
    else:
        os.environ.pop(PLUGINS_VARIABLE, None)


@functools.cache
def _programs() -> dict[str, str]:
    versions = {"ns3-env": metadata.version("ns3-env")}
    for transport in TRANSPORTS:
        try:
            content = Path(find_executable(transport)).read_bytes()
        except SimulatorNotFound:  # the code that needs it will report that
            continue
        versions[f"{transport}-sim"] = hashlib.sha256(content).hexdigest()[:16]
    return versions
