# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts that several tests run, each compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ns3module.building import EXAMPLES, build
from tests.paths import ROOT


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scripts")


@pytest.fixture(scope="session")
def incast(folder: Path) -> Path:
    return build(EXAMPLES / "incast.cc", folder / "incast")


@pytest.fixture(scope="session")
def beside_tcp(folder: Path) -> Path:
    return build(EXAMPLES / "rdma-beside-tcp.cc", folder / "rdma-beside-tcp")


@pytest.fixture(scope="session")
def faults(folder: Path) -> Path:
    return build(ROOT / "tests" / "ns3module" / "faults.cc", folder / "faults")
