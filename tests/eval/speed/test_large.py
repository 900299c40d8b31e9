# SPDX-License-Identifier: GPL-2.0-or-later
"""Large networks of `eval speed --large`: each is simulated, and has a row in the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from ns3_env.eval.output.plots import is_png
from ns3_env.eval.speed import large


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = {16: (large.NETWORKS[16][0], 20_000)}
    monkeypatch.setattr(large, "NETWORKS", hosts)
    monkeypatch.setattr(large, "FLOWS", (100,))


@pytest.mark.usefixtures("small")
def test_a_table_and_a_figure_tell_of_each_network(tmp_path: Path) -> None:
    measured = large.report(tmp_path / "out")
    assert list(measured["threads"]) == [0, 1, 2, 0]
    assert (measured["wall_s"] > 0).all()
    assert (measured["packet_hops"] > 100).all()
    assert measured["flows"].iloc[-1] == pytest.approx(100, rel=0.5)
    assert (tmp_path / "out" / "large-networks.csv").read_text().startswith("hosts,threads,flows")
    assert is_png((tmp_path / "out" / "large-networks.png").read_bytes())


@pytest.mark.parametrize("hosts", large.NETWORKS)
def test_a_network_has_the_hosts_that_it_is_named_by(hosts: int) -> None:
    topology = large.network(hosts, None).topology
    assert len(topology.build().hosts) == hosts
