// SPDX-License-Identifier: GPL-2.0-or-later
// Python module of the C++ side: the agent's end of the channel, fields, MPCC's control, policies.
#include "row-arrays.h"

#include "ns3_env/cpp/channel/agent-channel.h"
#include "ns3_env/cpp/json/bounds.h"

#include <algorithm>
#include <cstring>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace ns3::env;
using namespace pybind11::literals;

void BindChannelGroup(py::module_& module);
void BindJobFlows(py::module_& module);
void BindJsonText(py::module_& module);
void BindMpcc(py::module_& module);
void BindPolicy(py::module_& module);
void BindReading(py::module_& module);
void BindRecurrent(py::module_& module);
void BindShares(py::module_& module);

namespace
{

/// A writable array over memory that `owner` keeps alive.
template <typename T>
py::array
View(std::vector<py::ssize_t> shape, std::vector<py::ssize_t> strides, T* data, py::handle owner)
{
    return py::array(py::dtype::of<T>(), std::move(shape), std::move(strides), data, owner);
}

/// One member of every row, as an array (capacity,).
template <typename T>
py::array
RowView(py::handle self, T DecisionRow::* member)
{
    const auto rows = self.cast<AgentChannel&>().Rows();
    return View({static_cast<py::ssize_t>(rows.size())},
                {sizeof(DecisionRow)},
                &(rows[0].*member),
                self);
}

py::tuple
FieldTuple(const FieldSpec& field)
{
    return py::make_tuple(field.name, field.unit, field.normaliser, field.low, field.high);
}

/// A text of the region, which the other side may have left without an end, or with bytes that are no ASCII.
template <size_t SIZE>
std::string
TextOf(const char (&text)[SIZE])
{
    std::string plain(text, strnlen(text, SIZE));
    for (char& c : plain)
    {
        c = static_cast<unsigned char>(c) < 128 ? c : '?';
    }
    return plain;
}

py::tuple
FieldTuple(const SchemaField& field)
{
    return py::make_tuple(TextOf(field.name),
                          TextOf(field.unit),
                          TextOf(field.normaliser),
                          field.low,
                          field.high);
}

/// Bounds on a scenario's values, by name.
py::dict
Bounds()
{
    using namespace bounds;
    return py::dict("time_ns"_a = TIME_NS,
                    "delay_ns"_a = DELAY_NS,
                    "rate_bps"_a = RATE_BPS,
                    "least_rate_bps"_a = LEAST_RATE_BPS,
                    "least_link_rate_bps"_a = LEAST_LINK_RATE_BPS,
                    "flow_bytes"_a = FLOW_BYTES,
                    "payload_bytes"_a = PAYLOAD_BYTES,
                    "buffer_bytes"_a = BUFFER_BYTES,
                    "reserve_bytes"_a = RESERVE_BYTES,
                    "headroom_frames"_a = HEADROOM_FRAMES,
                    "telemetry_bytes"_a = TELEMETRY_BYTES,
                    "alpha_shift"_a = ALPHA_SHIFT,
                    "weight"_a = WEIGHT,
                    "rtts"_a = RTTS,
                    "bdps"_a = BDPS,
                    "packets"_a = PACKETS,
                    "socket_buffer_bytes"_a = SOCKET_BUFFER_BYTES,
                    "least_socket_buffer_segments"_a = LEAST_SOCKET_BUFFER_SEGMENTS,
                    "links"_a = LINKS,
                    "link_steps"_a = LINK_STEPS,
                    "controllers"_a = CONTROLLERS);
}

/// The rows of the message, copied: see "rows" below.
py::tuple
CopyRows(const AgentChannel& self)
{
    const auto rows = self.Rows().first(self.RowCount());
    const auto count = static_cast<py::ssize_t>(rows.size());
    RowArrays to(count);
    int32_t least = 0;
    int32_t most = 0;
    bool goesOn = count > 0;
    for (py::ssize_t i = 0; i < count; ++i)
    {
        const DecisionRow& row = rows[static_cast<size_t>(i)];
        const int32_t slot = row.slot; // read once: the other side may continue to write
        const uint32_t flags = row.flags;
        const bool over = (flags & (ROW_TERMINATED | ROW_TRUNCATED)) != 0;
        least = i == 0 ? slot : std::min(least, slot);
        most = i == 0 ? slot : std::max(most, slot);
        goesOn = goesOn && !over && (flags & ROW_FIRST) == 0;
        to.Set(i, row, slot, flags);
    }
    return py::make_tuple(to.flows,
                          to.slots,
                          to.first,
                          to.terminated,
                          to.truncated,
                          to.records,
                          to.due,
                          goesOn,
                          least,
                          most);
}

/// A message's columns, as "rows" gave them, with the simulator that it is of and the slot of its slot 0.
struct MessagePart
{
    explicit MessagePart(const py::tuple& part)
        : simulator(part[0].cast<int64_t>()),
          slot0(part[1].cast<int64_t>()),
          flows(part[2]),
          slots(part[3]),
          first(part[4]),
          terminated(part[5]),
          truncated(part[6]),
          due(part[7]),
          records(part[8])
    {
        const py::ssize_t rows = Count();
        if (slots.size() != rows || first.size() != rows || terminated.size() != rows ||
            truncated.size() != rows || due.size() != rows ||
            records.size() != rows * static_cast<py::ssize_t>(FIELD_COUNT))
        {
            throw std::invalid_argument("a message's columns have different lengths");
        }
    }

