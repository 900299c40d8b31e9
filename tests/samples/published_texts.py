# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts in the published simulator's formats."""

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
