# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the user's own: ``--metric pkg.module:name``, a function under ``@metric``."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ns3_env.config.imports import named_code
from ns3_env.errors import ConfigError
from ns3_env.eval.metrics.registry import METRICS, Metric, Shared

#: Loaded metrics: by their own name, the one on the command line, and the file they come from.
_JOINED: dict[str, tuple[str, Path | None]] = {}


def load_metrics(names: Iterable[str]) -> None:
    """Tables, reports and ``--json`` have these metrics from now on, in this process. May be called again.

    Args:
        names: ``pkg.module:name`` of functions of an episode's results, declared by ``@metric``.

    Raises:
        ConfigError: only a file names it, it cannot be imported, or is not declared.
    """
    for name in names:
        if name not in own_metrics():
            _join(name)


def own_metrics() -> tuple[str, ...]:
    """Returns the names of loaded metrics, as on the command line."""
    return tuple(import_path for import_path, _ in _JOINED.values())


def own_names() -> tuple[str, ...]:
    """The names of the loaded metrics, as in tables."""
    return tuple(_JOINED)


def own_sources() -> str:
    """Hash of the files that they come from; "" without any."""
    files = [
        f"{import_path}\n".encode() + (b"" if file is None else file.read_bytes())
        for import_path, file in _JOINED.values()
    ]
    return hashlib.sha256(b"\0".join(sorted(files))).hexdigest()[:16] if files else ""


def _join(import_path: str) -> None:
    try:
        function = named_code(import_path)
    except ConfigError as error:
        raise ConfigError(f"--metric: {error}") from error
    name = getattr(function, "__name__", "")
    metric = METRICS.get(name)
    if metric is None or not inspect.isfunction(function):
        raise ConfigError(
            f"--metric: {import_path} is no metric: expected a function of an episode's results with "
            "@metric(heading, formula, better) of ns3_env.eval.metrics above it"
        )
    METRICS[name] = replace(metric, of=lambda shared: _checked(import_path, metric, shared))
    source = inspect.getsourcefile(function)
    _JOINED[name] = import_path, None if source is None else Path(source)


def _checked(import_path: str, metric: Metric, shared: Shared) -> float:
    """The metric's value. Raises ConfigError if it fails, or returns something other than a number."""
    try:
        value = float(metric.of(shared))
    except Exception as error:  # whatever the user's code does
        raise ConfigError(f"--metric: {import_path} raised {type(error).__name__}: {error}") from error
    return value if math.isfinite(value) else math.nan
