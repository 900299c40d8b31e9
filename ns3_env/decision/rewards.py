# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewards by name, each a function of telemetry records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ns3_env.config.gone import refuse
from ns3_env.config.imports import is_code, made_by
from ns3_env.decision.actions import ACC_BYTES
from ns3_env.decision.observations import Records, column, elapsed
from ns3_env.decision.rtt_target import RttTarget


class Reward(Protocol):
    """Maps records (k, fields), one per flow at the end of an interval, to rewards (k,).

    It may have ``fields``, the names of those that it reads: if the transport lacks one of them,
    the reward is refused. If it has a ``settles`` that is True, the last row of a truncated flow is charged
    for the flow's remaining bytes: no value is to be bootstrapped from there.
    """

    def __call__(self, records: Records) -> NDArray[np.float64]: ...


def settles(reward: Reward) -> bool:
    """Returns whether the reward charges a truncated flow for its remaining bytes."""
    return bool(getattr(reward, "settles", False))


def minus(reward: Reward) -> str | None:
    """The field whose negative is the reward; None if the reward is anything else."""
    # A custom class may do anything.
    if type(reward) is Slowdown and not reward.shaping:
        return reward.fields[0]
    return None


#: Default of every front end.
DEFAULT_REWARD = "slowdown"

#: The rewards, by the name that a configuration gives them.
REWARDS: dict[str, Callable[..., Reward]] = {}

R = TypeVar("R", bound=Callable[..., Reward])


def register(name: str) -> Callable[[R], R]:
    """Registers a class or function as the reward of that name: called with settings, it gives a Reward.

    Raises ValueError for a name in use.
    """

    def put(reward: R) -> R:
        if name in REWARDS:
            raise ValueError(f"there is a reward {name!r} already")
        REWARDS[name] = reward
        return reward

    return put


def _inverse_rtt(records: NDArray[np.float64]) -> NDArray[np.float64]:
    """Base RTT / RTT; 0 before the first ACK."""
    rtt = column(records, "rtt")
    return np.divide(1.0, rtt, out=np.zeros_like(rtt), where=rtt > 0)


@register("slowdown")
@dataclass(frozen=True)
class Slowdown:
    """Minus the time since the last decision over the flow's ideal completion time.

    The second row of a flow also pays for the time before the first one; the last row of a truncated flow
    pays for the time that its remaining bytes would need at the ideal rate. So the undiscounted return of a
    flow is minus its slowdown, whenever it decides (docs/decisions/0018-rewards-and-actions.md).

    With ``shaping`` the shares of bytes that are left at both ends of the interval, ρ before and ρ' after,
    add shaping (ρ - γ^e ρ'): a potential of -shaping ρ, which changes no return but by its end points (Ng et
    al. 1999). e is the interval in base RTTs, γ is ``gamma``, the learner's.
    """

    fields: ClassVar[tuple[str, ...]] = ("cost",)
    settles: ClassVar[bool] = True

    shaping: float = 0.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.gamma <= 1:
            raise ValueError(f"gamma: must be above 0 and at most 1, is {self.gamma}")

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        rewards: NDArray[np.float64] = -column(records, "cost")
        if self.shaping:
            remaining, attained = column(records, "remaining"), column(records, "attained")
            size = np.maximum(remaining + attained, 1e-12)
            acked = column(records, "acked_bytes") / column(records, "bdp_bytes")
            rewards += (
                self.shaping * ((remaining + acked) - self.gamma ** elapsed(records) * remaining) / size
            )
        return rewards


@register("job_progress")
@dataclass(frozen=True)
class JobProgress:
    """Minus the flow's share of the time in which its training job sends, over its ideal completion time.

    While k flows of the job are under way each of them pays for a k-th of the time: the only flow left, for
    which all other flows wait, pays for all of it. So the rewards of equal flows of a job add up to minus the
    time in which the job sends. The last row of a truncated flow pays for the time that its remaining bytes
    would need at the ideal rate. Flows of no job are rewarded as by :class:`Slowdown`.
    """

    fields: ClassVar[tuple[str, ...]] = ("job_cost",)
    settles: ClassVar[bool] = True

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        return -column(records, "job_cost")


