# SPDX-License-Identifier: GPL-2.0-or-later
"""Released policies, found by name wherever a checkpoint may be named."""

from __future__ import annotations

from pathlib import Path

from ns3_env.config.folders import DATA
from ns3_env.config.gone import refuse
from ns3_env.config.model import nearest
from ns3_env.decision.task import unknown_fields
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, read_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.programs.transport import Transport
from ns3_env.scenario import AGENT, POLICY, Controller
from ns3_env.simulator import list_controllers

#: File that describes a checkpoint's folder; a folder without it is a policy's file and its companions.
LAYOUT = "layout.json"
#: One folder for each: the policy's file, a model card, its learning curve.
FOLDER = DATA / "checkpoints"
#: The leaderboard's trained entries, a folder each with a folder for each seed.
TRAINED = FOLDER / "tasks"
#: A constant window of one BDP, by its name on the leaderboard.
CONSTANT = "constant-window"
CONSTANT_WINDOW = Controller(name="fixed-window", attributes={"WindowBdp": 1.0})


def released_names() -> list[str]:
    """Names of the released policies."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{POLICY_FILE}"))


def trained_names() -> list[str]:
    """Names of the leaderboard's trained entries that are one policy, for all tasks or for one."""
    return sorted(folder.name for folder in TRAINED.glob("*/") if len(_of_first_seed(folder)) == 1)


def _of_first_seed(folder: Path) -> list[Path]:
    """Policies' files of an entry's first training: one, or one for each task, below the task's name."""
    return [*folder.glob(f"1/{POLICY_FILE}"), *folder.glob(f"1/*/{POLICY_FILE}")]


def is_released(path: Path) -> bool:
    """Returns whether this is no path but the bare name of a released policy, or of a trained entry of the
    leaderboard; a folder of that name is named by its absolute path."""
    names = {*released_names(), *trained_names()}
    return len(path.parts) == 1 and not path.is_absolute() and path.name in names


def released(name: str) -> Path:
    """The file of a released policy, or of the first seed of a trained entry of the leaderboard. Raises
    ConfigError, naming the existing ones."""
    names = released_names()
    if name in trained_names():
        return _of_first_seed(TRAINED / name)[0]
    if name not in names:
        refuse("policy", name)
        raise ConfigError(f"{name!r} is no released policy{nearest(name, names)} of {', '.join(names)}")
    return FOLDER / name / POLICY_FILE


def policy_path(path: Path) -> Path:
    """Finds the policy's file of a path or a released name.

    Args:
        path: name of a released policy, a policy's file, the folder of such a file, or the folder of a
            checkpoint or a run, which ``ns3_env.agents.training.checkpoint`` reads.

    Returns:
        The policy's file, or ``path`` if it is something else.

    Raises:
        ConfigError: it is the name of a removed policy.
    """
    if is_released(path):
        return released(path.name)
    if not path.exists():
        refuse("policy", str(path))
    file = path / POLICY_FILE
    return file if file.is_file() and not (path / LAYOUT).exists() else path


def load_policy(source: str | Path) -> NetworkPolicy:
    """A trained policy to call in Python (``predict``), with only the network: no agent's code, no PyTorch.

    Args:
        source: name of a released policy, a policy's file, or the folder of such a file, e.g. of a
            checkpoint.

    Raises:
        ConfigError: there is no such policy.
    """
    path = policy_path(Path(source))
    return NetworkPolicy.load(path / POLICY_FILE if path.is_dir() else path)


def controller_names(transport: Transport = "rdma") -> list[str]:
    """Names that ``named_controller`` accepts: those of the transport's controllers, and of policies that do
    not read fields unknown to it."""
    names = [name for name in list_controllers(transport=transport) if name not in (AGENT, POLICY)]
    return [*names, *([CONSTANT] if transport == "rdma" else []), *released_under(transport)]


def released_under(transport: Transport) -> list[str]:
    """Names of the released policies and trained entries that read only fields of the transport."""
    return [name for name in (*released_names(), *trained_names()) if unfit(name, transport) is None]


def unfit(name: str, transport: Transport) -> str | None:
    """Why a released policy cannot run under a transport; None if it can."""
    return None if transport == "rdma" else unknown_fields(transport, read_policy(released(name)).spec.fields)


def named_controller(name: str) -> Controller:
    """Returns the controller of this name: a policy (see :func:`released`), which the simulator evaluates, or
    the simulator's own."""
    if name == CONSTANT:
        return CONSTANT_WINDOW
    if is_released(Path(name)):
        return Controller(name=POLICY, attributes={"File": str(released(name))})
    return Controller(name=name)
