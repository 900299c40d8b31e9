# SPDX-License-Identifier: GPL-2.0-or-later
"""Players of a search's episodes: simulators of this machine, or tasks of a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ns3_env.agents.search.config import JudgeConfig
from ns3_env.simulator.pool import EpisodePool, Players


@contextmanager
def players_of(env: JudgeConfig) -> Iterator[EpisodePool]:
    """What plays where ``env.ray`` says, for as long as the block lasts.

    Raises:
        ConfigError: no Ray cluster answers there, or it does not let us in.
    """
    if env.ray is None:
        with Players(env.simulators, hang_timeout_s=env.hang_timeout_s) as players:
            yield players
        return
    from ns3_env.cluster.address import find
    from ns3_env.cluster.players import RayPlayers
    from ns3_env.cluster.session import joined

    with joined(find(env.ray, "env.ray"), env.simulators) as cluster:
        print(cluster, flush=True)
        with RayPlayers(env.simulators or max(cluster.cores, 1), hang_timeout_s=env.hang_timeout_s) as there:
            yield there