@register("sharing_gain")
@dataclass(frozen=True)
class SharingGain:
    """Gain of the flows on this one's link on processor sharing since the last decision.

    Its link is the one of its path with the longest transmission time for it. Were it shared equally from now
    on, each flow there would have a completion time; how much the slowdowns of all of them then fall is the
    gain, over the number of flows there at this one's start. A link that is full and shared equally pays 0,
    an idle one less, one that serves short flows first more. Flows that join count as no loss. The gain is
    paid at once, so a short horizon is enough (docs/decisions/0018-rewards-and-actions.md). All flows count.
    """

    fields: ClassVar[tuple[str, ...]] = ("sharing_gain",)
    settles: ClassVar[bool] = True

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        gains: NDArray[np.float64] = column(records, "sharing_gain").copy()
        return gains


@register("staged")
@dataclass(frozen=True)
class Staged:
    """Drain the queue first, then share the link (Zhang 2023, Algorithm 1).

    If SWITCHRATE + QLEN - 1 > ``threshold``: -RTT; else THROUGHPUT + 1/RTT - (THROUGHPUT - 1/N)^2, with the
    RTT in base RTTs, QLEN in BDPs, rates in shares of the most congested hop, N the flows there.
    """

    fields: ClassVar[tuple[str, ...]] = ("rtt", "qlen", "switch_rate", "throughput", "flow_count")

    threshold: float = 0.5

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        throughput = column(records, "throughput")
        share = 1.0 / np.maximum(column(records, "flow_count"), 1.0)
        probing = throughput + _inverse_rtt(records) - (throughput - share) ** 2
        congested = column(records, "switch_rate") + column(records, "qlen") - 1.0 > self.threshold
        return np.where(congested, -column(records, "rtt"), probing)


@register("goodput_delay")
@dataclass(frozen=True)
class GoodputDelay:
    """Goodput at a price of delay: goodput - ``delay_weight`` (RTT - 1), as a sender by itself can tell.

    The goodput is a share of the receiver's link, the RTT in base RTTs. It asks for no fairness.
    """

    fields: ClassVar[tuple[str, ...]] = ("goodput", "rtt")

    delay_weight: float = 0.1

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        delay = np.maximum(column(records, "rtt") - 1.0, 0.0)
        return column(records, "goodput") - self.delay_weight * delay


@register("proportional")
@dataclass(frozen=True)
class Proportional:
    """A share in proportion, and delay at a price: ln(N x / RTT) - ``delay_weight`` √N (RTT - 1).

    x is the flow's pacing rate as a share of its link, the RTT in base RTTs, N the flows at the most
    congested hop: x / RTT is the throughput that the window allows, without the noise of counting packets. A
    logarithm pays every flow alike for a window that grows by a given percentage, while the bytes that this
    adds to the queue grow with the window: flows rest where windows are equal, in proportional fairness
    (Kelly 1998). There √N x ≈ 1 / delay_weight and RTT ≈ √N / delay_weight, so x RTT is the same for any N: a
    flow finds its window from its RTT. Were delay charged N-fold, the RTT would be independent of N; once,
    queues would grow with N.
    """

    fields: ClassVar[tuple[str, ...]] = ("rtt", "pacing_rate", "flow_count")

    delay_weight: float = 1.0

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        flows = np.maximum(column(records, "flow_count"), 1.0)
        rtt = np.maximum(column(records, "rtt"), 1.0)
        share = np.maximum(flows * column(records, "pacing_rate") / rtt, 1e-4)
        return np.log(share) - self.delay_weight * np.sqrt(flows) * (rtt - 1.0)


@register("multi_objective")
@dataclass(frozen=True)
class MultiObjective:
    """Short completion times or equal shares, as the observed ``fairness_weight`` w asks for.

    (1 - w) ``sharing_gain`` - w ``scale`` |ln(rate / fair share)| per base RTT: the rate is that of the bytes
    acknowledged since the last decision on the wire, the share the smallest that an equal division of a link
    on the path gives the flow. w is the wish that MOCC (Ma et al. 2022) tells its policy, so that one policy
    serves users with different ones.
    """

    fields: ClassVar[tuple[str, ...]] = (
        "sharing_gain",
        "fairness_weight",
        "fair_share",
        "acked_bytes",
        "interval_ns",
    )
    settles: ClassVar[bool] = True

    scale: float = 0.01

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        def at_least_one(name: str) -> NDArray[np.float64]:
            return np.maximum(column(records, name), 1.0)

        weight, interval = column(records, "fairness_weight"), column(records, "interval_ns")
        wire = (
            column(records, "acked_bytes") * column(records, "packet_bytes") / at_least_one("payload_bytes")
        )
        fair = column(records, "fair_share") * column(records, "host_rate_bps") / 8e9 * interval
        # No share is known before the first ACK.
        ratio = np.divide(wire, fair, out=np.ones_like(wire), where=fair > 0)
        rtts = interval / at_least_one("base_rtt_ns")
        unfairness = np.abs(np.log(np.clip(ratio, *_RATIOS))) * rtts
        rewards: NDArray[np.float64] = (1.0 - weight) * SharingGain()(
            records
        ) - weight * self.scale * unfairness
        return rewards


