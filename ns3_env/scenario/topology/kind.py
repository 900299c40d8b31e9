# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of the kinds of topology: they can be built, and have a known size before."""

from __future__ import annotations

from pydantic import model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, WHY_HOSTS
from ns3_env.config.model import Strict
from ns3_env.scenario.topology.network import Network

GBPS = 1e9


class TopologyKind(Strict):
    """What every topology has: it can be built."""

    def counts(self) -> tuple[int, int, int]:
        """Hosts, switches and links, told before anything is built."""
        raise NotImplementedError

    def build(self) -> Network:
        """The network."""
        raise NotImplementedError

    def faults(self, network: Network) -> list[str]:
        """What is wrong with what was built, as "key: text"; [] where nothing is."""
        return network.faults()

    def without_files(self) -> TopologyKind:
        """The same topology with what a file holds written out."""
        return self

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        for what, count, limit in zip(
            ("hosts", "switches", "links"), self.counts(), (MAX_HOSTS, MAX_SWITCHES, MAX_LINKS), strict=True
        ):
            if count > limit:
                raise ValueError(f"{count} {what}; there may be at most {limit}: {WHY_HOSTS}")
        return self
