# SPDX-License-Identifier: GPL-2.0-or-later
"""Distribution of tests over several processes (`pytest -n 2`): by file, the Ray tests together."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file share what takes long to make, and those of a Ray cluster its head."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            folder = file.rpartition("/")[0]
            return folder if folder.endswith("cluster") else file

    return ByFile(config, log)
