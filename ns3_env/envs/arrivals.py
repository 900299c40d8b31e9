# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of many environments with one controlled flow each, and the infos made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env.decision.observations import INDEX
from ns3_env.decision.outcomes import Outcomes
from ns3_env.simulator import DecisionBatch, JointDecisions

#: Keys of Gymnasium's masks of the environments with a value.
_MASKS = tuple(f"_{name}" for name in INDEX)


class Arrivals(NamedTuple):
    """Rows of the controlled flows of n environments, in their last messages.

    Attributes:
        alone: (n,) true for a message that the environment has itself.
        flows, slots, first, terminated, truncated, records: see :class:`DecisionBatch`.
        times_ns: (n,) simulated times.
    """

    alone: NDArray[np.bool_]
    flows: NDArray[np.int64]
    slots: NDArray[np.int64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    records: NDArray[np.float64]
    times_ns: NDArray[np.float64]

    @classmethod
    def of(cls, joint: JointDecisions | None, count: int) -> Self:
        """Those that came together, of one row each; the rest are to be :meth:`put`."""
        together = np.zeros(count, dtype=np.bool_) if joint is None else np.array(joint.counts) == 1
        flags = np.zeros((3, count), dtype=np.bool_)
        if joint is not None and together.all():
            flows, slots, records = joint.flows, joint.slots, joint.records
        else:
            flows, slots = np.zeros((2, count), dtype=np.int64)
            records = np.empty((count, len(INDEX)))
            if joint is not None:
                flows[together], slots[together] = joint.flows, joint.slots
                records[together] = joint.records
        times_ns = np.zeros(count) if joint is None else np.array(joint.times_ns)
        return cls(~together, flows, slots, *flags, records, times_ns)

    def put(self, i: int, message: DecisionBatch, row: int) -> None:
        """Copies a row of the message of environment i."""
        self.first[i], self.terminated[i] = message.first[row], message.terminated[row]
        self.truncated[i], self.records[i] = message.truncated[row], message.records[row]
        self.times_ns[i] = message.time_ns

    def batch(self, i: int) -> DecisionBatch:
        """Environment i's row, as a message."""
        one = slice(i, i + 1)
        return DecisionBatch(
            float(self.times_ns[i]),
            self.flows[one],
            self.slots[one],
            self.first[one],
            self.terminated[one],
            self.truncated[one],
            self.records[one],
        )


class InfoColumns(NamedTuple):
    """Infos of n environments but for their telemetry, (n,) each, as a single environment names them."""

    time_ns: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    slowdown: NDArray[np.float64]
    cut: NDArray[np.bool_]

    @classmethod
    def of(cls, times_ns: NDArray[np.float64], outcomes: Outcomes) -> Self:
        """The infos with these outcomes (:meth:`Outcomes.infos`)."""
        slowdowns = outcomes.slowdowns
        return cls(times_ns, outcomes.elapsed, np.where(slowdowns == slowdowns, slowdowns, 0.0), outcomes.cut)

    def put(self, i: int, info: dict[str, Any]) -> None:
        """Replaces environment i's by those of ``info``."""
        for name, column in self._asdict().items():
            column[i] = info[name]


def joined_infos(
    mask: NDArray[np.bool_], records: NDArray[np.float64], columns: InfoColumns
) -> dict[str, Any]:
    """The infos of the environments in the mask (n,), as Gymnasium joins them.

    ``records`` (n, fields): the telemetry. A field without a number is no entry of it, and a record that
    has one is no info "record".
    """
    joined: dict[str, Any] = {}
    for key, column in columns._asdict().items():
        joined[key], joined[f"_{key}"] = np.where(mask, column, column.dtype.type(0)), mask.copy()
    present = (records == records).T
    whole = present.all()
    if not (whole and mask.all()):
        present = present & mask
    fields = np.where(present, records.T, 0.0)
    complete = mask if whole else present.all(axis=0)
    if complete.any():
        joined["record"] = np.where(complete[:, None], records, 0.0)
        joined["_record"] = complete.copy()
    telemetry: dict[str, Any] = dict(zip(INDEX, fields, strict=True))
    if whole:
        telemetry.update(dict.fromkeys(_MASKS, present[0]))
    else:
        telemetry.update(zip(_MASKS, present, strict=True))
        for name, is_there in zip(INDEX, present.any(axis=1).tolist(), strict=True):
            if not is_there:
                del telemetry[name], telemetry[f"_{name}"]
    joined["telemetry"], joined["_telemetry"] = telemetry, mask.copy()
    return joined
