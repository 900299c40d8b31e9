# SPDX-License-Identifier: GPL-2.0-or-later
"""The thesis's printed tables of incasts (Zhang 2023, Tables 6.1 and 6.2)."""

from __future__ import annotations

from ns3_env.eval.paper.fdcc.entries import NAMES

#: Columns of Table 6.2, by our names of them.
COLUMNS = ("qlen_avg", "qlen_p99", "fct_slowdown_avg", "fct_slowdown_p99", "unfair_ratio", "goodput")
_ROWS_6_2 = {
    4: (
        (42993.3, 48208, 4.0, 4.1, 0.00002, 0.96),
        (43653.6, 49632, 4.0, 4.0, 0.00002, 0.95),
        (1089.1, 3354, 3.3, 4.3, 0.29881, 0.93),
        (49564.8, 52546, 4.3, 4.3, 0.00001, 0.90),
        (49275.3, 51128, 4.1, 4.1, 0.00002, 0.93),
    ),
    16: (
        (135259.8, 151960, 15.4, 16.0, 0.03805, 0.99),
        (130874.7, 144672, 15.8, 16.2, 0.01845, 0.96),
        (2804.3, 6708, 17.4, 17.6, 0.01279, 0.88),
        (253288.8, 253786, 17.0, 17.0, 0.00003, 0.89),
        (30716, 31525, 16.9, 16.9, 0.00002, 0.90),
    ),
    256: (
        (1098612.9, 2882000, 253.0, 255.5, 0.00997, 0.96),
        (1372074.3, 4037088, 293.8, 296.1, 0.00762, 0.83),
        (131961.3, 3274622, 294.5, 295.2, 0.00243, 0.83),
        (4167130.2, 4286572.2, 255.1, 255.4, 0.00117, 0.95),
        (3578233.5, 3688457.3, 254.5, 254.7, 0.00091, 0.96),
    ),
    1024: (
        (6718384.9, 6764840, 975.4, 982.1, 0.00683, 0.99),
        (1914594.7, 6554592, 1026.1, 1028.3, 0.00218, 0.95),
        (1347184.6, 6502288, 1089.2, 1091.4, 0.00195, 0.89),
        (3085705.3, 6987246, 984.35, 986.5, 0.00225, 0.98),
        (2495439.2, 6572722, 975.6, 977.1, 0.00153, 0.99),
    ),
}
_GOODPUT_6_1 = {
    48: (0.99, 0.99, 0.87, 0.98, 0.98),
    192: (0.98, 0.98, 0.88, 0.89, 0.93),
    768: (0.97, 0.96, 0.86, 0.88, 0.94),
}

#: Flows of each incast.
DUMBBELL_FLOWS, FAT_TREE_FLOWS = tuple(_ROWS_6_2), tuple(_GOODPUT_6_1)


def title(flows: int) -> str:
    """A case, as the thesis calls it."""
    return f"{flows}-to-1"


#: By case, entry and column; lengths in bytes.
TABLE_6_2: dict[str, dict[str, dict[str, float | None]]] = {
    title(flows): {name: dict(zip(COLUMNS, row, strict=True)) for name, row in zip(NAMES, rows, strict=True)}
    for flows, rows in _ROWS_6_2.items()
}
#: Goodput by case and entry.
TABLE_6_1: dict[str, dict[str, dict[str, float | None]]] = {
    title(flows): {name: {"goodput": x} for name, x in zip(NAMES, row, strict=True)}
    for flows, row in _GOODPUT_6_1.items()
}
