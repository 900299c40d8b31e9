# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of ports under ``auto``: the needs that the flows' controllers declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ns3_env.programs.executable import describe_controllers
from ns3_env.programs.transport import Transport
from ns3_env.scenario.controllers import Controller
from ns3_env.scenario.derived import played_controllers
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.switch import CongestionPoints, Ecn
from ns3_env.scenario.tcp_queue import QueueLength, RedMarking, Threshold

T = TypeVar("T")


@dataclass(frozen=True)
class Declared(Generic[T]):
    """A setting of ports that each controller may declare.

    Attributes:
        key: key in the simulator's list of controllers.
        place: key in a scenario.
        setting: function that returns the scenario's own value; "auto" if controllers decide.
        read: function that converts a controller's declaration to a value.
        what: the setting in words.
        in_words: function that describes a value in words, for a user who has to choose between two.
        instead: the keys to set if controllers differ.
        transport: transport of the controllers.
        attributes: controller attributes that change the declaration, with the keys that they replace.
    """

    key: str
    place: str
    setting: Callable[[ScenarioFields], Any]
    read: Callable[[Any], T]
    what: str
    in_words: Callable[[T], str]
    instead: str
    transport: Transport = "rdma"
    attributes: Mapping[str, str] = field(default_factory=dict)

    def published(self, names: Iterable[str] | None = None) -> dict[str, T]:
        """Returns the needs of controllers as published; those not named have none.

        Args:
            names: names of controllers; None: all.

        Raises SimulatorNotFound, SimulatorDied.
        """
        everyone = describe_controllers(transport=self.transport) if names is None else names
        return dict(self.needed(Controller(name=name) for name in everyone))

    def needed(self, controllers: Iterable[Controller]) -> list[tuple[str, T]]:
        """Returns the needs of controllers with these attributes, by name; raises as :meth:`published`."""
        declared = describe_controllers(transport=self.transport)
        values: list[tuple[str, T]] = []
        for controller in controllers:
            setting = declared[controller.name][self.key] if controller.name in declared else None
            if setting is not None:
                attributes = controller.attributes
                changed = {key: attributes[x] for x, key in self.attributes.items() if x in attributes}
                value = self.read({**setting, **changed} if changed else setting)
                values.append((controller.name, value))
        return values

    def of(self, scenario: ScenarioFields, controllers: list[int]) -> T | None:
        """The scenario's setting, for flows under these controllers (indices)."""
        setting = self.setting(scenario)
        if setting != "auto":
            chosen: T | None = setting
            return chosen
        players = played_controllers(scenario)
        present = (players[index] for index in sorted(set(controllers)))
        return next((value for _, value in self.needed(present)), None)

    def faults(self, scenario: ScenarioFields, controllers: Callable[[], list[int]]) -> list[str]:
        """A port does one thing only; if two controllers need two, the user has to choose.

        ``controllers()``: each flow's, as an index.
        """
        players = played_controllers(scenario)
        if self.setting(scenario) != "auto" or len(players) < 2:
            return []
        present = sorted((players[i] for i in set(controllers())), key=lambda player: player.name)
        needed = self.needed(present)
        if all(value == needed[0][1] for _, value in needed):
            return []
        needs = ", ".join(f"{name} {self.in_words(value)}" for name, value in needed)
        names = " and ".join(name for name, _ in needed)
        return [
            f"{self.place}: flows under {names} need different {self.what} ({needs}): "
            f"give {self.instead} instead of 'auto'"
        ]


def _thresholds(ecn: Ecn) -> str:
    return f"{ecn.kmin_bytes:g}/{ecn.kmax_bytes:g} B and pmax {ecn.pmax:g} at {ecn.at_rate_bps / 1e9:g} Gb/s"


def _samples(points: CongestionPoints) -> str:
    return f"{points.feedback} feedback each {points.sample_bytes:g} B"


MARKING = Declared(
    "ecn",
    "switch.ecn",
    lambda scenario: scenario.switch.ecn,
    Ecn.model_validate,
    "marking",
    _thresholds,
    "kmin_bytes, kmax_bytes, pmax and at_rate_bps",
    attributes={"Kmin": "kmin_bytes", "Kmax": "kmax_bytes", "Pmax": "pmax", "MarkingRate": "at_rate_bps"},
)
CONGESTION_POINTS = Declared(
    "congestion_points",
    "switch.congestion_points",
    lambda scenario: scenario.switch.congestion_points,
    CongestionPoints.model_validate,
    "congestion points",
    _samples,
    "feedback, sample_bytes and what else matters",
)
SCHEDULING = Declared(
    "scheduling",
    "switch.scheduling",
    lambda scenario: scenario.switch.scheduling,
    str,
    "scheduling",
    str,
    "fifo or least_remaining",
)


def _threshold(declared: Mapping[str, Any]) -> Threshold | RedMarking:
    """Returns the declaration of a TCP controller: a threshold of a port of some rate."""
    rest = {key: value for key, value in declared.items() if key != "threshold_packets"}
    packets = QueueLength(amount=declared["threshold_packets"], unit="packets")
    return Threshold(threshold=packets, **rest)


def _packets(marking: Threshold | RedMarking) -> str:
    assert isinstance(marking, Threshold)
    rate = f" at {marking.at_rate_bps / 1e9:g} Gb/s" if marking.at_rate_bps is not None else ""
    return f"from {marking.threshold.text()}{rate}"


def _of_queue(place: str, setting: Callable[[ScenarioFields], Any]) -> Declared[Threshold | RedMarking]:
    return Declared("marking", place, setting, _threshold, "marking", _packets, "{threshold: ..}", "tcp")


QUEUE_MARKING = _of_queue("tcp.queue.marking", lambda scenario: scenario.tcp.queue.marking)
HOST_QUEUE_MARKING = _of_queue(
    "tcp.host_queue.marking", lambda scenario: scenario.tcp.host_queue and scenario.tcp.host_queue.marking
)

#: Every setting of ports that ``auto`` sets from controllers, by transport.
DECLARED: dict[Transport, tuple[Declared[Any], ...]] = {
    "rdma": (MARKING, CONGESTION_POINTS, SCHEDULING),
    "tcp": (QUEUE_MARKING, HOST_QUEUE_MARKING),
}

published_ecn = MARKING.published
published_congestion_points = CONGESTION_POINTS.published
