# SPDX-License-Identifier: GPL-2.0-or-later
"""Load balancing and failures: bisection, collisions, reordering, and flows through what fails."""

from typing import Any

import numpy as np
import pytest

from ns3_env.scenario import (
    Controller,
    DrawnOutages,
    Ecmp,
    Failures,
    Scenario,
    Switch,
    Valiant,
)
from ns3_env.scenario.topology import Dragonfly, FatTree3, LeafSpine
from ns3_env.scenario.traffic import ConstantRate, Flow, FlowList, Mix, Poisson
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results

RATE_BPS = 100e9
LONG_NS = 200_000
#: From host to host over four links of 1 µs, a packet on each.
UNDER_WAY_NS = 4_340


def crossing(random: np.random.Generator, n: int) -> list[int]:
    """A permutation of 2 n hosts in which every host sends to the other half's."""
    there, back = random.permutation(n) + n, random.permutation(n)
    return [int(x) for x in (*there, *back)]


def streams(
    simulator: Simulator,
    topology: LeafSpine | FatTree3 | Dragonfly,
    to: list[int],
    how: Ecmp | Valiant,
    **values: Any,
) -> Results:
    """Every host sends at line rate regardless of losses: without a transport."""
    sent = [ConstantRate(src=i, dst=x, rate_bps=RATE_BPS) for i, x in enumerate(to)]
    last = FlowList(flows=[Flow(src=0, dst=1, size_bytes=1, start_ns=LONG_NS)])
    return simulator.play(
        Scenario(
            topology=topology,
            traffic=Mix(parts=[*sent, last]),
            controllers=[Controller(name="dcqcn")],
            load_balancing=how,
            **values,
        )
    )


def delivered(results: Results) -> float:
    """Delivered share of the hosts' rate."""
    payload = np.array(results["streams"]["received_bytes"])
    time_ns = results["totals"]["end_ns"] - UNDER_WAY_NS
    return float(payload.mean() * 1.048 * 8e9 / RATE_BPS / time_ns)


def test_ecmp_reaches_what_collisions_leave(simulator: Simulator) -> None:
    """n hosts of one leaf send to n of another over n spines: as much as spines that are hit.

    Which are 1 - (1 - 1/n)^n of them in expectation: 0.656 for n = 8. All send at line rate regardless of
    losses, without a transport.
    """
    n = 8
    topology = LeafSpine(leaves=2, spines=n, hosts_per_leaf=n, uplink_bps=RATE_BPS)
    shares, hit = [], []
    for seed in range(16):
        results = streams(simulator, topology, crossing(np.random.default_rng(seed), n), Ecmp())
        up = [x for x in results["queues"] if x["node"] in (2 * n, 2 * n + 1) and x["peer"] > 2 * n + 1]
        hit.append(sum(x["tx_bytes"] > 100_000 for x in up) / (2 * n))
        shares.append(delivered(results))
        assert shares[-1] == pytest.approx(hit[-1], rel=0.04)
    expected = 1 - (1 - 1 / n) ** n
    # Of n balls in n boxes the share of full boxes deviates by 0.11; of 32 times that, by 0.02.
    assert np.mean(hit) == pytest.approx(expected, abs=3 * 0.02)
    assert np.mean(shares) == pytest.approx(expected, abs=0.07)


@pytest.mark.filterwarnings("ignore:traffic. packets of the streams")
def test_detours_load_all_links_between_groups(simulator: Simulator) -> None:
    """32 hosts of a group send to the next one; eight links leave it, so that a quarter may arrive.

    Shortest paths load six of them.
    """
    topology = Dragonfly(hosts_per_switch=4, switches_per_group=8, links_to_groups=4, groups=9)
    to = list(range(32, 64))
    lossy = Switch(pfc=False)
    assert delivered(streams(simulator, topology, to, Valiant(), switch=lossy)) == pytest.approx(
        8 / 32, abs=0.01
    )
    assert delivered(streams(simulator, topology, to, Ecmp(), switch=lossy)) <= 6 / 32 + 0.01


def test_a_detour_counts_as_the_path_of_its_flow(simulator: Simulator) -> None:
    """A flow alone takes the time that it takes by itself, on whichever path."""
    flows = [Flow(src=i, dst=(i + 8) % 72, size_bytes=100_000, start_ns=i * 500_000) for i in range(16)]
    results = simulator.play(
        Scenario(
            topology=Dragonfly(),
            traffic=FlowList(flows=flows),
            controllers=[Controller(name="dcqcn")],
            load_balancing=Valiant(),
        )
    )
    standalone = np.array(results["flows"]["standalone_ns"])
    assert np.array(results["flows"]["fct_ns"]) == pytest.approx(standalone, rel=1e-6)
    assert len(set(np.round(standalone / 1000))) > 2


def drawn(seed: int = 1, of: Any = "fabric_links") -> Scenario:
    outages = DrawnOutages(of=of, mean_up_ns=2_000_000, mean_down_ns=300_000)
    return Scenario(
        seed=seed,
        topology=FatTree3(),
        traffic=Poisson(sizes="websearch", load=0.2, duration_ns=1_000_000),
        controllers=[Controller(name="dcqcn")],
        failures=Failures(convergence_ns=50_000, drawn=outages),
        retransmission_timeout_ns=500_000,
        time_limit_ns=100_000_000,
    )


def test_drawn_failures_are_exponential_and_the_seeds_own() -> None:
    """Up for 2 ms and down for 0.3, on average: 16 links between switches are down 13 % of the time."""
    network = FatTree3().build()
    fabric = [x for x in network.links if network.nodes[x.a] == network.nodes[x.b] == "switch"]
    rows = [x for seed in range(20) for x in drawn(seed).to_simulator_json()["failures"]["outages"]]
    whole = [(row["at_ns"], row["until_ns"]) for row in rows if row["until_ns"] >= 0]
    down = np.array([until - at for at, until in whole])
    assert len(whole) == pytest.approx(20 * len(fabric) * 100 / 2.3, rel=0.05)
    assert down.mean() == pytest.approx(300_000, rel=0.05)
    assert down.std() == pytest.approx(300_000, rel=0.05)
    assert {frozenset((row["a"], row["b"])) for row in rows} == {frozenset((x.a, x.b)) for x in fabric}
    assert drawn(1).to_simulator_json()["failures"] == drawn(1).to_simulator_json()["failures"]
    assert drawn(1).to_simulator_json()["failures"] != drawn(2).to_simulator_json()["failures"]
    # Whatever fails, the flows are the same.
    assert drawn(1).to_simulator_json()["flows"] == drawn(1, of="switches").to_simulator_json()["flows"]
