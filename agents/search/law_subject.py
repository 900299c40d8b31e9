# SPDX-License-Identifier: GPL-2.0-or-later
"""Search subject: a law's numbers, each a coordinate, played by a network fitted to the law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from ns3_env.agents.configuration.run_folder import versions
from ns3_env.agents.search.attributes import space_of, values_at
from ns3_env.agents.search.config import LawConfig, Parameter
from ns3_env.agents.search.distil import distil
from ns3_env.agents.search.law import SizeLaw
from ns3_env.agents.search.network_config import NetworkConfig
from ns3_env.agents.search.network_files import NetworkFiles
from ns3_env.agents.search.subject import Point, Values
from ns3_env.config.model import nearest, validate
from ns3_env.errors import ConfigError
from ns3_env.policies.file import PolicyFile
from ns3_env.policies.header import Training
from ns3_env.scenario import Controller
from ns3_env.task.actions import make_action_map


class LawSubject(NetworkFiles):
    """A ``Subject``: numbers of a ``SizeLaw``, and of the action map and the clock that it is played with."""

    before = None

    def __init__(self, config: LawConfig, network: NetworkConfig, name: str, seed: int, source: str) -> None:
        """
        Args:
            config: which numbers, in which ranges.
            network: what is fitted to the law; its action map and clock where they are not searched.
            name: of the run.
            seed: of the fit.
            source: what errors begin with.

        Raises:
            ConfigError: there is no such number, or it does not begin within its range.
        """
        self.network, self.seed, self.source = network, seed, source
        self.training = Training(run=name, agent="search", seed=seed, versions=versions())
        self.parameters = {key: self._with_start(key, entry) for key, entry in config.parameters.items()}
        self.space = space_of(self.parameters)
        self.columns = tuple(self.parameters)
        self.label = f"{name}-found"

    def describe(self, point: Point) -> Values:
        """The numbers."""
        return dict(values_at(self.parameters, point))

    def remarks(self, found: Controller) -> list[str]:
        """Where the file is."""
        return [f"the network fitted to the law: {found.attributes['File']}"]

    def policy(self, point: Point) -> PolicyFile:
        """The policy that a point stands for. Raises ConfigError where the simulator cannot play it."""
        law, network = self._meant(values_at(self.parameters, point))
        assert network.start is not None
        spec = network.spec(self.source).model_copy(update={"training": self.training})
        weights = distil(law, network.fields, network.hidden, network.start.fit_steps, self.seed)
        return PolicyFile(spec, {name: tensor.astype("float32") for name, tensor in weights.items()})

    def _with_start(self, key: str, parameter: Parameter) -> Parameter:
        """The parameter with what the network's section says as its start, where it has none itself."""
        known = _settings(self.network)
        if key not in known:
            raise ConfigError(
                f"{self.source}: law.parameters: there is no number {key!r}{nearest(key, list(known))} of "
                f"{', '.join(known)}"
            )
        start = known[key] if parameter.start is None else parameter.start
        if not parameter.low <= start <= parameter.high:
            raise ConfigError(
                f"{self.source}: law.parameters.{key}: the start, {start:g}, is not between low and high"
            )
        return parameter.model_copy(update={"start": start})

    def _meant(self, values: Mapping[str, float]) -> tuple[SizeLaw, NetworkConfig]:
        """The law, and the network's configuration, that the values stand for. Raises ConfigError."""
        data = self.network.model_dump(mode="json")
        assert self.network.start is not None
        for key, value in values.items():
            if key in SizeLaw.model_fields:
                data["start"]["law"][key] = value
            elif key == "rtt_fraction":
                data["clock"][key] = value
            else:
                data["action"][key] = value
        network = validate(data, NetworkConfig, f"{self.source}: law.parameters")
        assert network.start is not None
        return network.start.law, network


def _settings(network: NetworkConfig) -> dict[str, float]:
    """Every number that may be searched, as the network's section has it."""
    assert network.start is not None
    action = asdict(make_action_map(network.action.name, **network.action.settings))  # type: ignore[call-overload]
    whole = {**network.start.law.model_dump(), **action, **network.clock.model_dump()}
    return {key: value for key, value in whole.items() if isinstance(value, float)}
