# SPDX-License-Identifier: GPL-2.0-or-later
"""Inputs of a policy's network in C, computed from a NIC's counters: integers in ns, B and kbit/s."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ns3_env.agents.export.c99.formula import OPERAND, calculated
from ns3_env.agents.export.c99.quantise import setting_q16
from ns3_env.config.model import shown
from ns3_env.decision.observations import FIELDS, INDEX, is_formula
from ns3_env.errors import ConfigError
from ns3_env.policies.header import AnyInput, DerivedInput, PolicySpec
from ns3_env.scenario import PerFlowRtt

#: Members of the observation: C type, and meaning.
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
    "hop_tx_ns": ("uint32_t", "between both records; 0: there is only one"),
    "hop_flows": ("uint32_t", "flows counted at that hop"),
    "shorter_backlog_ns": ("uint32_t", "longest time in which a hop sends what shorter flows have left"),
    "fair_share_kbps": ("uint32_t", "least rate / flows of the path's hops; 0: not known yet"),
    "fairness_weight_q16": ("uint32_t", "wish for fairness; 65536 is 1"),
}
#: Those of them that a flow without telemetry in its packets does not see.
TELEMETRY = (
    "rtt_ns",
    "shorter_backlog_ns",
    "fair_share_kbps",
    *(name for name in MEMBERS if name.startswith("hop_")),
)
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
        members: members of the observation.
        over: numerator and denominator, expressions of C, neither below 0.
        negative: C expression, true if the quotient is below 0; "" if it never is.
        needs: names of the LOCALS it needs.
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
    "fair_share": Feature(("fair_share_kbps",), ("o->fair_share_kbps", "s->path.host_rate_kbps")),
    "shorter_backlog": Feature(
        ("shorter_backlog_ns",), ("o->shorter_backlog_ns", "s->path.base_rtt_ns")
    ),
    "ecn_fraction": Feature(("acks", "marked_acks"), ("o->marked_acks", "o->acks")),
    "attained": Feature(("attained_bytes",), ("o->attained_bytes", "s->bdp_bytes")),
    "remaining": Feature(("remaining_bytes",), ("o->remaining_bytes", "s->bdp_bytes")),
    "fairness_weight": Feature(("fairness_weight_q16",), ("o->fairness_weight_q16", "65536U")),
}  # fmt: skip
#: Limit of a quotient that is not transformed, in Q16.
MOST_PLAIN = 32767


@dataclass(frozen=True)
class Inputs:
    """The inputs of a network.

    Attributes:
        members: members of the observation, in the order of MEMBERS.
        lines: lines of C, one for each of LOCALS that is needed, then those of each input ``x[i]``.
        pieces: functions of pieces.c that it needs.
        fields: telemetry fields that the network reads.
    """

    members: tuple[str, ...]
    lines: tuple[str, ...]
    pieces: frozenset[str]
    fields: tuple[str, ...]


def inputs_of(source: str, observation: list[AnyInput], also: frozenset[str] = frozenset()) -> Inputs:
    """The inputs in C; ``also``: members that something else reads.

    Raises ConfigError for a field that a NIC's integers cannot yield.
    """
    members = set(also)
    needs: set[str] = set()
    pieces: set[str] = set()
    lines: list[str] = []
    operands: dict[str, str] = {}
    for i, entry in enumerate(observation):
        if isinstance(entry, DerivedInput):
            members.add("rtt_ns")
            pieces |= {"share", "root", "narrow"}
            lines += _target(i, entry)
            continue
        symlog = entry.transform == "symlog"
        for name in entry.fields:
            if name not in FEATURES:
                raise ConfigError(
                    f"{source}: observation[{i}]: --format c does not know the field {shown(name)}; it"
                    f" knows {', '.join(FEATURES)}"
                )
            feature = FEATURES[name]
            members |= set(feature.members)
            needs |= set(feature.needs)
            pieces |= {"apart"} if "apart" in feature.over[0] else set()
        if is_formula(entry.field):
            text, needed = calculated(f"{source}: observation[{i}]", entry.field)
            pieces |= needed | {"share"} | ({"symlog"} if symlog else set())
            operands |= {name: _operand(name) for name in entry.fields}
            lines.append(f"x[{i}] = {text}; /* {entry.name} */")
            if symlog:
                size = f"symlog_q16(apart(x[{i}], 0), 65536U, {MOST_PLAIN}U)"
                lines.append(f"x[{i}] = x[{i}] < 0 ? -{size} : {size};")
                pieces.add("apart")
            continue
        pieces.add("symlog" if symlog else "share")
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
        (*declared, *operands.values(), *lines),
        frozenset(pieces),
        tuple(name for entry in observation for name in entry.fields),
    )


def _operand(name: str) -> str:
    """A line that declares a field's value for formulas."""
    feature = FEATURES[name]
    n, d = feature.over
    value = f"share_q16({n}, {d}, {min(int(FIELDS[INDEX[name]].high), MOST_PLAIN)}U)"
    sign = f"({feature.negative} ? -1 : 1) * " if feature.negative else ""
    return f"const int32_t {OPERAND}{name} = {sign}{value};"


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


