# SPDX-License-Identifier: GPL-2.0-or-later
"""State of a learner: networks, optimisers and replay buffer as arrays, counts, and random generators.

Arrays and counts go into objects that the configuration creates. They come from untrusted files:
each replaces an array of the same shape and type, or none is used.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from pydantic import Field
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.policies import BasePolicy

from ns3_env.agents.configuration.run_folder import read_json
from ns3_env.agents.training.layout import Arrays, check_array, check_names, read_arrays, write_arrays
from ns3_env.agents.training.policy_tensors import Exported
from ns3_env.config.files import write_file
from ns3_env.config.model import Strict, validate
from ns3_env.errors import ConfigError
from ns3_env.policies.file import read_policy
from ns3_env.policies.header import Input
from ns3_env.policies.released import policy_path

#: Files of a checkpoint.
POLICY, OPTIMISERS, REPLAY_BUFFER, STATE = "policy.npz", "optimisers.npz", "replay_buffer.npz", "learner.json"


class Counts(Strict):
    """Counters of a learner."""

    decisions: int = Field(ge=0)
    episodes: int = Field(ge=0)
    updates: int = Field(ge=0)

    @classmethod
    def of(cls, model: BaseAlgorithm) -> Counts:
        """Reads the counters of ``model``."""
        return cls(decisions=model.num_timesteps, episodes=model._episode_num, updates=model._n_updates)

    def put_into(self, model: BaseAlgorithm) -> None:
        """Writes them into ``model``."""
        model.num_timesteps = self.decisions
        model._episode_num = self.episodes
        model._n_updates = self.updates


class RingPlace(Strict):
    """Fill of a replay buffer: ``size`` rows, the next one goes to ``position``."""

    size: int = Field(ge=1)
    position: int = Field(ge=0)
    full: bool

    @classmethod
    def of(cls, buffer: ReplayBuffer) -> RingPlace:
        """Reads the fill of ``buffer``."""
        return cls(size=buffer.buffer_size, position=buffer.pos, full=buffer.full)


def _policy_arrays(policy: BasePolicy) -> Arrays:
    """Every tensor of the networks, by its name in ``state_dict()``."""
    return {name: tensor.cpu().numpy() for name, tensor in policy.state_dict().items()}


def put_policy(policy: BasePolicy, folder: Path) -> None:
    """Loads the networks' arrays from a checkpoint's folder. Raises ConfigError."""
    path = folder / POLICY
    arrays, expected = read_arrays(path), _policy_arrays(policy)
    check_names(path, arrays, expected)
    for name, array in expected.items():
        check_array(f"{path}: {name!r}", arrays[name], array.shape, array.dtype)
    policy.load_state_dict({name: th.from_numpy(arrays[name]) for name in expected})


def _optimiser_arrays(model: BaseAlgorithm) -> Arrays:
    """Returns the states of optimisers ("actor.optimizer/PARAMETER/exp_avg"), and parameters outside of
    networks."""
    arrays = {f"variable/{name}": tensor.detach().cpu().numpy() for name, tensor in _variables(model).items()}
    for name, optimiser in _optimisers(model).items():
        for index, remembered in optimiser.state_dict()["state"].items():
            for key, value in remembered.items():
                arrays[f"{name}/{index}/{key}"] = value.cpu().numpy()
    return arrays


def _put_optimisers(model: BaseAlgorithm, path: Path) -> None:
    """Loads the optimisers' arrays from a file; their settings stay the configured ones.

    Raises:
        ConfigError: an array belongs to no parameter, or a parameter's array is missing.
    """
    remaining = read_arrays(path)
    for name, tensor in _variables(model).items():
        array = remaining.pop(f"variable/{name}", None)
        if array is None:
            raise ConfigError(f"{path}: has no 'variable/{name}': not loaded")
        now = tensor.detach().cpu().numpy()
        check_array(f"{path}: {name!r}", array, now.shape, now.dtype)
        tensor.data.copy_(th.from_numpy(array))
    for name, optimiser in _optimisers(model).items():
        states: dict[int, dict[str, th.Tensor]] = {}
        parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
        for index, parameter in enumerate(parameters):
            place = f"{name}/{index}/"
            arrays = {key: remaining.pop(key) for key in list(remaining) if key.startswith(place)}
            if not arrays:
                continue  # no step has been taken
            expected = {place + key: array for key, array in _remembered(optimiser, parameter).items()}
            check_names(path, arrays, expected)
            for key, like in expected.items():
                check_array(f"{path}: {key!r}", arrays[key], like.shape, like.dtype)
            states[index] = {key.removeprefix(place): th.from_numpy(array) for key, array in arrays.items()}
        optimiser.load_state_dict({"state": states, "param_groups": optimiser.state_dict()["param_groups"]})
    check_names(path, remaining, {})


def _remembered(optimiser: th.optim.Optimizer, parameter: th.Tensor) -> Arrays:
    """Returns such an optimiser's state of such a parameter, after a step with zero gradients."""
    like = th.zeros_like(parameter, requires_grad=True)
    like.grad = th.zeros_like(parameter)
    blank_optimiser: th.optim.Optimizer = type(optimiser)([like])  # type: ignore[call-arg]
    settings = optimiser.param_groups[0].items()
    blank_optimiser.param_groups[0].update({key: value for key, value in settings if key != "params"})
    blank_optimiser.step()
    return {key: value.cpu().numpy() for key, value in blank_optimiser.state[like].items()}


