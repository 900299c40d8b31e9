# SPDX-License-Identifier: GPL-2.0-or-later
"""Links whose rate and delay change over time: from a file, in steps, or drawn from the seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import (
    MAX_LINK_STEPS,
    MAX_LINKS,
    WHY_HOSTS,
    WHY_STEPS,
    DelayNs,
    Nanoseconds,
    RateOrZero,
    few,
)
from ns3_env.config.bounds import (
    LinkRate as LinkBps,
)
from ns3_env.config.files import NamedFile
from ns3_env.config.model import Strict
from ns3_env.scenario.paths.rate_files import MS_NS, RateFile, Step, Steps, steps_of
from ns3_env.scenario.topology.directions import LinkDirections, by_direction, direction_faults
from ns3_env.scenario.topology.network import Network

#: Maximum expected number of drawn steps of a link.
MAX_DRAWN = MAX_LINK_STEPS
#: Added to the scenario's seed, so that rates are drawn apart from traffic.
_STREAM = 0x11FE
#: Ticks of a random walk, and its standard deviation over ``every_ns`` as a share of the highest rate: with
#: 1 s and 12 Mb/s those of Winstein 2013 (20 ms, 200 packets/s after 1 s, of at most 1000).
_TICKS, _DEVIATION = 50, 0.2


class RateStep(Strict):
    """A link's rate, and perhaps its delay, from a time on."""

    at_ns: Nanoseconds = Field(ge=0)
    rate_bps: RateOrZero = Field(description="0: nothing is sent")
    delay_ns: DelayNs | None = Field(default=None, ge=0, description="none: as the topology has it")


