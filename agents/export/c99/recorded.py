# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions of a policy while it plays, with what a NIC would have counted at each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.training.environment import make_env
from ns3_env.decision.observations import INDEX
from ns3_env.errors import ConfigError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import SlotStates
from ns3_env.scenario import Scenario

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
#: Episodes that may go by for the observations asked for: a scenario with fewer is hardly one.
_EPISODES = 1000
#: What a share is counted in, where the simulator tells the share alone.
_ACKS = 65536


@dataclass(frozen=True)
class Decisions:
    """n decisions, those of a flow next to each other from its first one on.

    Attributes:
        records: (n, fields) telemetry before each.
        first: (n,) whether a flow begins.
        applied: (n, 3) window (B), pacing rate (bit/s) and action that the policy gave.
    """

    records: Numbers
    first: npt.NDArray[np.bool_]
    applied: Numbers


def record_decisions(
    policy: NetworkPolicy, env: EnvConfig, scenario: Scenario, seed: int, count: int
) -> Decisions:
    """At least ``count`` decisions of whole flows.

    Args:
        policy: decides.
        env: gives the action map's settings.
        scenario: is played, with other flows each time, until there are enough.
        seed: of the episodes.
        count: how many.

    Raises:
        ConfigError: the scenario hardly asks the policy.
        SimulatorError: the simulator failed.
    """
    if scenario.agent_flow_count == 0:
        raise ConfigError("the scenario has no flow under the agent: nothing to compare on")
    states, actions = SlotStates(policy), policy.spec.action_map
    own = env.model_copy(update={"fields": list(policy.fields)})
    scenario = scenario.with_agent(policy.spec.agent_attributes)
    playing: dict[int, list[tuple[Numbers, Numbers]]] = {}
    flows: list[list[tuple[Numbers, Numbers]]] = []
    episodes = decisions = 0
    with make_env(own, lambda episode: scenario, scenario.agent_flow_count, seed, simulators=1) as stream:
        stream.start()
        while decisions < count:
            batch = stream.recv()
            episodes += len(batch.results)
            if episodes >= _EPISODES:
                raise ConfigError(f"{decisions} decisions in {episodes} episodes: too few to compare on")
            states.forget(batch.slots[batch.first])
            if not batch.due.any():
                continue
            slots, records = batch.slots[batch.due], batch.records[batch.due]
            answers = states.predict(batch.observations[batch.due], slots)
            stream.send(answers, slots)
            applied = actions(np.clip(answers, -1, 1), records)
            for slot, begins, record, row in zip(
                slots.tolist(), batch.first[batch.due], records, applied, strict=True
            ):
                if begins:
                    flows.append([])
                    playing[slot] = flows[-1]
                playing[slot].append((record, row))
            decisions += len(slots)
    kept = [flow for flow in flows if flow]
    first = np.concatenate([np.arange(len(flow)) == 0 for flow in kept])
    return Decisions(
        np.array([record for flow in kept for record, _ in flow]),
        first,
        np.array([row for flow in kept for _, row in flow]),
    )


def telemetry(records: Numbers) -> dict[str, Integers]:
    """What a NIC would have counted, by members of the C file's path and observation; each (n,).

    The simulator tells an agent of shares: the most congested hop stands for one of the sender's rate, and so
    does the receiver's link.
    """
    field = {name: records[:, at] for name, at in INDEX.items()}
    rate, base, interval = field["host_rate_bps"], field["base_rtt_ns"], field["interval_ns"]
    per_interval = rate * interval / 8e9
    counts = {
        "host_rate_kbps": rate / 1e3,
        "receiver_rate_kbps": rate / 1e3,
        "base_rtt_ns": base,
        "packet_bytes": field["packet_bytes"],
        "size_bytes": (field["remaining"] + field["attained"]) * field["bdp_bytes"],
        "interval_ns": interval,
        "rtt_ns": field["rtt_ns"],
        "acked_bytes": field["goodput"] * per_interval,
        "acks": np.full(len(records), _ACKS),
        "marked_acks": field["ecn_fraction"] * _ACKS,
        "remaining_bytes": field["remaining"] * field["bdp_bytes"],
        "attained_bytes": field["attained"] * field["bdp_bytes"],
        "hop_queue_bytes": field["qlen"] * rate * base / 8e9,
        "hop_rate_kbps": rate / 1e3,
        "hop_tx_bytes": field["switch_rate"] * per_interval,
        "hop_tx_ns": interval,
        "hop_flows": field["flow_count"],
        # what the flow's last action left
        "window_q8": 256 * np.minimum(field["window_bytes"], field["bdp_bytes"]),
        "rate_q8": 256 * field["rate_bps"] / 1e3,
        "last_action_q16": 65536 * field["last_action"],
    }
    return {name: np.round(values).astype(np.int64) for name, values in counts.items()}
