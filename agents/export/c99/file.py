# SPDX-License-Identifier: GPL-2.0-or-later
"""A policy's C file: declarations with their units, tables, and the functions that decide."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from ns3_env.agents.export.c99.features import MEMBERS, action_of, inputs_of, start_of
from ns3_env.agents.export.c99.network import network_of
from ns3_env.agents.export.c99.quantise import Tables
from ns3_env.agents.export.c99.safety import secured_of
from ns3_env.errors import ConfigError
from ns3_env.policies.file import KEY, PolicyFile
from ns3_env.scenario import PerAck, PerFlowRtt

#: Maximum bytes of constants: weights and the tables of functions.
MOST_TABLE_BYTES = 8192
_HOPS = ("hop_queue_bytes", "hop_tx_bytes", "hop_flows", "fair_share_kbps")
_SHARED = """\
s->fair_share_q16 = o->fair_share_kbps == 0 ? 65536U
    : (uint32_t)share_q16(o->fair_share_kbps, s->path.host_rate_kbps, 1U);"""


@dataclass(frozen=True)
class CFile:
    """A policy as C.

    Attributes:
        name: prefix of its functions.
        text: content of the file.
        members: members of the observation.
        receiver: true if the path includes the rate of the receiver's link.
        decides_at_start: true if flows decide before their first packet.
        table_bytes: size of its constants.
        weights: number of weights of the network.
        products: number of multiplications per decision.
    """

    name: str
    text: str
    members: tuple[str, ...]
    receiver: bool
    decides_at_start: bool
    table_bytes: int
    weights: int
    products: int


def c_file(source: str, name: str, policy: PolicyFile) -> CFile:
    """The policy in C.

    Args:
        source: name of the policy's file, for errors.
        name: name of the policy, an identifier of C.
        policy: tensors and header.

    Raises:
        ConfigError: it needs something that the C file cannot have, or too many tables.
    """
    spec = policy.spec
    if isinstance(spec.clock, PerFlowRtt):
        fraction = round(65536 * spec.clock.rtt_fraction)
    elif isinstance(spec.clock, PerAck):
        fraction = 0
    else:
        raise ConfigError(
            f"{source}: clock.name is {spec.clock.name!r}: --format c decides for a flow by itself, with"
            " per_flow_rtt or per_ack"
        )
    tables = Tables(source)
    shared = spec.action["name"] == "fair_share_window"
    safety = secured_of(source, name, spec)
    inputs = inputs_of(source, spec.observation, safety.members)
    start = start_of(source, name, spec, inputs.members)
    network, action = network_of(policy, tables), action_of(source, dict(spec.action))
    functions, function_bytes = _functions(
        inputs.pieces | ({"share"} if shared else set()) | network.pieces | action.pieces | safety.pieces,
        tables,
    )
    if tables.size_bytes > MOST_TABLE_BYTES:
        raise ConfigError(
            f"{source}: its {tables.weights:,} weights need {tables.size_bytes:,} B of tables, and --format c"
            f" writes at most {MOST_TABLE_BYTES:,} B: train narrower layers (docs/nic.md)"
        )
    slopes = {field: field in inputs.fields for field in ("rtt_slope", "qlen_slope")}
    receiver = "goodput" in inputs.fields
    state = [
        *start.state,
        *(["uint32_t rtt_before_ns;"] if slopes["rtt_slope"] else []),
        *(["uint64_t queue_before_q24; /* of the hop's BDP */"] if slopes["qlen_slope"] else []),
        *(["uint32_t fair_share_q16; /* 65536 until it is told */"] if shared else []),
        *network.state,
    ]
    after = [
        *(["s->rtt_before_ns = o->rtt_ns;"] if slopes["rtt_slope"] else []),
        *(["s->queue_before_q24 = hop_queue_q24;"] if slopes["qlen_slope"] else []),
        *([_SHARED] if shared else []),
    ]
    ring, history = network.ring, spec.history
    values = {
        "name": name,
        "NAME": name.upper(),
        "key": KEY,
        "sha256": policy.sha256,
        "training": _training(policy),
        "fields": ", ".join(inputs.fields),
        "kind": f"{spec.network.kind} of {tables.weights} weights, {network.products} products a decision",
        "table_bytes": tables.size_bytes,
        "weight_bytes": tables.size_bytes - function_bytes,
        "function_bytes": function_bytes,
        "meaning": action.meaning,
        "clock": start.when + "at its first ACK, and "
        + ("at every ACK" if fraction == 0 else f"again {fraction} / 65536 of the last RTT later"),
        "telemetry": start.meaning,
        "telemetry_every": _body(start.telemetry, "path", "size_bytes"),
        "first": start.first,
        "declared": start.declared
        + ("" if "size_bytes" in start.begin + start.first else "    (void)size_bytes;\n"),
        "telemetry_bytes": spec.telemetry_bytes,
        "fraction": fraction,
        "hops": int(any(member in _HOPS for member in inputs.members)),
        "receiver": "    uint32_t receiver_rate_kbps; /* of the receiver's link */\n" if receiver else "",
        "state": "".join(f"    {line}\n" for line in state),
        "observation": "".join(f"    {MEMBERS[m][0]} {m}; /* {MEMBERS[m][1]} */\n" for m in inputs.members)
        or "    uint32_t unused; /* nothing is observed but what the state knows */\n",
        "tables": "\n".join(tables.text.values()),
        "functions": "\n".join(functions),
        "observe": _body("\n".join(f"    {line}" for line in (*inputs.lines, *after)), "s", "o"),
        "network": _body(network.body, "s", "x"),
        "apply": action.body,
        "safety": safety.functions,
        "fallback": safety.member,
        "check": safety.check,
        "bound": safety.bound,
        "use": safety.use,
        "x": "int32_t *x = s->seen[s->next];" if ring else f"int32_t x[{len(spec.observation)}];",
        "ring": f"    s->next = (s->next + 1) % {history};\n"
        f"    s->filled += s->filled < {history} ? 1 : 0;\n" if ring else "",
        "begin": network.begin + start.begin,
        "decide": start.decide,
    }  # fmt: skip
    text = re.sub(r"\$(\w+)\$", lambda match: str(values[match[1]]), _read("policy.c"))
    return CFile(
        name,
        text,
        inputs.members,
        receiver,
        start.decides,
        tables.size_bytes,
        tables.weights,
        network.products,
    )


def _functions(names: frozenset[str], tables: Tables) -> tuple[list[str], int]:
    """The functions of those names in pieces.c with all that they call, and the bytes of their tables."""
    parts = re.split(r"^//@ (.+)\n", _read("pieces.c"), flags=re.MULTILINE)[1:]
    pieces = {
        heading.split()[0]: (heading.split()[1:], text)
        for heading, text in zip(parts[::2], parts[1::2], strict=True)
    }
    visited: set[str] = set()
    pending, before = list(names), tables.size_bytes
    while pending:
        name = pending.pop()
        if name.startswith("table:"):
            tables.function(name.removeprefix("table:"))
        elif name not in visited:
            visited.add(name)
            pending += pieces[name][0]
    return [text for name, (_, text) in pieces.items() if name in visited], tables.size_bytes - before


def _body(text: str, *parameters: str) -> str:
    """A function's body that marks its unused parameters."""
    unused = [name for name in parameters if re.search(rf"\b{name}\b", text) is None]
    return "".join(f"    (void){name};\n" for name in unused) + text


def _training(policy: PolicyFile) -> str:
    """Origin of the policy, in characters that end no comment."""
    training = policy.spec.training.model_dump(exclude_none=True, exclude={"versions"})
    text = ", ".join(f"{key} {value}" for key, value in training.items())
    return "Training: " + (re.sub(r"[^\w .,:+-]", "_", text, flags=re.ASCII) or "not said")


def _read(file: str) -> str:
    return resources.files("ns3_env.agents.export.c99").joinpath(file).read_text(encoding="utf-8")
