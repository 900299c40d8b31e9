# SPDX-License-Identifier: GPL-2.0-or-later
"""Renders queue, rates and windows of the last milliseconds as a picture."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ns3_env.decision.observations import INDEX

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

#: Values of an environment's ``render_mode``.
RENDER_MODES = ["rgb_array"]
#: Pictures a second that a video of decisions is shown at.
FPS = 30

WIDTH, HEIGHT = 640, 480
#: The time that a picture shows, at most, ns.
SPAN_NS = 2_000_000.0
_KEPT = 4096  # points of all flows
_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 60, 12, 22, 24, 26
#: Okabe and Ito's, which most people can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a800")
_GREY, _INK = "#dddddd", "#333333"


class _Panel(NamedTuple):
    title: str
    field: str
    over: str | None  # the field that it is divided by
    of_each: bool  # a line for each flow, or one for a value that all of them share


_PANELS = (
    _Panel("queue of the most congested hop / BDP", "qlen", None, False),
    _Panel("pacing rate / link", "pacing_rate", None, True),
    _Panel("window / BDP", "window_bytes", "bdp_bytes", True),
)
#: Drawn instead of the first if the transport does not know it.
_INSTEAD = _Panel("RTT / base RTT", "rtt", None, True)
_KNOWN = (*_PANELS, _INSTEAD)


class Film:
    """Records flows' telemetry at their decisions, and draws it; has no effect without rendering.

    Attributes:
        rolls: true if anything is drawn.
    """

    def __init__(self, render_mode: str | None) -> None:
        """Raises ValueError if ``render_mode`` is neither None nor one of ``RENDER_MODES``."""
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode must be None or one of {RENDER_MODES}, not {render_mode!r}")
        self.rolls = render_mode is not None
        self._points: deque[tuple[int, tuple[float, ...]]] = deque(maxlen=_KEPT)

    def begin(self) -> None:
        """A new episode: earlier records are discarded."""
        self._points.clear()

    def see(self, flows: Sequence[int] | NDArray[np.int64], records: NDArray[np.float64]) -> None:
        """The telemetry (k, fields) of flows (k,)."""
        if not self.rolls:
            return
        for flow, record in zip(flows, records, strict=True):
            values = tuple(
                float(record[INDEX[panel.field]])
                / (1.0 if panel.over is None else max(float(record[INDEX[panel.over]]), 1.0))
                for panel in _KNOWN
            )
            self._points.append((int(flow), (float(record[INDEX["time_ns"]]), *values)))

    def frame(self) -> NDArray[np.uint8] | None:
        """The picture: (HEIGHT, WIDTH, 3). Empty axes at first; None if nothing is drawn."""
        if not self.rolls:
            return None
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (WIDTH, HEIGHT), "white")
        draw = ImageDraw.Draw(image)
        samples = np.array([values for _, values in self._points]).reshape(-1, 1 + len(_KNOWN))
        flows = np.array([flow for flow, _ in self._points], dtype=np.int64)
        end = float(samples[:, 0].max()) if len(samples) else 0.0
        begin = max(end - SPAN_NS, float(samples[:, 0].min()) if len(samples) else 0.0)
        inside = samples[:, 0] >= begin
        samples, flows = samples[inside], flows[inside]
        height = (HEIGHT - _TOP - _BOTTOM - _GAP * (len(_PANELS) - 1)) // len(_PANELS)
        no_queue = len(samples) > 0 and bool(np.isnan(samples[:, 1]).all())
        for i, panel in enumerate((_INSTEAD, *_PANELS[1:]) if no_queue else _PANELS):
            values = samples[:, 1 + _KNOWN.index(panel)]
            top = _TOP + i * (height + _GAP)
            high = _round_up(float(values.max()) if len(samples) else 1.0)
            _axes(draw, panel.title, top, height, high)
            x = _LEFT + (samples[:, 0] - begin) / max(end - begin, 1.0) * (WIDTH - _LEFT - _RIGHT)
            y = top + height - values / high * height
            groups = np.unique(flows) if panel.of_each else [None]
            for group in groups:
                mask = slice(None) if group is None else flows == group
                colour = _INK if group is None else _COLOURS[int(group) % len(_COLOURS)]
                line = np.column_stack([x[mask], y[mask]])
                draw.line([(float(a), float(b)) for a, b in line], fill=colour, width=2)
        span = f"{begin / 1e6:.3f} ms"
        draw.text((_LEFT, HEIGHT - 18), span, fill=_INK)
        draw.text((WIDTH - _RIGHT - 60, HEIGHT - 18), f"{end / 1e6:.3f} ms", fill=_INK)
        return np.asarray(image)


def _axes(draw: ImageDraw, title: str, top: int, height: int, high: float) -> None:
    draw.text((_LEFT, top - 15), title, fill=_INK)
    for share in (0.0, 0.5, 1.0):
        y = top + height * (1 - share)
        draw.line([(_LEFT, y), (WIDTH - _RIGHT, y)], fill=_GREY)
        draw.text((6, y - 6), f"{high * share:.3g}", fill=_INK)


def _round_up(value: float) -> float:
    """The next of 1, 2, 5 times a power of ten, so that axes seldom change."""
    if not value > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)))