    py::ssize_t Count() const { return flows.size(); }

    template <typename T>
    using Column = py::array_t<T, py::array::c_style | py::array::forcecast>;

    int64_t simulator;
    int64_t slot0;
    Column<int64_t> flows;
    Column<int64_t> slots;
    Column<bool> first;
    Column<bool> terminated;
    Column<bool> truncated;
    Column<bool> due;
    Column<double> records;
};

/// Rows of several messages as one's: see "join" below.
py::tuple
JoinRows(const py::list& messages)
{
    std::vector<MessagePart> parts;
    parts.reserve(messages.size());
    py::ssize_t count = 0;
    for (const py::handle message : messages)
    {
        parts.emplace_back(py::reinterpret_borrow<py::tuple>(message));
        count += parts.back().Count();
    }
    RowArrays to(count);
    py::array_t<int64_t> simulators(count);
    py::ssize_t at = 0;
    for (const MessagePart& part : parts)
    {
        const auto rows = static_cast<size_t>(part.Count());
        std::copy_n(part.flows.data(), rows, to.flows.mutable_data() + at);
        std::transform(part.slots.data(),
                       part.slots.data() + rows,
                       to.slots.mutable_data() + at,
                       [&part](int64_t slot) { return part.slot0 + slot; });
        std::copy_n(part.first.data(), rows, to.first.mutable_data() + at);
        std::copy_n(part.terminated.data(), rows, to.terminated.mutable_data() + at);
        std::copy_n(part.truncated.data(), rows, to.truncated.mutable_data() + at);
        std::copy_n(part.due.data(), rows, to.due.mutable_data() + at);
        std::copy_n(part.records.data(),
                    rows * FIELD_COUNT,
                    to.records.mutable_data() + at * static_cast<py::ssize_t>(FIELD_COUNT));
        std::fill_n(simulators.mutable_data() + at, rows, part.simulator);
        at += part.Count();
    }
    return to.Joint(simulators);
}

/// Runs pending Python signal handlers (Ctrl-C) once the GIL is back.
void
CheckSignals()
{
    if (PyErr_CheckSignals() != 0)
    {
        throw py::error_already_set();
    }
}

} // namespace

