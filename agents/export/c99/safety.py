# SPDX-License-Identifier: GPL-2.0-or-later
"""Safety of a policy in C: the bound of its windows, and the ranges that trigger its fallback."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ns3_env.agents.export.c99.features import FEATURES, MOST_PLAIN
from ns3_env.agents.export.c99.quantise import setting_q16
from ns3_env.decision.observations import FIELDS, INDEX
from ns3_env.errors import ConfigError
from ns3_env.policies.header import Input, PolicySpec

#: Width added to ranges, in Q16: the possible rounding error of integers.
_SLACK = 64
_FUNCTIONS = """\
/* Whether the policy has met such an observation. */
static int covered(const struct {name}_state *s, const struct {name}_observation *o, const int32_t *x)
{{
{unused}    return {checks};
}}

/* At most min(1, M / r) of a BDP, r the RTT in base RTTs, M = {most_rtts:g}. */
static void bound(struct {name}_state *s, const struct {name}_observation *o, struct {name}_action *action)
{{
    const uint64_t reach = (uint64_t)s->path.base_rtt_ns * {most_q16}U;
    const uint64_t share = (uint64_t)o->rtt_ns << 16 <= reach ? 65536U : reach / o->rtt_ns;
    const uint64_t most = (s->bdp_bytes * share) >> 8;
    if ((uint64_t)action->window_bytes << 8 > most)
    {{
        s->window_q8 = most;
        action->window_bytes = (uint32_t)((most + 128U) >> 8);
    }}
}}

"""
_CHECK = """\
    if (!covered(s, o, x))
    {
        action->fallback = 1;
        action->window_bytes = (uint32_t)((s->window_q8 + 128U) >> 8);
        action->rate_kbps = s->path.host_rate_kbps;
        action->action_q16 = s->last_action_q16;
        return;
    }
    action->fallback = 0;
"""
_USE = " * 3. Where action.fallback is 1, a controller of the NIC's own goes on from that window.\n"
_USE_LOSSES = (
    " *    So it does at a loss, once more than {most_repeated:g} of the bytes sent were sent again.\n"
)


@dataclass(frozen=True)
class Secured:
    """A safety in C; of a policy without one all is empty.

    Attributes:
        functions: functions that check and bound.
        member: member that it adds to the action.
        check: lines before the network is evaluated.
        bound: lines after the network's action is applied.
        members: members of the observation.
        pieces: functions of pieces.c that it needs.
        use: instructions for use, for the file's first comment.
    """

    functions: str = ""
    member: str = ""
    check: str = ""
    bound: str = ""
    members: frozenset[str] = frozenset()
    pieces: frozenset[str] = frozenset()
    use: str = ""


def secured_of(source: str, name: str, spec: PolicySpec) -> Secured:
    """The safety. Raises ConfigError for a range of a field that integers do not give."""
    if spec.safety is None:
        return Secured()
    inputs = {x.field: (i, x) for i, x in enumerate(spec.observation) if isinstance(x, Input)}
    checks, members = [], {"rtt_ns"}
    for field, (low, high) in spec.safety.ranges.items():
        if field in inputs:
            i, entry = inputs[field]
            value, symlog = f"x[{i}]", entry.transform == "symlog"
        elif field in FEATURES and not (FEATURES[field].needs or FEATURES[field].negative):
            n, d = FEATURES[field].over
            value, symlog = f"share_q16({n}, {d}, {_most(field)}U)", False
            members |= set(FEATURES[field].members)
        else:
            raise ConfigError(f"{source}: safety.ranges: --format c has no range of {field!r}")
        ends = (_q16(field, end, symlog) for end in (low, high))
        checks.append(f"{value} >= {next(ends) - _SLACK} && {value} <= {next(ends) + _SLACK}")
    text = "\n        && ".join(checks or ["1"])
    unused = "".join(
        f"    (void){p};\n" for p in ("s", "o", "x") if f"{p}->" not in text and f"{p}[" not in text
    )
    repeated = spec.safety.most_repeated
    return Secured(
        functions=_FUNCTIONS.format(
            name=name,
            unused=unused,
            checks=text,
            most_rtts=spec.safety.most_rtts,
            most_q16=setting_q16(source, "safety.most_rtts", spec.safety.most_rtts),
        ),
        member="    uint32_t fallback; /* 1: Swift, say, steers the flow to its end */\n",
        check=_CHECK,
        bound="    bound(s, o, action);\n",
        members=frozenset(members),
        pieces=frozenset({"share"}) if "share_q16" in text else frozenset(),
        use=_USE + ("" if repeated == 1 else _USE_LOSSES.format(most_repeated=repeated)),
    )


def _most(field: str) -> int:
    return min(int(FIELDS[INDEX[field]].high), MOST_PLAIN)


def _q16(field: str, value: float, symlog: bool) -> int:
    if symlog:
        return round(65536 * math.copysign(math.log1p(abs(value)), value))
    return round(65536 * max(min(value, _most(field)), -_most(field)))