class DrawnRates(Strict):
    """Rates drawn from the scenario's seed.

    steps: a new rate at exponential times, its logarithm uniform. walk: a random walk of the rate, reflected
    at both ends. cellular: the walk of a cellular link, whose outages last for exponential times (Winstein
    2013); one starts when the rate falls below the lowest.
    """

    kind: Literal["steps", "walk", "cellular"]
    least_bps: LinkBps = Field(description="lowest rate")
    most_bps: LinkBps = Field(description="highest rate")
    every_ns: Nanoseconds = Field(
        gt=0,
        description="mean time of a step, and of an outage; in it a walk moves by a fifth of most_bps",
    )

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if self.least_bps > self.most_bps:
            raise ValueError("least_bps: is above most_bps")
        return self

    def step_count(self, time_limit_ns: int) -> float:
        """Expected number of steps up to the time limit."""
        return time_limit_ns / self.every_ns * (1 if self.kind == "steps" else _TICKS)

    def draw(self, random: np.random.Generator, time_limit_ns: int) -> tuple[list[int], list[float]]:
        """Draws times (ns) up to the time limit, and rates (bit/s) from them on; the last one is above 0."""
        draws = {"steps": self._draw_steps, "walk": self._draw_walk, "cellular": self._draw_cellular}
        return draws[self.kind](random, time_limit_ns)

    def _draw_steps(self, random: np.random.Generator, time_limit_ns: int) -> tuple[list[int], list[float]]:
        times, rates, now = [], [], 0
        low, high = math.log(self.least_bps), math.log(self.most_bps)
        while now < time_limit_ns:
            times.append(now)
            rates.append(math.exp(random.uniform(low, high)))
            now += max(1, round(random.exponential(self.every_ns)))
        return times, rates

    def _ticks(self) -> tuple[int, float]:
        """Time between two changes of a walk, ns, and the standard deviation of a change, bit/s."""
        tick = max(1, self.every_ns // _TICKS)
        return tick, _DEVIATION * self.most_bps * math.sqrt(tick / self.every_ns)

    def _draw_walk(self, random: np.random.Generator, time_limit_ns: int) -> tuple[list[int], list[float]]:
        tick, deviation = self._ticks()
        low, span = self.least_bps, self.most_bps - self.least_bps
        rate, rates = random.uniform(low, self.most_bps), []
        for change in random.normal(0.0, deviation, -(-time_limit_ns // tick)).tolist():
            rates.append(rate)
            over = (rate + change - low) % (2 * span) if span else 0.0
            rate = min(low + min(over, 2 * span - over), self.most_bps)  # mirrored at the ends
        return [i * tick for i in range(len(rates) + 1)], [*rates, self.most_bps]

    def _draw_cellular(
        self, random: np.random.Generator, time_limit_ns: int
    ) -> tuple[list[int], list[float]]:
        tick, deviation = self._ticks()
        times, rates, now = [], [], 0
        rate = random.uniform(self.least_bps, self.most_bps)
        while now < time_limit_ns:
            times.append(now)
            rates.append(rate)
            now += tick
            rate += random.normal(0.0, deviation)
            if rate < self.least_bps:
                times.append(now)
                rates.append(0.0)
                now += max(1, round(random.exponential(self.every_ns)))
                rate = self.least_bps
            rate = min(rate, self.most_bps)
        return [*times, now], [*rates, self.most_bps]


class LinkRate(LinkDirections):
    """Rate of some links over time and perhaps their delay: from one of ``file``, ``steps`` and ``drawn``."""

    file: NamedFile | None = Field(
        default=None,
        description="mahimahi's, Pensieve's, or a CSV with at_ns, rate_bps and perhaps delay_ns",
    )
    steps: Annotated[list[RateStep], few(MAX_LINK_STEPS, WHY_STEPS)] = Field(default=[])
    drawn: DrawnRates | None = None
    repeat: bool | None = Field(default=None, description="from the start again at the end; none: files do")
    period_ns: Nanoseconds | None = Field(
        default=None,
        gt=0,
        description="from one repetition to the next; none: the last step lasts as long as the one before",
    )

    _read: RateFile | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum((self.file is not None, bool(self.steps), self.drawn is not None)) != 1:
            raise ValueError("write file, steps or drawn, one of them")
        if self.file is not None:
            self._read = RateFile(self.file)
        elif self.steps and not any(step.rate_bps for step in self.steps):
            raise ValueError("steps: no rate is above 0: the link would never send")
        return self

    def faults(self, time_limit_ns: int) -> list[str]:
        """Lists its faults, as "key: text"."""
        if self._read is not None and len(self._read.faults):
            return self._read.faults.texts()
        if self.drawn is not None and (many := self.drawn.step_count(time_limit_ns)) > MAX_DRAWN:
            return [
                f"drawn: about {many:.3g} steps until time_limit_ns; there may be {MAX_DRAWN}: a longer "
                "every_ns would do"
            ]
        times = [step.at_ns for step in self.steps]
        if times and (times[0] != 0 or any(b <= a for a, b in itertools.pairwise(times))):
            return ["steps: at_ns ascends from 0"]
        rows, period_ns = self._steps()
        if self._repeats() and rows and rows[-1].at_ns >= period_ns:
            return [f"period_ns: {self.period_ns} is not after the last step"]
        if not self._repeats() and rows and not rows[-1].rate_bps:
            return [
                "steps: the last rate is 0, so the link would never send again: end with a rate, or write "
                "repeat: true"
            ]
        return []

    def without_files(self) -> LinkRate:
        """The same link, with the steps of its file."""
        if self._read is None:
            return self
        period_ns, repeat = self._steps().period_ns, self._repeats()
        rows = [RateStep(**step._asdict()) for step in self._steps().rows]
        return LinkRate(
            link=self.link,
            towards=self.towards,
            steps=rows,
            repeat=repeat,
            period_ns=period_ns if repeat else None,
        )

    def _repeats(self) -> bool:
        return self.repeat if self.repeat is not None else self.file is not None

    def _steps(self) -> Steps:
        """The steps that are not drawn."""
        if self._read is not None:
            steps = self._read.steps
        else:
            steps = steps_of(Step(x.at_ns, x.rate_bps, x.delay_ns) for x in self.steps)
        return steps if self.period_ns is None else Steps(steps.rows, self.period_ns)

    def columns(self, random: np.random.Generator, link_delay_ns: int, time_limit_ns: int) -> dict[str, Any]:
        """The steps as the simulator's input has them, with delays if they change; a period of −1: they do
        not repeat."""
        delays: Sequence[int | None] = ()
        if self.drawn is not None:
            times, values = self.drawn.draw(random, time_limit_ns)
            period_ns = 2 * times[-1] - times[-2] if len(times) > 1 else MS_NS
            changes = np.flatnonzero(np.diff(values, prepend=np.nan)).tolist()
            at_ns, rates = [times[i] for i in changes], [values[i] for i in changes]
        else:
            steps = self._steps()
            at_ns, rates, delays = map(list, zip(*steps.rows, strict=True))
            period_ns = steps.period_ns
        columns = {
            "at_ns": at_ns,
            "rate_bps": rates,
            "period_ns": period_ns if self._repeats() else -1,
        }
        if any(delay is not None for delay in delays):
            columns["delay_ns"] = [link_delay_ns if delay is None else delay for delay in delays]
        return columns


LinkRates = Annotated[list[LinkRate], few(MAX_LINKS, WHY_HOSTS)]


def link_rate_faults(entries: list[LinkRate], network: Network, time_limit_ns: int) -> list[str]:
    """Lists conflicts of the key with the network, and faults of its files."""
    faults = [f"link_rates.{i}.{fault}" for i, x in enumerate(entries) for fault in x.faults(time_limit_ns)]
    return faults + direction_faults("link_rates", entries, network)


def are_drawn(entries: list[LinkRate]) -> bool:
    """Returns whether some link depends on the scenario's seed."""
    return any(entry.drawn is not None for entry in entries)


def link_rate_rows(
    entries: list[LinkRate], network: Network, seed: int, time_limit_ns: int
) -> list[dict[str, Any]]:
    """Each direction that changes, for the simulator; drawn rates of different links are independent."""
    delays = {ends: link.delay_ns for link in network.links for ends in ((link.a, link.b), (link.b, link.a))}
    return [
        {
            "from": a,
            "to": b,
            **entry.columns(np.random.default_rng((seed, _STREAM, a, b)), delays[a, b], time_limit_ns),
        }
        for (a, b), entry in by_direction(entries, network).items()
    ]
