# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile checkpoints: nothing in them runs when they are read, and faults are refused."""

import base64
import io
import itertools
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th

import train
from ns3_env.agents.training.checkpoint import TrainedPolicy, resolve, trainer_of
from ns3_env.agents.training.layout import read_arrays, read_layout, write_arrays
from ns3_env.agents.training.trainer import GradientTrainer
from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main as eval_main
from ns3_env.eval.commands.export import main as export_main
from tests.samples.files import Refused, dumped

#: Commands that run a checkpoint read the policy's file; those that need its networks, the trainer's arrays.
PLAYING = ("compare", "benchmark", "export")
LEARNING = ("resume", "export")
COMMANDS = (*PLAYING, "resume")


class Evil:
    """Creates a folder when its pickle is read."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.canary),)


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "run"))


def checkpoint(run: Path) -> Path:
    (folder,) = (run / "checkpoints").iterdir()
    return folder


@pytest.fixture
def error_of(run: Path, refused: Refused) -> Callable[[str], str]:
    """The command's one-line error about this run, which is found without running its code."""

    def of(command: str) -> str:
        out = run.parent / "out"
        if command == "compare":
            return refused(eval_main, "compare", "policy", run)
        if command == "resume":
            return refused(train.main, "--resume", run, "--no-evaluation", "train.decisions=500")
        if command == "export":
            error = refused(export_main, run, "--format", "native", "--out", out)
        else:
            two = {"name": "two", "scenario": {"topology": {"kind": "dumbbell", "senders": 2}}}
            suite = dumped(run.parent / "suite.yaml", {"controllers": ["hpcc"], "scenarios": [two]})
            error = refused(eval_main, "benchmark", suite, "--out", out, f"--checkpoint=x={run}")
        assert not out.exists()
        return error

    return of


def torch_file(evil: Evil, zipped: bool = True) -> bytes:
    content = io.BytesIO()
    th.save({"weights": evil}, content, _use_new_zipfile_serialization=zipped)
    return content.getvalue()


def networks(folder: Path) -> GradientTrainer:
    """The networks that an agent's own code loads from its checkpoint."""
    layout = read_layout(folder)
    learner = trainer_of(folder, layout).load(folder, layout)
    assert isinstance(learner, GradientTrainer)
    return learner


def sb3_archive(evil: Evil) -> bytes:
    """An archive of Stable-Baselines3, with a payload in its ``data`` and in the weights."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        payload = base64.b64encode(pickle.dumps(evil)).decode()
        archive.writestr("data", json.dumps({"policy_class": {":type:": "x", ":serialized:": payload}}))
        archive.writestr("policy.pth", torch_file(evil))
    return content.getvalue()


def object_arrays(evil: Evil) -> bytes:
    content = io.BytesIO()
    np.savez(content, windows=np.array([evil], dtype=object))
    return content.getvalue()


def one_member(name: str, content: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", compression) as file:
        file.writestr(name, content)
    return archive.getvalue()


def npy(array: np.ndarray, claimed: tuple[int, ...] | None = None) -> bytes:
    """A .npy file; its header may claim another shape."""
    content = io.BytesIO()
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": claimed or array.shape}
    np.lib.format.write_array_header_1_0(content, header)
    return content.getvalue() + array.tobytes()


Attack = tuple[str, Callable[[Evil], bytes], str]
IN_PLACE = ("policy.npz", "optimisers.npz", "replay_buffer.npz")
ZEROS = np.zeros(2**20)


def member(name: str, content: bytes, compression: int = zipfile.ZIP_STORED) -> Callable[[Evil], bytes]:
    return lambda evil: one_member(name, content, compression)


#: Replacements of a file: a name, its bytes, and the error's words.
FORGED: list[Attack] = [
    ("a model of Stable-Baselines3", sb3_archive, "holds 'data', no array, which could run code"),
    ("a file of PyTorch", torch_file, "no array, which could run code"),
    ("an old file of PyTorch", lambda evil: torch_file(evil, False), "pickle, which could run code"),
    ("a pickle", pickle.dumps, "holds a pickle, which could run code"),
    ("an old pickle", lambda evil: pickle.dumps(evil, protocol=0), "no file of arrays, or cut short"),
    ("objects", object_arrays, "'windows' holds pickled objects, which could run code"),
    ("nothing", lambda evil: b"", "no file of arrays, or cut short"),
    ("a path upwards", member("../../x.npy", npy(np.zeros(3))), "'../../x', which has no place"),
    ("a path from the root", member("/var/x.npy", npy(np.zeros(3))), "/x', which has no place"),
    ("too large a claim", member("x.npy", npy(np.zeros(3), (2**50,))), "no array of numbers"),
    ("a bomb", member("x.npy", npy(ZEROS), zipfile.ZIP_DEFLATED), "is compressed"),
    ("text", member("x.npy", npy(np.array(["x"]))), "no array of numbers"),
    ("a header of code", member("x.npy", b"\x93NUMPY\x01\x00\x10\x00__import__('os')"), "cannot be read"),
]


def test_the_payloads_would_work(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Evil(tmp_path / "canary")))
    assert (tmp_path / "canary").is_dir()
    th.load(io.BytesIO(torch_file(Evil(tmp_path / "other"))), weights_only=False)
    np.load(io.BytesIO(object_arrays(Evil(tmp_path / "third"))), allow_pickle=True)["windows"]
    assert (tmp_path / "other").is_dir()
    assert (tmp_path / "third").is_dir()


def name_of(value: Any) -> str:
    """An attack's name; a command, or a command and the file that it reads."""
    return value if isinstance(value, str) else value[0] if len(value) == 3 else " ".join(value)


