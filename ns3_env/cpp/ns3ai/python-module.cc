// SPDX-License-Identifier: GPL-2.0-or-later
// Python module for either end of a segment of ns3-ai.
#include "segment-end.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <tuple>

namespace py = pybind11;
using namespace ns3::env::ns3ai;

namespace
{

/// (segment, message to Python, message to the simulator, lockable)
using NameTuple = std::tuple<std::string, std::string, std::string, std::string>;

Names
NamesOf(const NameTuple& names)
{
    return {std::get<0>(names), std::get<1>(names), std::get<2>(names), std::get<3>(names)};
}

/// Runs pending Python signal handlers (Ctrl-C).
void
CheckSignals()
{
    if (PyErr_CheckSignals() != 0)
    {
        throw py::error_already_set();
    }
}

} // namespace

// A module for each layout of segments: both are loaded at once, so nothing of them is global.
PYBIND11_MODULE(NS3AI_MODULE, module)
{
    module.doc() = "Either end of a shared-memory segment as ns3-ai has it.";
    py::register_local_exception<SegmentError>(module, "SegmentError", PyExc_RuntimeError);
    py::register_local_exception<TooLarge>(module, "TooLarge", PyExc_ValueError);
    module.attr("GYM_BUFFER_BYTES") = sizeof(GymBuffer::buffer);

    py::class_<SegmentEnd>(module, "SegmentEnd", py::module_local(), "One end of a segment.")
        .def_static(
            "create",
            [](const NameTuple& names, size_t bytes)
            { return SegmentEnd::Create(NamesOf(names), bytes); },
            py::arg("names"),
            py::arg("segment_bytes"),
            "Python's end of the Gym interface: makes the segment.")
        .def_static(
            "open",
            [](const NameTuple& names) { return SegmentEnd::Open(NamesOf(names)); },
            py::arg("names"),
            "The simulator's end of the Gym interface.")
        .def_static(
            "open_vectors",
            [](const NameTuple& names, size_t stateBytes, size_t actionBytes)
            { return SegmentEnd::OpenVectors(NamesOf(names), stateBytes, actionBytes); },
            py::arg("names"),
            py::arg("state_bytes"),
            py::arg("action_bytes"),
            "The simulator's end of the vector interface.")
        .def_property_readonly("rows", &SegmentEnd::Rows, "Elements of the vectors.")
        .def_property_readonly("finished", &SegmentEnd::Finished)
        .def(
            "send",
            [](SegmentEnd& end, const py::bytes& message, double timeoutS)
            {
                const std::string_view view = message;
                bool sent;
                {
                    py::gil_scoped_release released;
                    sent = end.Send(view, timeoutS);
                }
                CheckSignals();
                return sent;
            },
            py::arg("message"),
            py::arg("timeout_s"),
            "False where the peer has not read the last message for so long.")
        .def(
            "receive",
            [](SegmentEnd& end, double timeoutS) -> py::object
            {
                std::optional<std::string> message;
                {
                    py::gil_scoped_release released;
                    message = end.Receive(timeoutS);
                }
                CheckSignals();
                return message ? py::object(py::bytes(*message)) : py::none();
            },
            py::arg("timeout_s"),
            "None where the peer has not written for so long.")
        .def("finish",
             &SegmentEnd::Finish,
             py::arg("timeout_s"),
             py::call_guard<py::gil_scoped_release>(),
             "Announces the end: no message follows.")
        .def("unlink", &SegmentEnd::Unlink, "Removes the segment's name; what is mapped stays.");
}
