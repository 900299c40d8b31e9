# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario: 15 hosts of a fat-tree send to the sixteenth (Liang 2018, sec. 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.tcp import Tcp
from ns3_env.scenario.tcp_queue import Queue
from ns3_env.scenario.topology import FatTree3
from ns3_env.scenario.traffic import Incast, Traffic

#: Mininet's limit, as the thesis has it.
RATE_BPS = 100e6
RECEIVER, SENDERS = 0, tuple(range(1, 16))
#: (node, port) of the receiver's edge switch to the receiver.
TO_RECEIVER = (16, 0)
#: Flows start at random within it.
SPREAD_NS = 1_000_000
#: The law of each name in tables and figures.
DCTCP, TDCTCP, CUBIC = "DCTCP", "T-DCTCP", "CUBIC"
CONTROLLERS = {DCTCP: "dctcp", TDCTCP: "tdctcp", CUBIC: "cubic"}


@dataclass(frozen=True)
class Law:
    """A law as an experiment plays it: its name in the simulator, and attributes that differ."""

    controller: str
    attributes: Mapping[str, bool | float | str] = field(default_factory=dict)


LAWS: Mapping[str, Law] = {name: Law(controller) for name, controller in CONTROLLERS.items()}


@dataclass(frozen=True)
class Setting:
    """What the thesis leaves open: queues of switches, how receivers acknowledge, how much a socket holds."""

    limit: str
    marking: Any
    packets_per_ack: int = 2
    socket_buffer_bytes: int = 4 << 20

    def tcp(self) -> Tcp:
        """As a scenario has it, with Linux's timers: the thesis names none."""
        queue = Queue.model_validate({"limit": self.limit, "marking": self.marking})
        return Tcp(
            packets_per_ack=self.packets_per_ack,
            delayed_ack_timeout_ns=40_000_000,
            min_rto_ns=200_000_000,
            initial_rto_ns=1_000_000_000,
            socket_buffer_bytes=self.socket_buffer_bytes,
            queue=queue,
        )


#: DCTCP's published threshold at a port of 1 Gb/s, kept at slower ones; Mininet's ports with RED hold 1 MB.
PUBLISHED = Setting("1MB", "auto")
#: Mininet's own RED, where its links are told to mark (docs/sources/tcp.md, "Mininet").
MININET = Setting(
    "1MB",
    {
        "red": {
            "least": "30kB",
            "most": "35kB",
            "highest_probability": 1.0,
            "average_weight": 0.5,
            "gentle": False,
            "ecn": True,
        }
    },
)
#: Linux's default queue of a device.
UNMARKED = Setting("1000 packets", "none")


def topology(rate_bps: float = RATE_BPS) -> FatTree3:
    """4 core, 8 aggregation and 8 edge switches, two hosts each; links of one rate, 1 µs long."""
    return FatTree3(
        pods=4,
        tors_per_pod=2,
        aggregation_per_pod=2,
        cores=4,
        hosts_per_tor=2,
        rate_bps=rate_bps,
        fabric_bps=rate_bps,
    )


def endless(per_server: int = 1) -> Incast:
    """So many long-lived flows of each server, nearly at once."""
    return Incast(
        flows=per_server * len(SENDERS),
        size_bytes="endless",
        receiver=RECEIVER,
        senders=list(SENDERS),
        spread_ns=SPREAD_NS,
        distribution="uniform",
    )


def scenario(
    law: Law,
    setting: Setting,
    traffic: Traffic,
    seconds: float,
    seed: int = 1,
    rate_bps: float = RATE_BPS,
    **tcp: Any,
) -> Scenario:
    """One run; ``tcp``: settings that differ from the setting's."""
    return Scenario(
        transport="tcp",
        seed=seed,
        time_limit_ns=round(seconds * 1e9),
        topology=topology(rate_bps),
        traffic=traffic,
        tcp=setting.tcp().model_copy(update=tcp),
        controllers=[Controller(name=law.controller, attributes=dict(law.attributes))],
        record=Record(),
    )