def on(places: Sequence[Any]) -> list[tuple[Any, Attack]]:
    """Every attack in the first place, and in the others, which are read alike, two that would run code."""
    code = [attack for attack in FORGED if attack[0] in ("a pickle", "objects")]
    return [*((places[0], attack) for attack in FORGED), *itertools.product(places[1:], code)]


@pytest.mark.parametrize(("command", "attack"), on(PLAYING), ids=name_of)
def test_what_takes_the_policys_place_is_refused_and_not_run(
    run: Path, error_of: Callable[[str], str], command: str, attack: Attack
) -> None:
    canary = run.parent / "canary"
    before = sorted(path.name for path in run.parent.iterdir())
    (checkpoint(run) / "policy.safetensors").write_bytes(attack[1](Evil(canary)))
    assert "policy.safetensors: no safetensors file, or cut short" in error_of(command)
    assert {path.name for path in run.parent.iterdir()} - {"suite.yaml"} == set(before)


@pytest.mark.parametrize(
    ("place", "attack"), on([*(("resume", file) for file in IN_PLACE), ("export", "policy.npz")]), ids=name_of
)
def test_what_takes_the_place_of_arrays_is_refused_where_they_are_needed(
    run: Path, error_of: Callable[[str], str], place: tuple[str, str], attack: Attack
) -> None:
    (command, file), canary = place, run.parent / "canary"
    (checkpoint(run) / file).write_bytes(attack[1](Evil(canary)))
    error = error_of(command)
    assert file in error
    assert attack[2] in error
    assert not canary.exists()
    # Commands that do not learn never open the files that only learning needs.
    assert isinstance(resolve(run).load(), TrainedPolicy)
    assert not canary.exists()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("file", "alone"), [("model.zip", True), ("policy.pth", False), ("replay_buffer.pkl", False)]
)
def test_files_of_pickles_are_refused_by_name(
    run: Path, error_of: Callable[[str], str], command: str, file: str, alone: bool
) -> None:
    canary = run.parent / "canary"
    if alone:  # as in checkpoints of older versions
        for name in IN_PLACE:
            (checkpoint(run) / name).unlink()
    make = {"model.zip": sb3_archive, "policy.pth": torch_file, "replay_buffer.pkl": pickle.dumps}[file]
    (checkpoint(run) / file).write_bytes(make(Evil(canary)))
    error = error_of(command)
    assert f"{file}: holds pickled objects, which could run code: not loaded" in error
    assert not canary.exists()