_WINDOW = """\
    const uint64_t most = (uint64_t)s->bdp_bytes << 8;
    const uint64_t asked = ((uint64_t)s->path.packet_bytes * {least}U) >> 8;
    const uint64_t least = asked < most ? asked : most;
    uint64_t window = {window};
    window = window < least ? least : window > most ? most : window;
    s->window_q8 = window;
    s->rate_q8 = rate_of(s, window);
    action->window_bytes = (uint32_t)((window + 128U) >> 8);"""
_RATE = """\
    const uint64_t most = (uint64_t)s->path.host_rate_kbps << 8;
    const uint64_t least = rate_of(s, ((uint64_t)s->path.packet_bytes * {least}U) >> 8);
    uint64_t rate = factored(s->rate_q8, a, {alpha}U);
    rate = rate > most ? most : rate;
    s->rate_q8 = rate < least ? least : rate;
    action->window_bytes = {window};"""


@dataclass(frozen=True)
class Applied:
    """An action map in C.

    Attributes:
        body: body of the function that applies the output ``a``.
        pieces: functions of pieces.c that it needs.
        meaning: description for the file's first comment.
    """

    body: str
    pieces: frozenset[str]
    meaning: str


def action_of(source: str, settings: dict[str, Any]) -> Applied:
    """An action map with its settings. Raises ConfigError for one that has no form in integers."""
    name = settings["name"]
    alpha = round(65536 * settings.get("alpha", 0))
    least = max(round(65536 * settings.get("least_packets", 1.0)), 1)
    if name == "multiplicative_window":
        if settings["rounding"] != "none":
            raise ConfigError(
                f"{source}: action.rounding is {settings['rounding']!r}: --format c plays 'none' alone, for"
                " a window that is cut to whole packets differs by one where an integer is off by one"
            )
        window, pieces = f"factored(s->window_q8, a, {alpha}U)", {"factored"}
        meaning = f"window x (1 + {settings['alpha']:g} a), below 0 / (1 - {settings['alpha']:g} a)"
    elif name == "exponential_window":
        exponent = f"(int32_t)((int64_t)a * {round(settings['alpha'] * 65536 / math.log(2))} / 65536)"
        window, pieces = f"scaled(s->window_q8, {exponent}, most)", {"scaled"}
        meaning = f"window x exp({settings['alpha']:g} a)"
    elif name == "logarithmic_window":
        exponent = "(int32_t)((int64_t)(log2_q16(least) - log2_q16(most)) * (65536 - a) / 131072)"
        window, pieces = f"scaled(most, {exponent}, most)", {"scaled", "log2"}
        meaning = f"window = BDP x ({settings['least_packets']:g} packets / BDP)^((1 - a) / 2)"
    elif name == "fair_share_window":
        exponent = f"(int32_t)((int64_t)a * {round(settings['alpha'] * 65536 / math.log(2))} / 65536)"
        window, pieces = f"scaled(most * s->fair_share_q16 >> 16, {exponent}, most)", {"scaled"}
        meaning = f"window = BDP x fair share x exp({settings['alpha']:g} a)"
    elif name == "multiplicative_rate":
        none = settings["window"] == "none"
        body = _RATE.format(least=least, alpha=alpha, window="UINT32_MAX" if none else "s->bdp_bytes")
        factor = f"{settings['alpha']:g}"
        meaning = (
            f"rate x (1 + {factor} a), below 0 / (1 - {factor} a); {'no window' if none else 'window 1 BDP'}"
        )
        return Applied(body, frozenset({"factored"}), meaning)
    elif name == "recursive_window":
        raise ConfigError(
            f"{source}: action.name is 'recursive_window': --format c plays no map that cuts windows to whole"
            " packets, for one differs by a packet where an integer is off by one"
        )
    else:
        raise ConfigError(f"{source}: action.name: --format c does not know {name!r}")
    return Applied(_WINDOW.format(least=least, window=window), frozenset(pieces), meaning)


