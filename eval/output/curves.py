# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws each controller's rate and queue in incasts, from the curves that the tests pin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from ns3_env.config.folders import DATA
from ns3_env.errors import ScenarioError
from ns3_env.eval.output.plots import styles
from ns3_env.eval.output.table import read_csv
from ns3_env.programs.executable import references

if TYPE_CHECKING:
    import pandas

#: The pinned curves: NAME-Nto1.csv, written by the C++ suite rdma-curves.
CURVES = DATA / "curves"
_CREATOR = "ns3-env curves"  # written into the pictures
_STYLES = ("-", "--", ":")


def draw_curves(out: Path, curves: Path = CURVES) -> list[Path]:
    """Draws ``out``/NAME.png for each controller: its rate, and the queue it builds, in every pinned incast.

    The rate is that of flow 0, up to the flow's end; flows start together at line rate (100 Gb/s).

    Args:
        out: folder of the pictures, created if missing.
        curves: folder of the curves.

    Returns:
        The pictures, by name.

    Raises:
        ScenarioError: the folder has no curves, or an existing picture of that name is
            not one of ours.
    """
    incasts: dict[str, list[tuple[int, Path]]] = {}
    for path in curves.glob("*-*to1.csv"):
        name, count = path.name.removesuffix("to1.csv").rsplit("-", 1)
        incasts.setdefault(name, []).append((int(count), path))
    if not incasts:
        raise ScenarioError(f"{curves}: no curves here (NAME-Nto1.csv); they are in the source tree only")
    for name in incasts:
        _refuse_foreign(out / f"{name}.png")
    out.mkdir(parents=True, exist_ok=True)
    pictures = []
    looks = styles(sorted(incasts), references=references())
    for name in sorted(incasts):
        figure = Figure(figsize=(7, 5.5), layout="constrained")
        rate_axes, queue_axes = figure.subplots(2, 1, sharex=True)
        for style, (senders, path) in zip(_STYLES, sorted(incasts[name]), strict=False):
            curve = read_curve(path)
            look: dict[str, Any] = {
                "color": looks[name].colour,
                "linestyle": style,
                "label": f"{senders} to 1",
            }
            times, rates = curve["time_ns"] / 1e3, curve["rate_bps"] / 1e9
            rate_axes.plot(times, rates.where(rates > 0), **look)
            queue_axes.plot(times, curve["queue_bytes"] / 1e3, **look)
        rate_axes.set(ylabel="rate of flow 0 (Gb/s)", ylim=(0, None), title=name)
        queue_axes.set(xlabel="time (µs)", ylabel="bottleneck queue (kB)", ylim=(0, None))
        rate_axes.legend(frameon=False)
        for axes in (rate_axes, queue_axes):
            axes.grid(alpha=0.3)
        pictures.append(out / f"{name}.png")
        figure.savefig(pictures[-1], dpi=110, metadata={"Creator": _CREATOR})
    return pictures


def _refuse_foreign(picture: Path) -> None:
    if picture.is_symlink():
        raise ScenarioError(f"--out: {picture} is a symbolic link: name another folder, or remove it")
    if not picture.exists():
        return
    if not picture.is_file() or _CREATOR.encode() not in picture.read_bytes()[:4096]:
        raise ScenarioError(f"--out: {picture} was not drawn here: name another folder, or remove it")


def read_curve(path: Path) -> pandas.DataFrame:
    """Reads a curve: columns time_ns, rate_bps, window_bytes, queue_bytes."""
    return read_csv(path, ("time_ns", "rate_bps", "window_bytes", "queue_bytes"), hint="it is in the tests")
