// SPDX-License-Identifier: GPL-2.0-or-later
// Decision rows as arrays of NumPy, one per column.
#pragma once

#include "ns3_env/cpp/channel/channel-layout.h"

#include <algorithm>
#include <pybind11/numpy.h>

namespace py = pybind11;

namespace ns3::env
{

/// Rows as separate arrays, one per column.
struct [[gnu::visibility("hidden")]] RowArrays
{
    explicit RowArrays(py::ssize_t count)
        : flows(count),
          slots(count),
          first(count),
          terminated(count),
          truncated(count),
          due(count),
          records({count, static_cast<py::ssize_t>(FIELD_COUNT)})
    {
    }

    /// Row i; `slot` and `flags` are the row's, read once: the other side may continue to write.
    void Set(py::ssize_t i, const DecisionRow& row, int64_t slot, uint32_t flags)
    {
        flows.mutable_data()[i] = row.flow;
        slots.mutable_data()[i] = slot;
        first.mutable_data()[i] = (flags & ROW_FIRST) != 0;
        terminated.mutable_data()[i] = (flags & ROW_TERMINATED) != 0;
        truncated.mutable_data()[i] = (flags & ROW_TRUNCATED) != 0;
        due.mutable_data()[i] = (flags & (ROW_TERMINATED | ROW_TRUNCATED)) == 0;
        std::copy(row.record.values.begin(),
                  row.record.values.end(),
                  records.mutable_data() + i * static_cast<py::ssize_t>(FIELD_COUNT));
    }

    /// Arrays of several simulators' rows, with the simulator of each.
    py::tuple Joint(const py::array_t<int64_t>& simulators) const
    {
        return py::make_tuple(flows, slots, first, terminated, truncated, due, records, simulators);
    }

    py::array_t<int64_t> flows;
    py::array_t<int64_t> slots;
    py::array_t<bool> first;
    py::array_t<bool> terminated;
    py::array_t<bool> truncated;
    py::array_t<bool> due;
    py::array_t<double> records;
};

} // namespace ns3::env
