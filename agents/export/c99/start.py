# SPDX-License-Identifier: GPL-2.0-or-later
"""Before a flow's first packet, in C: which of its packets carry telemetry, and its first window."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.agents.export.c99.features import TELEMETRY
from ns3_env.agents.export.c99.quantise import setting_q16
from ns3_env.policies.header import PolicySpec
from ns3_env.scenario import PerFlowRtt

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
    """What a flow starts with, in C.

    Attributes:
        state: members of the flow's state.
        declared: what the function that starts a flow declares.
        begin: lines that set the state's members.
        telemetry: body of the function that says which packets carry telemetry.
        first: lines that give the first window and rate.
        decide: lines that decide at an ACK.
        decides: whether the network gives the first window.
        when: which flows decide before their first packet, for the file's first comment.
        meaning: of the telemetry, for the file's first comment.
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

    Raises ConfigError for a number of BDPs or RTTs that integers do not hold.
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
    known = {"remaining_bytes": "size_bytes"}
    at_start = "\n".join(f"    o.{member} = {known.get(member, '0')};" for member in members)
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
