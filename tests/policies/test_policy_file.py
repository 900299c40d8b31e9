# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy files: read as they were written, all else refused in one line."""

import json
import os
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from ns3_env import _native
from ns3_env.errors import ConfigError
from ns3_env.policies.file import KEY, MAX_POLICY_BYTES, PolicyFile, read_policy, write_policy
from ns3_env.policies.tensors import sha256
from tests.samples.policy_files import tiny
from tests.samples.tables import refusals

Tensors = dict[str, np.ndarray]

MLP = {"kind": "mlp", "hidden_activation": "relu", "output_activation": "tanh"}
CARRIED = {**MLP, "kind": "lstm", "memory": "carried"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.safetensors"


def header(policy: PolicyFile, **changes: Any) -> dict[str, Any]:
    return {**json.loads(policy.header()), **changes}


def forge(path: Path, content: dict[str, Any] | str, tensors: Tensors) -> None:
    """Writes a file with this possibly invalid header."""
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(save({name: np.ascontiguousarray(x) for name, x in tensors.items()}, {KEY: text}))


def refusal(path: Path) -> str:
    """The one-line error about the file."""
    with pytest.raises(ConfigError) as error:
        read_policy(path)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("kind", ["mlp", "lstm", "carried"])
def test_what_is_read_is_what_was_written(path: Path, kind: str) -> None:
    policy = tiny(kind)
    write_policy(path, policy)
    read = read_policy(path)
    assert read.spec == policy.spec
    assert read.tensors.keys() == policy.tensors.keys()
    assert all(np.array_equal(read.tensors[name], policy.tensors[name]) for name in policy.tensors)
    assert read.sha256 == policy.sha256
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_header_is_what_the_format_says(path: Path) -> None:
    assert header(tiny("lstm")) == {
        "version": 1,
        "observation": [
            {"field": "rtt", "transform": "symlog"},
            {"field": "qlen", "transform": "none"},
            {"field": "goodput", "transform": "none"},
        ],
        "history": 3,
        "network": {"kind": "lstm", "hidden_activation": "relu", "output_activation": "tanh"},
        "action": {"name": "multiplicative_window", "alpha": 0.5, "rounding": "floor"},
        "clock": {"name": "per_flow_rtt", "rtt_fraction": 0.5},
        "decision_quantum_ns": 0,
        "telemetry_bytes": 42,
        "training": {"versions": {}},
        "sha256": sha256(tiny("lstm").tensors),
    }


def test_the_header_names_a_memory_that_is_no_history_and_says_nothing_of_the_other(path: Path) -> None:
    assert header(tiny("carried"))["network"] == CARRIED
    network = {**header(tiny("lstm"))["network"], "memory": "history"}
    forge(path, header(tiny("lstm"), network=network), tiny("lstm").tensors)
    assert read_policy(path).spec == tiny("lstm").spec
    write_policy(path, read_policy(path))
    assert b"memory" not in path.read_bytes()


@pytest.mark.parametrize("shortcut", [0, 5])
def test_a_network_that_carries_its_state_may_have_a_shortcut(path: Path, shortcut: int) -> None:
    write_policy(path, tiny("carried", shortcut))
    tensors = read_policy(path).tensors
    assert tensors["layers.0.weight"].shape == (4, 2 + shortcut)
    assert ("shortcut.bias" in tensors) == (shortcut > 0)
    assert _native.Policy(str(path)).state_width == 4


def test_the_hash_is_over_names_shapes_and_data() -> None:
    from hashlib import sha256 as reference

    tensors = {"b": np.array([[1.0], [2.0]], np.float32), "a": np.array([3.0], np.float32)}
    laid_out = b"a\0" + struct.pack("<qf", 1, 3) + b"b\0" + struct.pack("<qqff", 2, 1, 1, 2)
    assert sha256(tensors) == reference(laid_out).hexdigest()


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_a_file_cut_short_anywhere_is_refused(path: Path, kind: str) -> None:
    write_policy(path, tiny(kind))
    whole = path.read_bytes()
    data = 8 + struct.unpack("<Q", whole[:8])[0]
    assert data < len(whole)
    for length in sorted({*range(0, data, 29), 1, 7, 8, 9, *range(data - 1, len(whole), 7), len(whole) - 1}):
        path.write_bytes(whole[:length])
        assert "no safetensors file, or cut short" in refusal(path), length
        with pytest.raises(_native.PolicyError, match="cut short"):
            _native.Policy(str(path))


@pytest.mark.parametrize("claimed", [0, 1, 2**20, 2**40, 2**63, 2**64 - 1])
def test_a_headers_length_that_is_none_is_refused(path: Path, claimed: int) -> None:
    write_policy(path, tiny())
    path.write_bytes(struct.pack("<Q", claimed) + path.read_bytes()[8:])
    assert "no safetensors file, or cut short" in refusal(path)


def test_what_is_no_policy_is_refused(path: Path, tmp_path: Path) -> None:
    assert "no such file" in refusal(path)
    (tmp_path / "fdcc.yaml").write_text("kind: train")
    assert refusal(tmp_path / "fdcc.yaml").startswith("is YAML, and a policy is a safetensors file")
    for content in (b"\0" * 100, pickle.dumps({"weights": 1}), b"{}", b"PK\3\4"):
        path.write_bytes(content)
        assert "no safetensors file" in refusal(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(1))
    assert "no safetensors file" in refusal(path)
    for metadata in (None, {"format": "pt"}):
        path.write_bytes(save({"weight": np.zeros(3, np.float32)}, metadata))
        assert f"no policy: its header has no '{KEY}'" in refusal(path)
    folder = tmp_path / "folder"
    folder.mkdir()
    assert "is a folder" in refusal(folder)
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe" in refusal(tmp_path / "pipe")
    os.truncate(path, MAX_POLICY_BYTES + 1)
    assert f"at most {MAX_POLICY_BYTES} B" in refusal(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *refusals("policy header"),
        ({"observation": [{"field": "rtt"}] * 10**5}, "observation: 100000 entries"),
        ({"version": 10**30}, f"is of version {10**30} of the format, newer than 1"),
    ],
)
def test_a_header_that_is_wrong_is_refused_by_its_key(path: Path, change: dict[str, Any], words: str) -> None:
    """By the simulator, too, except for what it does not read, and for an action map that it has."""
    forge(path, header(tiny(), **change), tiny().tensors)
    assert words in refusal(path)
    if "training" not in change and change.get("action") != {"name": "absolute_window"}:
        with pytest.raises(_native.PolicyError) as error:
            _native.Policy(str(path))
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("[1]", "expected keys and values"),
        ("[" * 100_000, "no JSON"),
        ('{"history": NaN}', "NaN is no number of JSON"),
        ('{"history": -Infinity}', "-Infinity is no number of JSON"),
        ('{"history": 1, "history": 2}', "key 'history' is there twice"),
        ("{}", "observation: Field required"),
    ],
)
def test_a_header_that_is_none_is_refused(path: Path, text: str, words: str) -> None:
    forge(path, text, tiny().tensors)
    assert words in refusal(path)


