# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures of the Ray tests: one cluster head and one meeting folder for the whole session."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cluster.policies import MEETING

if find_spec("ray") is None:
    pytest.skip("the extra ray is not installed", allow_module_level=True)

# Ray reads them when it is imported, and some modules of tests import it.
os.environ.update({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)})
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


@pytest.fixture(scope="session")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that this process and the cluster's workers know."""
    folder = tmp_path_factory.mktemp("meeting")
    os.environ[MEETING] = str(folder)
    yield folder
    del os.environ[MEETING]


@pytest.fixture(scope="session")
def head(meeting: Path) -> Iterator[object]:
    """The head of a cluster, with one core."""
    from tests.cluster.nodes import Head

    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # sockets' paths are short
    node = Head(folder)
    yield node
    node.kill()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def _empty(meeting: Path) -> None:
    """Empties the meeting folder of the previous test's files."""
    for path in meeting.iterdir():
        path.unlink()