PYBIND11_MODULE(_native, module)
{
    module.doc() = "The agent's end of the channel to rdma-sim, observation fields, policies and "
                   "MPCC's control.";

    py::register_exception<ChannelError>(module, "ChannelError", PyExc_RuntimeError);

    module.attr("MESSAGE_NONE") = static_cast<uint32_t>(Message::None);
    module.attr("MESSAGE_READY") = static_cast<uint32_t>(Message::Ready);
    module.attr("MESSAGE_DECISIONS") = static_cast<uint32_t>(Message::Decisions);
    module.attr("MESSAGE_EPISODE_END") = static_cast<uint32_t>(Message::EpisodeEnd);
    module.attr("MESSAGE_TRANSITIONS") = static_cast<uint32_t>(Message::Transitions);
    module.attr("MESSAGE_COPIED") = static_cast<uint32_t>(Message::Copied);
    module.attr("MESSAGE_FAILED") = static_cast<uint32_t>(Message::Failed);
    module.attr("MESSAGE_ERROR") = static_cast<uint32_t>(Message::Error);
    module.attr("COMMAND_STEP") = static_cast<uint32_t>(Command::Step);
    module.attr("COMMAND_RESET") = static_cast<uint32_t>(Command::Reset);
    module.attr("COMMAND_CLOSE") = static_cast<uint32_t>(Command::Close);
    module.attr("ROW_FIRST") = static_cast<uint32_t>(ROW_FIRST);
    module.attr("ROW_TERMINATED") = static_cast<uint32_t>(ROW_TERMINATED);
    module.attr("ROW_TRUNCATED") = static_cast<uint32_t>(ROW_TRUNCATED);
    module.attr("FIELD_COUNT") = FIELD_COUNT;
    module.attr("ACTION_WIDTH") = ACTION_WIDTH;
    module.attr("BOUNDS") = Bounds();

    module.def(
        "observation_fields",
        []
        {
            py::list fields;
            for (const FieldSpec& field : ObservationFields())
            {
                fields.append(FieldTuple(field));
            }
            return fields;
        },
        "The field table this module was built with: (name, unit, normaliser, low, high) per "
        "field.");
    py::dict requests;
    for (const FieldSpec& field : ObservationFields())
    {
        if (*field.attribute != '\0')
        {
            requests[field.name] = field.attribute;
        }
    }
    module.attr("REQUESTS") = requests;
    py::list ofPorts;
    for (const FieldSpec& field : ObservationFields())
    {
        if (field.source == FieldSource::Port)
        {
            ofPorts.append(field.name);
        }
    }
    module.attr("PORT_FIELDS") = py::tuple(ofPorts);
    module.def(
        "known_without_switches",
        [](size_t field)
        {
            if (field >= FIELD_COUNT)
            {
                throw py::index_error("there is no such field");
            }
            return KnownWithoutSwitches(ObservationFields()[field].source);
        },
        py::arg("field"),
        "Whether a sender knows the field, an index, where switches report nothing.");
    module.def("channel_layout_hash", &ChannelLayoutHash);
    module.def(
        "join",
        &JoinRows,
        py::arg("messages"),
        "Rows of several messages as one's: flows, slots, first, terminated, truncated, due, "
        "records, simulators. A message is a tuple: its simulator, the slot of its slot 0, and "
        "the columns up to records.");
    module.def(
        "wait_any",
        [](const std::vector<AgentChannel*>& ends, double timeoutS)
        {
            int index = -1;
            {
                py::gil_scoped_release unlocked;
                index = AgentChannel::WaitAny(ends, timeoutS);
            }
            CheckSignals();
            return index;
        },
        py::arg("ends"),
        py::arg("timeout_s"),
        "Index of an end with a message, or -1 after timeout_s seconds; wait(0) of that end takes "
        "the message.");

    py::class_<Doorbell, std::shared_ptr<Doorbell>>(
        module,
        "Doorbell",
        "The bell of a simulator that plays several networks, with a channel for each.")
        .def(py::init<>())
        .def_property_readonly("fd", &Doorbell::Fd)
        .def_property_readonly("played",
                               &Doorbell::Played,
                               "The network that it plays, or played last: its channel's number.");

    py::class_<AgentChannel>(module,
                             "AgentChannel",
                             "The agent's end of one channel; it owns the region.")
        .def(py::init<uint32_t, std::shared_ptr<Doorbell>>(),
             py::arg("capacity"),
             py::arg("bell") = nullptr,
             "Makes a region for `capacity` rows; `bell` is that of a simulator of several.")
        .def_property_readonly("channel_fd", &AgentChannel::ChannelFd)
        .def_property_readonly("blob_fd", &AgentChannel::BlobFd)
        .def_property_readonly("capacity", &AgentChannel::Capacity)
        .def(
            "wait",
            [](AgentChannel& self, double timeoutS)
            {
                Message message = self.Wait(0);
                if (message == Message::None && timeoutS > 0)
                {
                    py::gil_scoped_release unlocked;
                    message = self.Wait(timeoutS);
                }
                CheckSignals();
                return static_cast<uint32_t>(message);
            },
            py::arg("timeout_s"),
            "The simulator's next message (MESSAGE_*), MESSAGE_NONE after timeout_s seconds. "
            "Releases the GIL.")
        .def(
            "send",
            [](AgentChannel& self, uint32_t command, uint32_t actionCount)
            { self.Send(static_cast<Command>(command), actionCount); },
            py::arg("command"),
            py::arg("action_count") = 0)
        .def(
            "step",
            [](AgentChannel& self,
               const py::array_t<double, py::array::c_style | py::array::forcecast>& actions)
            {
                const auto numbers = static_cast<size_t>(actions.size());
                if (numbers % ACTION_WIDTH != 0 || numbers / ACTION_WIDTH > self.Actions().size())
                {
                    throw std::invalid_argument("actions must be (m, 3), of m rows at most");
                }
                const double* number = actions.data();
                for (ActionRow& row : self.Actions().first(numbers / ACTION_WIDTH))
                {
                    row = {number[0], number[1], number[2]};
                    number += ACTION_WIDTH;
                }
                self.Send(Command::Step, static_cast<uint32_t>(numbers / ACTION_WIDTH));
            },
            py::arg("actions"),
            "Hands over with these actions (m, 3): window, rate and echo of each row that is due.")
        .def(
            "branch",
            [](AgentChannel& self,
               const AgentChannel& other,
               int outputFd,
               int64_t untilPs,
               bool asks)
            { self.Branch(other, outputFd, {.untilPs = untilPs, .asks = asks ? 1U : 0U}); },
            py::arg("other"),
            py::arg("output_fd"),
            py::arg("until_ps") = -1,
            py::arg("asks") = true,
            "Asks for a copy of the simulator, which serves the other channel and prints to the "
            "file; its episode ends at until_ps at the latest (negative: as the scenario says).")
        .def_property_readonly(
            "kind",
            [](const AgentChannel& self) { return static_cast<uint32_t>(self.Kind()); },
            "The message taken last (MESSAGE_*).")
        .def_property_readonly("our_turn",
                               &AgentChannel::IsOurTurn,
                               "Whether a message was taken and not answered.")
        .def_property_readonly("due",
                               &AgentChannel::Due,
                               "Actions that the message taken last asks for; negative: none.")
        .def_property_readonly("turns", &AgentChannel::Turns, "Commands sent.")
        .def_property_readonly("copy_pid",
                               &AgentChannel::CopyPid,
                               "After MESSAGE_COPIED: the copy's process; negative: errno.")
        .def("rows",
             &CopyRows,
             "The message's rows, copied: flows, slots, first, terminated, truncated (k,), records "
             "(k, "
             "fields); whether all go on (none first, none over); least and largest slot.")
        .def_property_readonly("time_ps", &AgentChannel::TimePs)
        .def_property_readonly("row_count", &AgentChannel::RowCount)
        .def_property_readonly("heartbeat", &AgentChannel::Heartbeat)
        .def_property_readonly("flows",
                               [](py::object self) { return RowView(self, &DecisionRow::flow); })
        .def_property_readonly("slots",
                               [](py::object self) { return RowView(self, &DecisionRow::slot); })
        .def_property_readonly("flags",
                               [](py::object self) { return RowView(self, &DecisionRow::flags); })
        .def_property_readonly("records",
                               [](py::object self)
                               {
                                   const auto rows = self.cast<AgentChannel&>().Rows();
                                   return View({static_cast<py::ssize_t>(rows.size()), FIELD_COUNT},
                                               {sizeof(DecisionRow), sizeof(double)},
                                               rows[0].record.values.data(),
                                               self);
                               })
        .def_property_readonly("actions",
                               [](py::object self)
                               {
                                   const auto rows = self.cast<AgentChannel&>().Actions();
                                   return View(
                                       {static_cast<py::ssize_t>(rows.size()), ACTION_WIDTH},
                                       {sizeof(ActionRow), sizeof(double)},
                                       &rows[0].windowBytes,
                                       self);
                               })
        .def_property_readonly("fields",
                               [](const AgentChannel& self)
                               {
                                   py::list fields;
                                   for (const SchemaField& field : self.Fields())
                                   {
                                       fields.append(FieldTuple(field));
                                   }
                                   return fields;
                               })
        .def("read_blob", [](const AgentChannel& self) { return py::bytes(self.ReadBlob()); })
        .def("write_blob",
             [](AgentChannel& self, const py::bytes& text)
             { self.WriteBlob(static_cast<std::string_view>(text)); });

    BindChannelGroup(module);
    BindJobFlows(module);
    BindJsonText(module);
    BindMpcc(module);
    BindPolicy(module);
    BindReading(module);
    BindRecurrent(module);
    BindShares(module);
}
