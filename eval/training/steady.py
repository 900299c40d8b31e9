# SPDX-License-Identifier: GPL-2.0-or-later
"""Observations of a flow in a steady state: all fields, from the few that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ns3_env.errors import ConfigError
from ns3_env.eval.plots.plots import Floats
from ns3_env.task.observations import field_indices

#: What is not said otherwise: one of four flows on a busy 100 Gb/s link with an empty queue, half done.
GIVEN: dict[str, float] = {
    "qlen": 0.0,
    "switch_rate": 1.0,
    "pacing_rate": 0.25,
    "flow_count": 4.0,
    "attained": 10.0,
    "remaining": 10.0,
    "ecn_fraction": 0.0,
    "notified_offset": 0.0,
    "notified_delta": 0.0,
    "notified_feedback": 0.0,
    "notification_recency": 0.0,
    "notifications": 0.0,
    "base_rtt_ns": 8_300.0,
    "host_rate_bps": 100e9,
    "packet_bytes": 1048.0,
}


def steady(fields: Sequence[str], given: Mapping[str, Floats]) -> Floats:
    """Observations (n, len(fields)) of a flow that has seen the same for long.

    Its queueing delay is the bottleneck's queue (RTT = 1 + QLEN), it gets what it sends, and nothing rises or
    falls: slopes and the last action are 0.

    Args:
        fields: of the observation.
        given: values (n,) of fields, instead of ``GIVEN``'s.

    Raises:
        ConfigError: there is no such field, or what the flow sees of one does not follow from these.
    """
    try:
        field_indices(list(given))
    except KeyError as error:
        raise ConfigError(error.args[0]) from None
    count = max((len(values) for values in given.values()), default=1)
    known: dict[str, Floats] = {name: np.full(count, value) for name, value in GIVEN.items()}
    known |= {name: np.broadcast_to(values, count) for name, values in given.items()}
    zero = np.zeros(count)
    bdp = known["base_rtt_ns"] * known["host_rate_bps"] / 8e9
    follows = {
        "rtt": 1 + known["qlen"],
        "rtt_slope": zero,
        "qlen_slope": zero,
        "last_action": zero,
        "goodput": known["pacing_rate"],
        "throughput": known["pacing_rate"],
        "bdp_bytes": bdp,
        "window_bytes": known["pacing_rate"] * bdp,
        "rate_bps": known["pacing_rate"] * known["host_rate_bps"],
        "rtt_ns": (1 + known["qlen"]) * known["base_rtt_ns"],
    }
    whole = {**follows, **known}
    if unknown := [name for name in fields if name not in whole]:
        raise ConfigError(
            f"the policy reads {', '.join(unknown)}, of which nothing follows from a steady state: "
            f"give a value, e.g. {unknown[0]}=0"
        )
    return np.stack([whole[name] for name in fields], axis=1)
