# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkpoint's ``layout.json``: its networks' settings, written, read and compared."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from ns3_env.agents.configuration.run_folder import read_json
from ns3_env.config.files import naming, write_file
from ns3_env.config.model import Strict
from ns3_env.errors import ConfigError
from ns3_env.policies.released import LAYOUT
from ns3_env.scenario import Clock, Controller

#: Names of files with pickled objects, which execute code when read.
_PICKLES = (".zip", ".pkl", ".pickle", ".pth", ".pt")


class PolicyLayout(Strict):
    """Observation, action map and slots that a policy's networks are bound to.

    Attributes:
        agent: name of the agent.
        settings: the agent's section of the configuration.
        fields: fields of the observation.
        action_map: name of the action map.
        slots: number of slots of the environment that it was trained in.
        action_settings: settings of the action map.
        clock: clock of the flows' decisions; None in files of older versions.
        inside: true if there is a file of the policy for the simulator to run.
    """

    agent: str
    settings: dict[str, Any]
    fields: list[str]
    action_map: str
    slots: int = Field(ge=1)
    action_settings: dict[str, Any] = Field(default_factory=dict)
    clock: Clock | None = None
    inside: bool = True


def refuse_pickles(folder: Path) -> None:
    """Raises ConfigError, naming the file, if something in a checkpoint's folder could run code."""
    for path in sorted(folder.iterdir()):
        if path.suffix in _PICKLES:
            raise ConfigError(f"{path}: holds pickled objects, which could run code: not loaded")


def controller_layout(controller: Controller) -> dict[str, Any]:
    """The layout of a tuned controller's checkpoint."""
    return {"controller": controller.name, "attributes": dict(controller.attributes)}


def write_layout(folder: Path, layout: Mapping[str, Any]) -> None:
    """Writes a checkpoint's layout."""
    write_file(folder / LAYOUT, json.dumps(layout, indent=1))


def read_layout(folder: Path) -> dict[str, Any]:
    """A checkpoint's layout. Raises ConfigError, naming the file, if it is invalid."""
    return read_json(folder / LAYOUT)


def check_layout(folder: Path, expected: Mapping[str, Any]) -> None:
    """Raises ConfigError, naming file and key, if a checkpoint's layout is not the ``expected`` one."""
    layout = read_layout(folder)
    for key, value in expected.items():
        if layout.get(key) != value:
            raise ConfigError(
                f"{folder / LAYOUT}: {key} is {layout.get(key)}, but the run is configured for {value}"
            )


Arrays = dict[str, npt.NDArray[Any]]

#: Truth values, whole numbers, reals.
_KINDS = "biuf"
_SUFFIX = ".npy"
#: Exceptions of zipfile and NumPy for damaged or forged files.
_BROKEN = (
    OSError,
    ValueError,
    RuntimeError,
    EOFError,
    SyntaxError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Writes the arrays by name; the same arrays make the same bytes. Raises ValueError for objects."""
    with naming(path), zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(name + _SUFFIX), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)


def read_arrays(path: Path) -> Arrays:
    """The arrays that ``write_arrays()`` wrote.

    Raises:
        ConfigError: the file is missing, truncated, or contains anything but arrays of finite numbers.
    """
    try:
        if not zipfile.is_zipfile(path):
            with path.open("rb") as file:
                pickled = file.read(1) == b"\x80"
            what = "holds a pickle, which could run code" if pickled else "no file of arrays, or cut short"
            raise ConfigError(f"{path}: {what}: not loaded")
        with zipfile.ZipFile(path) as archive:
            return dict(_array(path, archive, member) for member in archive.infolist())
    except FileNotFoundError:
        raise ConfigError(f"{path}: missing") from None
    except ConfigError:
        raise
    except _BROKEN as error:
        raise ConfigError(f"{path}: cannot be read, perhaps cut short: {_line(error)}: not loaded") from error


def check_array(place: str, array: npt.NDArray[Any], shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
    """Raises ConfigError, naming ``place``, if an array is not of this shape and type."""
    if array.shape != shape or array.dtype != np.dtype(dtype):
        raise ConfigError(
            f"{place} is {array.dtype} {array.shape}, not {np.dtype(dtype)} {shape}: of another run"
        )


def check_names(path: Path, arrays: Mapping[str, object], expected: Mapping[str, object]) -> None:
    """Raises ConfigError if a file's arrays are not just the ``expected`` ones."""
    for name in arrays:
        if name not in expected:
            raise ConfigError(f"{path}: holds {name!r}, which has no place here: not loaded")
    for name in expected:
        if name not in arrays:
            raise ConfigError(f"{path}: has no {name!r}: not loaded")


def _array(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[str, npt.NDArray[Any]]:
    """Name and array of one member. Raises ConfigError, and errors of zipfile and NumPy."""
    if not member.filename.endswith(_SUFFIX):
        raise ConfigError(f"{path}: holds {member.filename!r}, no array, which could run code: not loaded")
    name = member.filename.removesuffix(_SUFFIX)
    if member.compress_type != zipfile.ZIP_STORED:
        raise ConfigError(f"{path}: {name!r} is compressed, as no checkpoint's is: not loaded")
    with archive.open(member) as file:
        shape, dtype = _header(file)
        if dtype.hasobject:
            raise ConfigError(f"{path}: {name!r} holds pickled objects, which could run code: not loaded")
        if dtype.kind not in _KINDS or math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
            raise ConfigError(f"{path}: {name!r} is no array of numbers: not loaded")
    with archive.open(member) as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise ConfigError(f"{path}: {name!r} has numbers that are not finite: not loaded")
    return name, array


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of the array that follows. Raises ValueError."""
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an unknown version of the format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    return shape, dtype


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