#: A kind of policy, a tensor and its replacement (None: missing), and the error message.
TENSORS: list[tuple[str, str, np.ndarray | None, str]] = [
    *(
        ("lstm", name, np.zeros(shape, np.float32), f"tensor {words}")
        for name, shape, words in (
            ("layers.0.weight", (4, 6), "'layers.0.weight' is [4, 6], not [4, 7]"),
            ("layers.0.weight", (4,), "'layers.0.weight' is [4], not a matrix"),
            ("layers.0.weight", (0, 7), "'layers.0.weight' is [0, 7], not a matrix"),
            ("layers.0.bias", (5,), "'layers.0.bias' is [5], not [4]"),
            ("layers.1.weight", (1, 3), "'layers.1.weight' is [1, 3], not [1, 4]"),
            ("layers.1.weight", (2, 4), "'layers.1.weight' has 2 outputs, not 1"),
            ("lstm.weight_ih", (8, 4), "'lstm.weight_ih' is [8, 4], not [8, 3]"),
            ("lstm.weight_hh", (8, 3), "'lstm.weight_ih' is [8, 3], not [12, 3]"),
            ("lstm.weight_hh", (4, 2), "'lstm.weight_hh' is [4, 2], not [8, 2]"),
            ("lstm.bias", (8, 1), "'lstm.bias' is [8, 1], not [8]"),
            ("shortcut.weight", (5, 2), "'shortcut.weight' is [5, 2], not [5, 3]"),
            ("layers.2.bias", (1,), "'layers.2.bias' has no place in an lstm; the nearest known one is '"),
            ("code", (1,), "'code' has no place in an lstm"),
        )
    ),
    *(
        ("lstm", name, None, f"has no tensor '{name}'")
        for name in ("layers.0.weight", "lstm.bias", "lstm.weight_hh", "shortcut.weight")
    ),
    ("carried", "shortcut.weight", None, "tensor 'shortcut.bias' has no place in an lstm"),
    ("carried", "shortcut.bias", None, "has no tensor 'shortcut.bias'"),
    *(
        ("mlp", "layers.0.weight", np.zeros((4, 3), kind), "'layers.0.weight' is of type")
        for kind in ("float64", "float16", "int32", "bool")
    ),
    *(
        ("lstm", "shortcut.bias", np.full(5, value, np.float32), f"tensor 'shortcut.bias' has {value} at [")
        for value in (np.nan, np.inf, -np.inf)
    ),
]


@pytest.mark.parametrize(("kind", "name", "tensor", "words"), TENSORS)
def test_a_tensor_that_does_not_fit_is_refused_by_its_name(
    path: Path, kind: str, name: str, tensor: np.ndarray | None, words: str
) -> None:
    policy = tiny(kind, 5 if kind == "carried" else None)
    tensors = {x: value for x, value in {**policy.tensors, name: tensor}.items() if value is not None}
    forge(path, header(policy, sha256=sha256(tensors)), tensors)
    assert words in refusal(path)
    with pytest.raises(_native.PolicyError):
        _native.Policy(str(path))
    if tensor is None or tensor.dtype == np.float32:
        with pytest.raises(ValueError, match="tensor"):
            PolicyFile(policy.spec, tensors)


def test_a_bit_that_changed_is_seen(path: Path) -> None:
    write_policy(path, tiny("lstm"))
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    assert "sha256: the tensors are not those that were written" in refusal(path)
    with pytest.raises(ValueError, match="sha256: the tensors are not those that were written"):
        _native.Policy(str(path))  # as the simulator reads it if a scenario names it
