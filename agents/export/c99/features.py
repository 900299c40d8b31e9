# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of a policy's network in C, worked out of what a NIC counts: integers in ns, B and kbit/s."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.config.model import shown
from ns3_env.decision.observations import FIELDS, INDEX
from ns3_env.errors import ConfigError
from ns3_env.policies.header import AnyInput, DerivedInput

#: Members of the observation: type of C, and what they are.
MEMBERS = {
    "interval_ns": ("uint32_t", "since the flow's last decision, or since its start"),
    "rtt_ns": ("uint32_t", "last RTT"),
    "acked_bytes": ("uint32_t", "payload acknowledged since the last decision"),
    "acks": ("uint32_t", "ACKs since the last decision"),
    "marked_acks": ("uint32_t", "of them, those with an ECN mark"),
    "remaining_bytes": ("uint64_t", "payload of the flow not acknowledged yet"),
    "attained_bytes": ("uint64_t", "payload of the flow acknowledged so far"),
    "hop_queue_bytes": ("uint32_t", "queue at the most congested hop"),
    "hop_rate_kbps": ("uint32_t", "rate of that hop's link"),
    "hop_tx_bytes": ("uint64_t", "sent by that hop since its record at the last decision"),
    "hop_tx_ns": ("uint32_t", "between both records; 0: there is one alone"),
    "hop_flows": ("uint32_t", "flows counted at that hop"),
}
#: Of them, what a flow whose packets carry no telemetry is not shown.
TELEMETRY = ("rtt_ns", *(name for name in MEMBERS if name.startswith("hop_")))
#: Values that several features share.
LOCALS = {
    "hop_bdp": "const uint64_t hop_bdp = (uint64_t)o->hop_rate_kbps * s->path.base_rtt_ns / 8000000U;",
    "hop_queue_q24": "const uint64_t hop_queue_q24 ="
    " hop_bdp == 0 ? 0 : ((uint64_t)o->hop_queue_bytes << 24) / hop_bdp;",
    "interval": "const uint64_t interval = s->decided ? o->interval_ns : 0; /* no slope at the first */",
}


@dataclass(frozen=True)
class Feature:
    """A normalised field as a quotient of integers.

    Attributes:
        members: of the observation.
        over: numerator and denominator, expressions of C, neither below 0.
        negative: an expression of C, where the quotient may be below 0.
        needs: of LOCALS.
    """

    members: tuple[str, ...]
    over: tuple[str, str]
    negative: str = ""
    needs: tuple[str, ...] = ()


_HOP = ("hop_queue_bytes", "hop_rate_kbps")
FEATURES = {
    "rtt": Feature(("rtt_ns",), ("o->rtt_ns", "s->path.base_rtt_ns")),
    "qlen": Feature(_HOP, ("o->hop_queue_bytes", "hop_bdp"), needs=("hop_bdp",)),
    "switch_rate": Feature(
        ("hop_rate_kbps", "hop_tx_bytes", "hop_tx_ns"),
        ("o->hop_tx_bytes * 8000000U", "(uint64_t)o->hop_rate_kbps * o->hop_tx_ns"),
    ),
    "goodput": Feature(
        ("acked_bytes", "interval_ns"),
        ("(uint64_t)o->acked_bytes * 8000000U", "(uint64_t)s->path.receiver_rate_kbps * o->interval_ns"),
    ),
    "rtt_slope": Feature(
        ("rtt_ns", "interval_ns"),
        ("apart(o->rtt_ns, s->rtt_before_ns) * 1000000U", "interval * s->path.base_rtt_ns"),
        "o->rtt_ns < s->rtt_before_ns",
        ("interval",),
    ),
    "qlen_slope": Feature(
        (*_HOP, "interval_ns"),
        ("apart((int64_t)hop_queue_q24, (int64_t)s->queue_before_q24) * 1000000U", "interval << 24"),
        "hop_queue_q24 < s->queue_before_q24",
        ("hop_bdp", "hop_queue_q24", "interval"),
    ),
    "pacing_rate": Feature((), ("s->rate_q8", "(uint64_t)s->path.host_rate_kbps << 8")),
    "last_action": Feature((), ("apart(s->last_action_q16, 0)", "65536U"), "s->last_action_q16 < 0"),
    "flow_count": Feature(("hop_flows",), ("o->hop_flows", "1U")),
    "ecn_fraction": Feature(("acks", "marked_acks"), ("o->marked_acks", "o->acks")),
    "attained": Feature(("attained_bytes",), ("o->attained_bytes", "s->bdp_bytes")),
    "remaining": Feature(("remaining_bytes",), ("o->remaining_bytes", "s->bdp_bytes")),
}  # fmt: skip
#: What a quotient that is not transformed is cut at, in Q16.
MOST_PLAIN = 32767


