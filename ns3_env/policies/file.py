# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes a policy's safetensors file; reading it runs nothing.

docs/policy-format.md describes its contents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ns3_env.config.files import check_plain, write_atomically
from ns3_env.config.model import shown, validate
from ns3_env.errors import ConfigError
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.tensors import Shape, Tensors, check_shapes, check_values, sha256

#: Key of the header of a policy's JSON.
KEY = "ns3_env.policy"
#: Its name in a folder: a checkpoint's, a released policy's.
POLICY_FILE = "policy.safetensors"
#: Version of the format; a newer one is refused.
VERSION = 1
#: Largest file; a network of 16 million weights decides too slowly for any flow.
MAX_POLICY_BYTES = 64 << 20

#: Configurations and scenarios, which appear next to policies on command lines.
_YAML = (".yaml", ".yml")


class Header(PolicySpec):
    """The header: the policy, and the file's checksum."""

    version: int = Field(ge=1, le=VERSION, strict=True)
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class PolicyFile:
    """A policy in the form of its file.

    Attributes:
        spec: header: inputs, network and action of the policy.
        tensors: tensors by name, as docs/policy-format.md lists them.
    """

    spec: PolicySpec
    tensors: Tensors

    def __post_init__(self) -> None:
        """Raises ValueError if the tensors are not those of such a policy."""
        check_shapes(self.spec, {name: tensor.shape for name, tensor in self.tensors.items()})
        check_values(self.tensors)

    @property
    def sha256(self) -> str:
        """Hash of the tensors."""
        return sha256(self.tensors)

    def header(self) -> str:
        """The JSON that every format carries under ``KEY``."""
        content = self.spec.model_dump(mode="json", exclude_none=True)
        return json.dumps({"version": VERSION, **content, "sha256": self.sha256})


def policy_bytes(policy: PolicyFile) -> bytes:
    """Returns the bytes of the policy's file."""
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in policy.tensors.items()}
    content: bytes = save(tensors, {KEY: policy.header()})
    return content


def write_policy(path: Path, policy: PolicyFile) -> None:
    """Writes the file: whole, or not at all. Raises OSError."""
    write_atomically(path, policy_bytes(policy))


def read_policy(path: str | Path) -> PolicyFile:
    """The policy in an untrusted file.

    Raises:
        ConfigError: one line: it is missing, too large, truncated, foreign, newer, or its contents make
            no policy.
    """
    path = Path(path)
    try:
        check_plain(path)
        size = path.stat().st_size
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    if path.suffix in _YAML:
        raise ConfigError(
            f"{path}: is YAML, and a policy is a safetensors file: training leaves {POLICY_FILE} in "
            "runs/NAME/checkpoints/NUMBER (name the run)"
        )
    if size > MAX_POLICY_BYTES:
        raise ConfigError(f"{path}: has {size} B; a policy has at most {MAX_POLICY_BYTES} B")
    try:
        with safe_open(path, framework="numpy") as file:
            header = _header(path, file.metadata())
            shapes = {name: _shape(path, file, name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            check_shapes(header, shapes)
            tensors: Tensors = {name: file.get_tensor(name) for name in shapes}
        check_values(tensors)
    except ConfigError:
        raise
    except SafetensorError as error:
        raise ConfigError(f"{path}: no safetensors file, or cut short: {_line(error)}") from None
    except (OSError, ValueError, MemoryError) as error:
        raise ConfigError(f"{path}: {_line(error)}") from None
    if sha256(tensors) != header.sha256:
        raise ConfigError(f"{path}: sha256: the tensors are not those that were written")
    content = header.model_dump(exclude={"version", "sha256"})
    return PolicyFile(PolicySpec.model_validate(content), tensors)


def read_header(source: str, text: str) -> Header:
    """A policy's JSON, wherever it was found.

    Args:
        source: name of the file, for errors.
        text: the JSON.

    Raises:
        ConfigError: one line.
    """
    try:
        data = json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{source}: {KEY}: no JSON: {_line(error)}") from None
    if not isinstance(data, Mapping):
        raise ConfigError(f"{source}: {KEY}: expected keys and values, found {shown(data)}")
    version: Any = data.get("version")
    if isinstance(version, int) and version > VERSION:
        newer = f"{source}: is of version {shown(version)} of the format, newer than {VERSION}"
        raise ConfigError(f"{newer}, the last one known here: update ns3-env")
    try:
        return validate(data, Header, source)
    except ConfigError as error:
        first, *others = str(error).split("\n")
        more = f" (and {len(others)} more)" if others else ""
        raise ConfigError(first + more) from None


def _header(path: Path, metadata: Mapping[str, str] | None) -> Header:
    if metadata is None or KEY not in metadata:
        raise ConfigError(f"{path}: no policy: its header has no {KEY!r}; export.py writes such files")
    return read_header(str(path), metadata[KEY])


def _shape(path: Path, file: Any, name: str) -> Shape:
    """Shape of a tensor of float32, which is not read for it. Raises ConfigError for another type."""
    part = file.get_slice(name)
    if part.get_dtype() != "F32":
        raise ConfigError(f"{path}: tensor {shown(name)} is of type {part.get_dtype()}, not F32")
    return tuple(part.get_shape())


def _no_number(text: str) -> NDArray[Any]:
    raise ValueError(f"{text} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The mapping, each of whose keys is unique: another reader could choose another duplicate."""
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {shown(next(key for key in keys if keys.count(key) > 1))} is there twice")
    return content


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}..."
