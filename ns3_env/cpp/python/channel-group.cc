// SPDX-License-Identifier: GPL-2.0-or-later
// Python binding of channels with simulators that are stepped together.
#include "ns3_env/cpp/channel/channel-group.h"

#include "row-arrays.h"

#include <algorithm>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

using namespace ns3::env;

void BindChannelGroup(py::module_& module);

namespace
{

/// Reports whether all rows of a message are of continuing flows, with slots below `slots`.
bool
GoesOn(std::span<const DecisionRow> rows, int64_t slots)
{
    return !rows.empty() &&
           std::all_of(rows.begin(),
                       rows.end(),
                       [slots](const DecisionRow& row)
                       { return row.flags == 0 && row.slot >= 0 && row.slot < slots; });
}

/// Binding of "take", which is documented below.
py::object
TakeRows(ChannelGroup& self, int64_t slots, bool partly)
{
    const size_t simulators = self.Ends().size();
    std::vector<std::span<const DecisionRow>> messages(simulators);
    size_t count = 0;
    for (size_t i = 0; i < simulators; ++i)
    {
        const auto rows = ChannelGroup::Decisions(*self.Ends()[i]);
        if (GoesOn(rows, slots))
        {
            messages[i] = rows;
            count += rows.size();
        }
        else if (!partly)
        {
            return py::none();
        }
    }
    RowArrays to(static_cast<py::ssize_t>(count));
    py::array_t<int64_t> whose(static_cast<py::ssize_t>(count));
    std::vector<size_t> counts(simulators);
    std::vector<double> timesNs(simulators);
    py::ssize_t row = 0;
    for (size_t i = 0; i < simulators; ++i)
    {
        if (messages[i].empty())
        {
            continue;
        }
        self.Ends()[i]->Wait(0); // the message is there
        counts[i] = messages[i].size();
        timesNs[i] = static_cast<double>(self.Ends()[i]->TimePs()) / 1000;
        const auto slot0 = static_cast<int64_t>(i) * slots;
        for (const DecisionRow& from : messages[i])
        {
            // The other side may continue to write: use only checked values.
            const int64_t slot = std::clamp<int64_t>(from.slot, 0, slots - 1);
            to.Set(row, from, slot0 + slot, 0);
            whose.mutable_data()[row++] = static_cast<int64_t>(i);
        }
    }
    return py::make_tuple(to.Joint(whose), counts, timesNs);
}

/// Steps with actions of shape (m, 3), one simulator's after the other's.
void
StepAll(ChannelGroup& self,
        const py::array_t<double, py::array::c_style | py::array::forcecast>& actions,
        const std::vector<int64_t>& counts)
{
    const double* number = actions.data();
    const double* const end = number + actions.size();
    for (size_t i = 0; i < counts.size() && i < self.Ends().size(); ++i)
    {
        const auto to = self.Ends()[i]->Actions();
        const auto count = static_cast<size_t>(std::max<int64_t>(counts[i], 0));
        if (count > to.size() || end - number < static_cast<py::ssize_t>(count * ACTION_WIDTH))
        {
            throw std::invalid_argument("actions must be (m, 3), of as many rows as were due");
        }
        for (ActionRow& row : to.first(count))
        {
            row = {number[0], number[1], number[2]};
            number += ACTION_WIDTH;
        }
    }
    if (number != end)
    {
        throw std::invalid_argument("actions must be (m, 3), of as many rows as were due");
    }
    self.Step(counts);
}

} // namespace

void
BindChannelGroup(py::module_& module)
{
    py::class_<ChannelGroup>(module,
                             "ChannelGroup",
                             "Channels whose simulators are stepped together.")
        .def(py::init<std::vector<AgentChannel*>>(), py::arg("ends"), py::keep_alive<1, 2>())
        .def_property_readonly("waiting",
                               &ChannelGroup::IsWaiting,
                               "Whether it is each simulator's turn.")
        .def(
            "wait",
            [](ChannelGroup& self, double timeoutS)
            {
                bool came = self.Wait(0);
                if (!came && timeoutS > 0)
                {
                    const py::gil_scoped_release unlocked;
                    came = self.Wait(timeoutS);
                }
                if (PyErr_CheckSignals() != 0)
                {
                    throw py::error_already_set();
                }
                return came;
            },
            py::arg("timeout_s"),
            "Whether each has a message within timeout_s seconds. Releases the GIL.")
        .def("take",
             &TakeRows,
             py::arg("slots"),
             py::arg("partly"),
             "Takes each message that is of flows that go on, with slots below `slots`, as one: "
             "its columns as of join(), slots being simulator x slots + slot; rows and simulated "
             "time (ns) of each. Others stay; unless partly, all stay then, and None is returned.")
        .def("step",
             &StepAll,
             py::arg("actions"),
             py::arg("counts"),
             "Hands over with these actions (m, 3), the first counts[0] to the first one; not to "
             "those with a negative count.");
}