@pytest.mark.parametrize("command", LEARNING)
def test_weights_that_are_no_numbers_are_refused(
    run: Path, error_of: Callable[[str], str], command: str
) -> None:
    path = checkpoint(run) / "policy.npz"
    arrays = read_arrays(path)
    next(iter(arrays.values())).flat[0] = np.nan
    write_arrays(path, arrays)
    assert "policy.npz: 'actor.stack" in (error := error_of(command))
    assert "numbers that are not finite" in error


def test_a_byte_that_changed_is_seen_and_a_policy_that_is_missing(run: Path) -> None:
    weights = max(read_arrays(checkpoint(run) / "policy.npz").values(), key=lambda array: array.nbytes)
    for file in ("policy.safetensors", "policy.npz"):
        path = checkpoint(run) / file
        content = bytearray(path.read_bytes())
        begin = content.find(weights.tobytes())  # not the archive's dates, which are never read
        content[len(content) * 3 // 4 if begin < 0 else begin] ^= 1
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"policy\.safetensors: sha256"):
        resolve(run).load()
    with pytest.raises(ConfigError, match=r"policy\.npz: cannot be read"):
        networks(checkpoint(run))
    (checkpoint(run) / "policy.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"has no policy\.safetensors: incomplete, or written by an older"):
        resolve(run).load()  # the trainer's arrays are no substitute for it


def cut(share: float, path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])


@pytest.mark.parametrize("share", [0.0, 0.9])
@pytest.mark.parametrize(
    ("commands", "file"),
    [
        (PLAYING, "policy.safetensors"),
        (LEARNING, "policy.npz"),
        (COMMANDS, "layout.json"),
        *((("resume",), f"{name}.npz") for name in ("optimisers", "replay_buffer")),
        *((("resume",), f"{name}.json") for name in ("learner", "state")),
    ],
)
def test_files_cut_short_are_refused_by_whoever_reads_them(
    run: Path, error_of: Callable[[str], str], commands: Sequence[str], share: float, file: str
) -> None:
    cut(share, checkpoint(run) / file)
    assert [command for command in commands if file not in error_of(command)] == []


MEMORIES: list[tuple[Callable[..., Any], str]] = [
    (lambda array: None, "has no 'actor.optimizer/0/{}': not loaded"),
    (lambda array: np.zeros((7, 7), np.float32), "'actor.optimizer/0/{}' is float32 (7, 7), not float32"),
    (lambda array: array.astype(np.float64), "'actor.optimizer/0/{}' is float64"),
    (lambda array: np.zeros((1, *array.shape), np.float32), "'actor.optimizer/0/{}' is float32 (1"),
]


@pytest.mark.parametrize(
    ("key", "change", "words"),
    [
        *((key, *memory) for key in ("step", "exp_avg") for memory in MEMORIES),
        ("exp_avg", lambda array: np.float32(0), "'actor.optimizer/0/exp_avg' is float32 (), not"),
    ],
)
def test_an_optimiser_remembers_all_of_a_parameter_or_nothing(
    run: Path, error_of: Callable[[str], str], key: str, change: Callable[..., Any], words: str
) -> None:
    path, name = checkpoint(run) / "optimisers.npz", f"actor.optimizer/0/{key}"
    arrays = read_arrays(path)
    changed = change(arrays.pop(name))
    write_arrays(path, arrays if changed is None else {**arrays, name: changed})
    error = error_of("resume")
    assert "optimisers.npz" in error
    assert words.format(key) in error


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent": "os.system"}, "there is no agent 'os.system'"),
        ({"settings": {"hidden": 16}}, "policy.npz: 'actor"),
        ({"settings": {"hiden": 16}}, "unknown key 'hiden'"),
        ({"settings": {"hidden": 10**12}}, "agent.hidden: must be at most 1000000"),
        ({"fields": ["no"]}, "unknown observation field 'no'"),
        ({"fields": "rtt"}, "fields: "),
        ({"action_map": "no"}, "env.action: "),
        ({"slots": 0}, "slots: "),
        ({"code": "x"}, "unknown key 'code'"),
    ],
)
def test_what_a_layout_says_is_checked(run: Path, change: dict[str, Any], words: str) -> None:
    path = checkpoint(run) / "layout.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ConfigError) as error:
        networks(checkpoint(run))
    assert words in str(error.value)