def _put_buffer(buffer: ReplayBuffer, place: RingPlace, path: Path) -> None:
    """Loads a file's arrays as the filled part of an empty buffer. Raises ConfigError."""
    arrays = read_arrays(path)
    if place.size != buffer.buffer_size or place.position >= place.size:
        raise ConfigError(
            f"{path}: is for {place.size} transitions, but the run is configured for {buffer.buffer_size}"
        )
    rings, filled = _rings(buffer), place.size if place.full else place.position
    check_names(path, arrays, rings)
    for name, ring in rings.items():
        check_array(f"{path}: {name!r}", arrays[name], (filled, *ring.shape[1:]), ring.dtype)
    for name, ring in rings.items():
        ring[:filled] = arrays[name]
    buffer.pos, buffer.full = place.position, place.full


def _rings(buffer: ReplayBuffer) -> Arrays:
    """The buffer's arrays with a row for each transition."""
    return {
        name: value
        for name, value in vars(buffer).items()
        if not name.startswith("_") and isinstance(value, np.ndarray) and len(value) == buffer.buffer_size
    }


def _variables(model: BaseAlgorithm) -> dict[str, th.Tensor]:
    """Parameters that are in no network."""
    return {name: attrgetter(name)(model) for name in model._get_torch_save_params()[1]}


def _optimisers(model: BaseAlgorithm) -> dict[str, Any]:
    return {name: attrgetter(name)(model) for name in model._get_torch_save_params()[0] if name != "policy"}


class RandomState(Strict):
    """Python's, NumPy's and PyTorch's global generators, and the action space's own.

    Attributes:
        python: ``random.getstate()``.
        numpy: ``numpy.random.get_state()``, a MT19937.
        torch: ``torch.get_rng_state()``, hexadecimal.
        actions: state of the action space's bit generator.
    """

    python: tuple[int, list[int], float | None]
    numpy: tuple[str, list[int], int, int, float]
    torch: str
    actions: dict[str, Any]

    @classmethod
    def now(cls, actions: spaces.Space[Any]) -> RandomState:
        """The generators as they are; ``actions`` is the space that actions are drawn from."""
        version, words, gauss = random.getstate()
        state: Any = np.random.get_state()  # noqa: NPY002
        name, key, place, has_gauss, cached = state
        return cls(
            python=(version, list(words), gauss),
            numpy=(name, [int(word) for word in key], place, has_gauss, cached),
            torch=th.get_rng_state().numpy().tobytes().hex(),
            actions=dict(actions.np_random.bit_generator.state),
        )

    def put_back(self, actions: spaces.Space[Any], path: Path) -> None:
        """Sets the generators, and that of the space ``actions``.

        Raises:
            ConfigError: naming ``path``, if they are no states of such generators.
        """
        version, numbers, gauss = self.python
        name, key, place, has_gauss, cached = self.numpy
        try:
            random.setstate((version, tuple(numbers), gauss))
            words = np.array(key, dtype=np.uint32)
            np.random.set_state((name, words, place, has_gauss, cached))  # noqa: NPY002
            th.set_rng_state(th.frombuffer(bytearray.fromhex(self.torch), dtype=th.uint8))
            actions.np_random.bit_generator.state = self.actions
        except (ValueError, TypeError, KeyError, OverflowError, RuntimeError) as error:
            raise ConfigError(f"{path}: random: no state of a generator: {error}") from error


