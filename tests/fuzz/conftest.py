# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of fuzzed inputs: few fixed ones, or many new ones with ``--hypothesis-profile=long``."""

import pytest
from hypothesis import HealthCheck, settings

from tests.fuzz import tried

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "short",
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=_SLOW_IS_FINE,
)
settings.register_profile(
    "long", max_examples=400, deadline=None, database=None, suppress_health_check=_SLOW_IS_FINE
)
settings.load_profile("short")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Reports the number of inputs of each kind."""
    for kind, (count, refused) in sorted(tried.counts.items()):
        terminalreporter.write_line(f"{kind}: {count} inputs, {count - refused} taken")
