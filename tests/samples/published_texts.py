# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts in formats of the published simulator and of htsim."""

from __future__ import annotations

TOPOLOGY = """5 2 4
3 4
0 3 100Gbps 1us 0
1 3 100Gbps 0.001ms 0
3 4 400Gbps 1us 0.000000
4 2 100Gbps 1us 0

First line: nodes, switches, links; second line: switches
src0 dst0 rate delay error_rate
"""


FLOWS = """2
0 2 3 100 200000 2
1 2 3 100 64000 2.000000123

First line: flow #
src dst 3 dst_port size start_time
"""


#: A connection matrix as htsim's generators write it: a flow at 0, one 10 us later, one behind the first, one
#: behind both.
MATRIX = """Nodes 8
Connections 4
Triggers 2
0->1 id 1 start 0 size 4000 send_done_trigger 3 recv_done_trigger 7
2->3 id 2 start 10000000 size 4000 send_done_trigger 7
# these wait
4->5 id 3 trigger 3 size 2000
6->7 id 4 trigger 7 size 1000
trigger id 3 oneshot
trigger id 7 barrier count 2
"""

#: sim/datacenter/topologies/leaf_spine_tiny.topo of csg-htsim (BSD), as it is.
TWO_TIERS = """Nodes 32
Tiers 2
Podsize 32

Tier 0
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 4

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Switch_Latency_ns 0
"""

#: examples/htsim/8nodes.topo of ASTRA-sim (MIT), as it is: links side by side above.
THREE_TIERS = """Nodes 8
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000

Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Radix_Up 4
Downlink_Latency_ns 1000
Bundle 1

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Bundle 2
"""
