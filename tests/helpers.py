# SPDX-License-Identifier: GPL-2.0-or-later
"""Where are the programs that tests run?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ns3_env import _native
from ns3_env.errors import SimulatorNotFound
from ns3_env.simulator import find_executable


def dummy_sim() -> Path:
    """The simulator without a network, or that in NS3_ENV_DUMMY_SIM. Skips where there is none."""
    named = os.environ.get("NS3_ENV_DUMMY_SIM")
    path = Path(named) if named else Path(_native.__file__).parent / "bin" / "rdma-dummy-sim"
    if not path.exists():
        pytest.skip(f"no {path}", allow_module_level=True)
    return path


def rdma_sim() -> Path:
    """The real simulator. Skips where there is none."""
    try:
        return find_executable()
    except SimulatorNotFound as error:
        pytest.skip(str(error), allow_module_level=True)
