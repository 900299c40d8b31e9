# SPDX-License-Identifier: GPL-2.0-or-later
"""Formula over observed fields in C: integers of 32 bits in Q16, cut at their ends."""

from __future__ import annotations

from ns3_env.config.model import shown
from ns3_env.decision.observations import formula
from ns3_env.errors import ConfigError

#: Start of the names of C variables that have fields' values.
OPERAND = "of_"
#: C text of an operation's result, and the functions of pieces.c that it calls.
_OPERATIONS = {
    "+": ("narrow((int64_t){} + {})", ("narrow",)),
    "-": ("narrow((int64_t){} - {})", ("narrow",)),
    "*": ("narrow(rounded((int64_t){} * {}, 16))", ("narrow", "rounded")),
    "/": ("quotient({}, {})", ("quotient",)),
    "min": ("lesser({}, {})", ("lesser",)),
    "max": ("larger({}, {})", ("larger",)),
    "abs": ("(int32_t)apart({}, 0)", ("apart",)),
    "log": ("ln_q16({})", ("ln",)),
    "exp": ("exp_q16({})", ("exp",)),
}
_MOST = 32767


def calculated(place: str, field: str) -> tuple[str, set[str]]:
    """C text of a formula's value, and the functions of pieces.c that it calls.

    Raises ConfigError for a number that integers cannot represent.
    """
    stack: list[str] = []
    pieces: set[str] = set()
    for step in formula(field).steps:
        if isinstance(step, float):
            if step > _MOST:
                raise ConfigError(f"{place}: {shown(step)}: --format c has numbers up to {_MOST:,}")
            stack.append(str(round(65536 * step)))
        elif step in _OPERATIONS:
            text, needed = _OPERATIONS[step]
            operands = [stack.pop() for _ in range(text.count("{}"))]
            stack.append(text.format(*reversed(operands)))
            pieces |= set(needed)
        else:
            stack.append(OPERAND + step)
    return stack[0], pieces