class LearnerState(Strict):
    """State in a checkpoint in addition to arrays: counts, how far a replay buffer is filled, and the name
    under which the run started."""

    counts: Counts
    buffer: RingPlace | None
    random: RandomState
    run: str | None = None


def save_learner(folder: Path, model: BaseAlgorithm, run: str | None) -> None:
    """Writes all that is needed to continue; ``run`` is the name under which the run began."""
    write_arrays(folder / POLICY, _policy_arrays(model.policy))
    write_arrays(folder / OPTIMISERS, _optimiser_arrays(model))
    place = None
    if isinstance(model, OffPolicyAlgorithm):
        buffer = model.replay_buffer
        assert buffer is not None
        place = RingPlace.of(buffer)
        filled = {name: ring[: buffer.size()] for name, ring in _rings(buffer).items()}
        write_arrays(folder / REPLAY_BUFFER, filled)
    random = RandomState.now(model.action_space)
    state = LearnerState(counts=Counts.of(model), buffer=place, random=random, run=run)
    write_file(folder / STATE, state.model_dump_json())


def restore_learner(folder: Path, model: BaseAlgorithm) -> str | None:
    """Puts the state that ``save_learner`` wrote into a new model; returns the run's name.

    Raises:
        ConfigError: naming the file, if something does not belong to such a model.
    """
    state = validate(read_json(folder / STATE), LearnerState, str(folder / STATE))
    put_policy(model.policy, folder)
    _put_optimisers(model, folder / OPTIMISERS)
    if isinstance(model, OffPolicyAlgorithm):
        assert model.replay_buffer is not None
        if state.buffer is None:
            raise ConfigError(f"{folder / STATE}: buffer: missing")
        _put_buffer(model.replay_buffer, state.buffer, folder / REPLAY_BUFFER)
    state.counts.put_into(model)
    state.random.put_back(model.action_space, folder / STATE)
    return state.run


def start_tensors(start: str, network: Exported, fields: Sequence[str]) -> dict[str, th.Tensor]:
    """The tensors of a policy's file, by the format's names.

    Fields after those that the policy reads start with weights of 0.

    Args:
        start: name of a released policy, or a file's path.
        network: network that starts with these weights.
        fields: fields that the network reads, those of the policy first.

    Raises:
        ConfigError: the policy reads something else, or its network has another shape.
    """
    policy = read_policy(policy_path(Path(start)))
    count = len(policy.spec.observed)
    more = len(fields) - count if policy.spec.history == 1 else 0
    if policy.spec.observed != tuple(fields)[:count] or policy.spec.history != network.history:
        raise ConfigError(
            f"agent.start: {start} reads {policy.spec.history} observations of "
            f"{', '.join(policy.spec.observed)}: env.fields and agent.history_length have to agree"
        )
    tensors = {name: th.as_tensor(tensor) for name, tensor in policy.tensors.items()}
    if more > 0 and (first := "layers.0.weight") in tensors:
        tensors[first] = th.nn.functional.pad(tensors[first], (0, more))
    shapes = [{name: tuple(x.shape) for name, x in of.items()} for of in (tensors, network.tensors)]
    if shapes[0] != shapes[1]:
        raise ConfigError(f"agent.start: {start} has other layers ({shapes[0]}) than the agent ({shapes[1]})")
    read = {entry.transform for entry in policy.spec.observation if isinstance(entry, Input)}
    if policy.spec.network != network.network or read != {network.transform}:
        raise ConfigError(
            f"agent.start: {start} is {policy.spec.network} of inputs under {', '.join(sorted(read))}, the "
            f"agent {network.network} under {network.transform}"
        )
    return tensors
