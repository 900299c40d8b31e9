# SPDX-License-Identifier: GPL-2.0-or-later
"""What do switches do where a scenario says ``auto``? What the flows' controllers declare that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ns3_env.scenario.congestion_points import CongestionPoints
from ns3_env.scenario.switch import Ecn
from ns3_env.simulator.executable import describe_controllers
from ns3_env.strict import Strict

if TYPE_CHECKING:
    from ns3_env.scenario.scenario import Scenario

T = TypeVar("T", bound=Strict)


@dataclass(frozen=True)
class Declared(Generic[T]):
    """A setting of switches that each controller may declare.

    Attributes:
        key: in a scenario's ``switch``, and in what the simulator says of its controllers.
        model: of its value.
        what: the setting in words.
        shown: a value in words, for whoever has to choose between two.
        instead: the keys to give where controllers differ.
    """

    key: str
    model: type[T]
    what: str
    shown: Callable[[T], str]
    instead: str

    def published(self, names: Iterable[str] | None = None) -> dict[str, T]:
        """What controllers are published with; those not named need nothing.

        Args:
            names: of controllers; None: all.

        Raises SimulatorNotFound, SimulatorDied.
        """
        all_of_them = describe_controllers()
        return {
            name: self.model.model_validate(all_of_them[name][self.key])
            for name in (all_of_them if names is None else names)
            if name in all_of_them and all_of_them[name][self.key] is not None
        }

    def of(self, scenario: Scenario, controllers: list[int]) -> T | None:
        """The scenario's setting, for flows under these controllers (indices)."""
        setting: Any = getattr(scenario.switch, self.key)
        if setting != "auto":
            chosen: T | None = setting
            return chosen
        names = (scenario.controllers[index].name for index in sorted(set(controllers)))
        return next(iter(self.published(names).values()), None)

    def faults(self, scenario: Scenario, controllers: Callable[[], list[int]]) -> list[str]:
        """A port does one thing only; where two controllers need two, the user has to choose.

        ``controllers()``: each flow's, as an index.
        """
        if getattr(scenario.switch, self.key) != "auto" or len(scenario.controllers) < 2:
            return []
        published = self.published(sorted({scenario.controllers[i].name for i in set(controllers())}))
        first = next(iter(published.values()), None)
        if all(value == first for value in published.values()):
            return []
        needs = ", ".join(f"{name} {self.shown(value)}" for name, value in published.items())
        return [
            f"switch.{self.key}: flows under {' and '.join(published)} need different {self.what} ({needs}): "
            f"give {self.instead} instead of 'auto'"
        ]


def _thresholds(ecn: Ecn) -> str:
    return f"{ecn.kmin_bytes:g}/{ecn.kmax_bytes:g} B and pmax {ecn.pmax:g} at {ecn.at_rate_bps / 1e9:g} Gb/s"


def _samples(points: CongestionPoints) -> str:
    return f"{points.feedback} feedback each {points.sample_bytes:g} B"


MARKING = Declared("ecn", Ecn, "marking", _thresholds, "kmin_bytes, kmax_bytes, pmax and at_rate_bps")
CONGESTION_POINTS = Declared(
    "congestion_points",
    CongestionPoints,
    "congestion points",
    _samples,
    "feedback, sample_bytes and what else matters",
)
#: Every setting of switches that ``auto`` takes from controllers.
DECLARED: tuple[Declared[Ecn] | Declared[CongestionPoints], ...] = (MARKING, CONGESTION_POINTS)

published_ecn = MARKING.published
published_congestion_points = CONGESTION_POINTS.published
