# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests run beside each other where there are several processes (`pytest -n 2 --dist loadgroup`)?"""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)  # xdist reads groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files, one after the other in each process: the tests of one share what takes long to make. Those of a
    Ray cluster share its head."""
    if not hasattr(config, "workerinput"):  # xdist's, in its processes
        return
    for item in items:
        folder = item.path.parent
        shared = folder if folder.name == "cluster" else item.path
        item.add_marker(pytest.mark.xdist_group(shared.stem))