#: Least and largest ratio of a rate to its fair share that is told apart.
_RATIOS = (0.05, 20.0)


@register("rtt_target")
@dataclass(frozen=True)
class RttTargetReward:
    """Distance to a target of RTT x sqrt(rate), as RL-CC has it (Tessler et al. 2022).

    -(max(RTT / ``base_ns`` - ``margin``, 0) sqrt(pacing rate) - ``target``)^2, the rate a share of the
    link's. ``base_ns`` None: the base RTT of each flow's path.
    """

    base_ns: float | None = 8192.0
    margin: float = 1.5
    target: float = 0.064

    def __post_init__(self) -> None:
        self._distance()  # settings out of range are refused here

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields that the distance is computed from."""
        return tuple(self._distance().fields)

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        distance = self._distance()
        return -(distance(*(column(records, name) for name in distance.fields)) ** 2)

    def _distance(self) -> RttTarget:
        return RttTarget(self.base_ns, self.margin, self.target, gain=1.0)


@register("queue_target")
@dataclass(frozen=True)
class QueueTarget:
    """A fair share of what brings the queue to a congestion point's target: -|ln(N x / d)|.

    x is the pacing rate as a share of its link, N the flows at the most congested hop,
    d = 1 - Q_off / ``within`` in [0.1, 2] the rate of all of them together, as a share of the link, for
    the queue to be at its target ``within`` base RTTs later; Q_off is that of the last feedback frame, in
    BDPs. Only the simulator knows N: a policy that sees feedback frames only can find its share all the
    same, as flows that slow down by factors and speed up by steps do.
    """

    fields: ClassVar[tuple[str, ...]] = ("notified_offset", "flow_count", "pacing_rate")

    within: float = 10.0

    def __post_init__(self) -> None:
        if not self.within > 0:
            raise ValueError(f"within: must be above 0, is {self.within}")

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        target_share = np.clip(1.0 - column(records, "notified_offset") / self.within, 0.1, 2.0)
        flows = np.maximum(column(records, "flow_count"), 1.0)
        share = np.maximum(flows * column(records, "pacing_rate"), 1e-4)
        return -np.abs(np.log(share / target_share))


@register("acc")
@dataclass(frozen=True)
class Acc:
    """Utilisation of a port's link against steps of its queue (Yan et al. 2021, ACC).

    ``utilisation_weight`` R + ``queue_weight`` D(L): R is the share of the link's rate that left in the
    interval, L the mean queue in it. D is 1 up to E(0) and falls by 1/10 with each E(n) = 20 kB 2^n that L
    exceeds; the bytes are of a port of ``at_rate_bps``, and grow with a port's rate. With these weights the
    order of constant thresholds is closest to that of their slowdowns (docs/thresholds.md).
    """

    fields: ClassVar[tuple[str, ...]] = ("port_utilisation", "port_mean_queue_bytes", "port_rate_bps")

    utilisation_weight: float = 0.3
    queue_weight: float = 0.7
    at_rate_bps: float = 25e9

    def __call__(self, records: NDArray[np.float64]) -> NDArray[np.float64]:
        scale = np.maximum(column(records, "port_rate_bps"), 1.0) / self.at_rate_bps
        queue = column(records, "port_mean_queue_bytes") / scale
        steps = np.searchsorted(ACC_BYTES, queue)  # thresholds below the queue
        rewards: NDArray[np.float64] = self.utilisation_weight * column(
            records, "port_utilisation"
        ) + self.queue_weight * (1.0 - steps / len(ACC_BYTES))
        return rewards


def make_reward(name: str, **settings: Any) -> Reward:
    """The reward of that name, or of ``pkg.module:name``: a class or function that gives a Reward.

    Raises:
        KeyError: an unknown name.
        ConfigError: a removed reward, or see :func:`ns3_env.config.imports.named_code`.
    """
    if is_code(name):
        reward: Reward = made_by(name, settings, callable, "a Reward")
        return reward
    if name not in REWARDS:
        refuse("reward", name)
        raise KeyError(f"unknown reward {name!r}; known: {', '.join(sorted(REWARDS))}")
    return REWARDS[name](**settings)