@dataclass(frozen=True)
class Inputs:
    """The inputs of a network.

    Attributes:
        members: of the observation, in the order of MEMBERS.
        lines: of C, one for each of LOCALS that is needed, then one for each input ``x[i]``.
        pieces: of pieces.c.
        fields: telemetry that is read.
    """

    members: tuple[str, ...]
    lines: tuple[str, ...]
    pieces: frozenset[str]
    fields: tuple[str, ...]


def inputs_of(source: str, observation: list[AnyInput], also: frozenset[str] = frozenset()) -> Inputs:
    """The inputs in C; ``also``: members that something else reads.

    Raises ConfigError for a field that a NIC's integers do not give.
    """
    members = set(also)
    needs: set[str] = set()
    pieces: set[str] = set()
    lines: list[str] = []
    for i, entry in enumerate(observation):
        if isinstance(entry, DerivedInput):
            members.add("rtt_ns")
            pieces |= {"share", "root", "narrow"}
            lines += _target(i, entry)
            continue
        if entry.field not in FEATURES:
            raise ConfigError(
                f"{source}: observation[{i}]: --format c does not know the field {shown(entry.field)}; it"
                f" knows {', '.join(FEATURES)}"
            )
        feature = FEATURES[entry.field]
        members |= set(feature.members)
        needs |= set(feature.needs)
        symlog = entry.transform == "symlog"
        pieces |= {"symlog" if symlog else "share"} | ({"apart"} if "apart" in feature.over[0] else set())
        most = int(FIELDS[INDEX[entry.field]].high)
        n, d = feature.over
        call = (
            f"symlog_q16({n}, {d}, {most}U)" if symlog else f"share_q16({n}, {d}, {min(most, MOST_PLAIN)}U)"
        )
        lines.append(f"x[{i}] = {call}; /* {entry.field} */")
        if feature.negative:
            lines.append(f"x[{i}] = {feature.negative} ? -x[{i}] : x[{i}];")
    declared = tuple(text for name, text in LOCALS.items() if name in needs)
    return Inputs(
        tuple(name for name in MEMBERS if name in members),
        (*declared, *lines),
        frozenset(pieces),
        tuple(name for entry in observation for name in entry.fields),
    )


def _target(i: int, entry: DerivedInput) -> list[str]:
    """gain (max(RTT / base - margin, 0) sqrt(rate) - target), in Q16."""
    base = "s->path.base_rtt_ns" if entry.base_ns is None else f"{round(entry.base_ns)}U"
    margin, target, gain = (round(65536 * value) for value in (entry.margin, entry.target, entry.gain))
    rate = "((uint64_t)share_q16(s->rate_q8, (uint64_t)s->path.host_rate_kbps << 8, 1U)) << 16"
    return [
        f"x[{i}] = share_q16(o->rtt_ns, {base}, 10000U) - {margin}; /* distance to the target RTT */",
        f"x[{i}] = narrow(((int64_t)(x[{i}] > 0 ? x[{i}] : 0) * root({rate}) >> 16) - {target});",
        f"x[{i}] = narrow((int64_t)x[{i}] * {gain} / 65536);",
    ]
