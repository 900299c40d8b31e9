// SPDX-License-Identifier: GPL-2.0-or-later
// What does Python see of ns3-ai's wire? Either end of a segment.
#include "segment-end.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace ns3::rdma::ns3ai;

namespace
{

Names
NamesOf(const std::string& segment,
        const std::string& toPython,
        const std::string& toSimulator,
        const std::string& lockable)
{
    return {segment, toPython, toSimulator, lockable};
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

PYBIND11_MODULE(_ns3ai, module)
{
    module.doc() = "Either end of a shared-memory segment as ns3-ai has it.";
    py::register_exception<SegmentError>(module, "SegmentError", PyExc_RuntimeError);
    py::register_exception<TooLarge>(module, "TooLarge", PyExc_ValueError);
    module.attr("GYM_BUFFER_BYTES") = sizeof(GymBuffer::buffer);

    py::class_<Names>(module, "Names", "What a segment and the objects in it are called.")
        .def(py::init(&NamesOf),
             py::arg("segment") = Names{}.segment,
             py::arg("to_python") = Names{}.toPython,
             py::arg("to_simulator") = Names{}.toSimulator,
             py::arg("lockable") = Names{}.lockable)
        .def_readonly("segment", &Names::segment)
        .def_readonly("to_python", &Names::toPython)
        .def_readonly("to_simulator", &Names::toSimulator)
        .def_readonly("lockable", &Names::lockable);

    py::class_<SegmentEnd>(module, "SegmentEnd", "One end of a segment.")
        .def_static("create",
                    &SegmentEnd::Create,
                    py::arg("names"),
                    py::arg("segment_bytes"),
                    "Python's end of the Gym interface: makes the segment.")
        .def_static("open",
                    &SegmentEnd::Open,
                    py::arg("names"),
                    "The simulator's end of the Gym interface.")
        .def_static("open_vectors",
                    &SegmentEnd::OpenVectors,
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
             "Says that nothing more comes.")
        .def("unlink",
             &SegmentEnd::Unlink,
             "Nobody finds the segment any more; who has it keeps it.");
}
