# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks of training jobs: whose flows are drawn, and on which hosts."""

from __future__ import annotations

from collections.abc import Iterator

from ns3_env.scenario import Scenario
from ns3_env.tasks import task


def drawn(name: str) -> Iterator[Scenario]:
    yield from map(task(name).training, range(10))


def hosts_of(scenario: Scenario) -> dict[str, set[int]]:
    """Hosts that send or receive, by job; "" of flows of none."""
    flows = scenario.flows()
    network = scenario.topology.build()
    host_of = {card: host for host, cards in network.cards.items() for card in cards}
    hosts: dict[str, set[int]] = {}
    for flow, ends in enumerate(zip(flows.src, flows.dst, strict=True)):
        label = flows.tasks.labels.get(flow)
        hosts.setdefault(label.job if label else "", set()).update(host_of[card] for card in ends)
    return hosts


def test_a_job_of_training_has_all_gpus() -> None:
    for scenario in drawn("Training"):
        assert hosts_of(scenario) == {"training": {*scenario.topology.build().hosts}}


def test_jobs_that_share_a_cluster_have_nodes_of_their_own_and_storage_has_others() -> None:
    for scenario in drawn("SharedCluster"):
        hosts = hosts_of(scenario)
        nodes = {name: {host // 4 for host in hosts[name]} for name in ("first", "second")}
        assert [len(group) for group in nodes.values()] == [3, 3]
        assert not nodes["first"] & nodes["second"]
        storage = {*range(8)} - nodes["first"] - nodes["second"]
        flows = scenario.traffic.model_dump()["parts"][2]["flows"]
        assert all((flow["src"] // 4 in storage) != (flow["dst"] // 4 in storage) for flow in flows)
