# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the released file: courier-2's weights with two settings.

python checkpoints/courier-3/settings.py policy.safetensors
"""

from __future__ import annotations

import sys
from pathlib import Path

from ns3_env.policies.file import PolicyFile, read_policy, write_policy
from ns3_env.policies.released import released

#: Flows of at most so many BDPs leave at line rate; the least window of others, in packets.
DECIDES_FROM_BDPS, LEAST_PACKETS = 1.25, 0.5


def write(out: Path) -> None:
    """Writes the file."""
    courier = read_policy(released("courier-2"))
    changes = {
        "decides_from_bdps": DECIDES_FROM_BDPS,
        "telemetry_from_bdps": 0.0,  # those flows are among the ones above
        "action": {**courier.spec.action, "least_packets": LEAST_PACKETS},
        "training": courier.spec.training.model_copy(update={"run": "courier-3"}),
    }
    write_policy(out, PolicyFile(courier.spec.model_copy(update=changes), courier.tensors))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
