# SPDX-License-Identifier: GPL-2.0-or-later
"""Sums of bytes that hold for any results."""

from __future__ import annotations

from ns3_env.simulator.results import Results, endless


def conserved(results: Results) -> None:
    """Each byte that was sent was delivered, was lost at some port by some cause, or is on its way."""
    totals, flows = results["totals"], results["flows"]
    lost = sum(row["payload_bytes"] for row in results["losses"])
    on_the_way = totals["transmitted_payload_bytes"] - totals["delivered_payload_bytes"] - lost
    assert 0 <= on_the_way <= 1000 * totals["packets_left"]
    assert lost == totals["dropped_payload_bytes"]
    assert sum(row["packets"] for row in results["losses"]) == totals["dropped_packets"]
    columns = (flows[name] for name in ("size_bytes", "acked_bytes", "fct_ns"))
    for never, size, acked, fct in zip(endless(results), *columns, strict=True):
        assert never or (acked == size if fct >= 0 else acked < size)
    streams = results.get("streams", {})
    sums = (streams.get(f"{name}_bytes", ()) for name in ("sent", "received", "lost"))
    for sent, received, dropped in zip(*sums, strict=True):
        assert min(sent, received, dropped) >= 0
        assert 0 <= sent - received - dropped <= on_the_way