_NONE_OF = """\
    if (size_bytes <= (bdp_of(path) * {from_bdps}U) >> 16)
    {{
        return UINT32_MAX;
    }}
"""
_AT_LINE_RATE = """\
    if (s->undecided)
    {
        action->window_bytes = UINT32_MAX;
        action->rate_kbps = s->path.host_rate_kbps;
        action->action_q16 = 0;
        return;
    }
"""
_UNDECIDED = """\
    s->undecided = size_bytes <= (bdp_of(path) * {decides_from}U) >> 16;
"""
_BLIND = """\
    s->without_telemetry = {name}_telemetry_every_ns(path, size_bytes) == UINT32_MAX;
"""
_NOT_DECIDED = """\
    action->window_bytes = s->bdp_bytes;
    action->rate_kbps = s->path.host_rate_kbps;
    action->action_q16 = 0;"""
_DECIDED = """\
    s->window_q8 = (bdp * {begin}U) >> 8;
{members}
    answer(s, &o, action);"""
_SHOWN = "    answer(s, o, action);"
_HIDDEN = """\
    struct {name}_observation seen = *o;
    if (s->without_telemetry)
    {{
{members}
    }}
    answer(s, &seen, action);"""


@dataclass(frozen=True)
class Start:
    """Start of a flow, in C.

    Attributes:
        state: members of the flow's state.
        declared: declarations of the function that starts a flow.
        begin: lines that set the state's members.
        telemetry: body of the function that chooses the packets that carry telemetry.
        first: lines that give the first window and rate.
        decide: lines that decide at an ACK.
        decides: true if the network sets the first window.
        when: flows that decide before their first packet, for the file's first comment.
        meaning: description of the telemetry, for the file's first comment.
    """

    state: tuple[str, ...]
    declared: str
    begin: str
    telemetry: str
    first: str
    decide: str
    decides: bool
    when: str
    meaning: str


def start_of(source: str, name: str, spec: PolicySpec, members: tuple[str, ...]) -> Start:
    """The start, of a file of that name whose observation has these members.

    Raises ConfigError for a number of BDPs or RTTs that integers cannot represent.
    """
    start_bdps = spec.clock.start_bdps if isinstance(spec.clock, PerFlowRtt) else 0.0
    begin = min(setting_q16(source, "clock.start_bdps", start_bdps), 65536)
    decides_from = setting_q16(source, "decides_from_bdps", spec.decides_from_bdps)
    short_bdps = max(spec.telemetry_from_bdps, spec.decides_from_bdps)
    from_bdps = setting_q16(source, "telemetry_from_bdps", short_bdps)
    every = setting_q16(source, "telemetry_every_rtts", spec.telemetry_every_rtts)
    telemetry = _NONE_OF.format(from_bdps=from_bdps) if from_bdps > 0 else ""
    if every > 0:
        telemetry += f"    return (uint32_t)(((uint64_t)path->base_rtt_ns * {every}U) >> 16) + 1U;"
    else:
        telemetry += "    return 0;"
    few = f"one that leaves {spec.telemetry_every_rtts:g} base RTTs after the last" if every > 0 else "each"
    short = f", of a flow above {short_bdps:g} BDPs" if from_bdps > 0 else ""
    initial_values = {"remaining_bytes": "size_bytes"}
    at_start = "\n".join(f"    o.{member} = {initial_values.get(member, '0')};" for member in members)
    unseen = "\n".join(f"        seen.{member} = 0;" for member in members if member in TELEMETRY)
    blind = from_bdps > decides_from and bool(unseen)
    line_rate = _AT_LINE_RATE if decides_from > 0 else ""
    set_undecided = _UNDECIDED.format(decides_from=decides_from) if decides_from > 0 else ""
    first = _DECIDED.format(begin=begin, members=at_start or "    o.unused = 0;")
    state = [
        *(["uint32_t undecided; /* 1: at line rate, without a window */"] if decides_from > 0 else []),
        *(["uint32_t without_telemetry; /* 1: no packet carries any */"] if blind else []),
    ]
    decided = _HIDDEN.format(name=name, members=unseen) if blind else _SHOWN
    return Start(
        state=tuple(state),
        declared=f"    struct {name}_observation o;\n" if begin > 0 else "",
        begin=set_undecided + (_BLIND.format(name=name) if blind else ""),
        telemetry=telemetry,
        first=line_rate + (first if begin > 0 else _NOT_DECIDED),
        decide=line_rate + decided,
        decides=begin > 0,
        when=(f"of flows above {spec.decides_from_bdps:g} BDPs " if decides_from > 0 else "")
        + ("before a flow's first packet, " if begin > 0 else ""),
        meaning=few + short,
    )
