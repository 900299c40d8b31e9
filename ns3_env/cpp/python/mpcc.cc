// SPDX-License-Identifier: GPL-2.0-or-later
// Python binding of MPCC's control, batched over flows.
#include "ns3_env/cpp/rdma/mpcc/mpcc-control.h"

#include <algorithm>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace py = pybind11;
using namespace ns3::env::rdma;

void BindMpcc(py::module_& module);

namespace
{

/// The inputs in the order of MpccInput, by the names of the observation fields.
constexpr const char* INPUT_FIELDS[MPCC_INPUTS] = {"base_rtt_ns",
                                                   "host_rate_bps",
                                                   "bdp_bytes",
                                                   "packet_bytes",
                                                   "window_bytes",
                                                   "state_queue_bytes",
                                                   "state_flows",
                                                   "state_rate_bps",
                                                   "state_input_delay_ns",
                                                   "state_feedback_delay_ns"};

using Parameter = std::variant<int MpccSettings::*,
                               double MpccCost::*,
                               double MpccSettings::*,
                               bool MpccSettings::*,
                               MpccSolver MpccSettings::*>;

/// The control's free parameters, by their names in Python: in snake_case those of the attributes of rdma::mpcc.
constexpr std::pair<const char*, Parameter> PARAMETERS[] = {
    {"horizon", &MpccSettings::horizon},
    {"weight_queue", &MpccCost::weightQueue},
    {"weight_window", &MpccCost::weightWindow},
    {"queue_reference", &MpccCost::queueReference},
    {"terminal_weight", &MpccCost::terminalWeight},
    {"weight_change", &MpccCost::weightChange},
    {"floor_packets", &MpccSettings::floorPackets},
    {"floor_share", &MpccSettings::floorShare},
    {"delay_scale", &MpccSettings::delayScale},
    {"interval_scale", &MpccSettings::intervalScale},
    {"acks_per_decision", &MpccSettings::acksPerDecision},
    {"solver", &MpccSettings::solver},
    {"shortcut", &MpccSettings::shortcut}};

template <typename Value>
auto&
At(auto& settings, Value MpccSettings::* member)
{
    return settings.*member;
}

auto&
At(auto& settings, double MpccCost::* member)
{
    return settings.cost.*member;
}

MpccSolver
SolverByName(const std::string& name)
{
    if (name == "qp")
    {
        return MpccSolver::Qp;
    }
    if (name == "lqr")
    {
        return MpccSolver::Lqr;
    }
    throw py::value_error("unknown solver '" + name + "'; known: lqr, qp");
}

/// Python's value of a parameter.
py::object
ValueOf(const MpccSettings& settings, const Parameter& parameter)
{
    return std::visit(
        [&settings](auto member) -> py::object
        {
            using Value = std::remove_cvref_t<decltype(At(settings, member))>;
            if constexpr (std::is_same_v<Value, MpccSolver>)
            {
                return py::str(At(settings, member) == MpccSolver::Qp ? "qp" : "lqr");
            }
            else
            {
                return py::cast(At(settings, member));
            }
        },
        parameter);
}

/// Puts Python's value into a parameter.
void
SetValue(MpccSettings& settings, const Parameter& parameter, const py::handle& value)
{
    std::visit(
        [&](auto member)
        {
            using Value = std::remove_cvref_t<decltype(At(settings, member))>;
            if constexpr (std::is_same_v<Value, MpccSolver>)
            {
                At(settings, member) = SolverByName(value.cast<std::string>());
            }
            else
            {
                At(settings, member) = value.cast<Value>();
            }
        },
        parameter);
}

/// The settings with these parameters; the rest have their defaults.
MpccSettings
SettingsOf(const py::kwargs& given)
{
    MpccSettings settings;
    for (const auto& [key, value] : given)
    {
        const auto name = key.cast<std::string>();
        const auto* found =
            std::find_if(std::begin(PARAMETERS),
                         std::end(PARAMETERS),
                         [&name](const auto& known) { return name == known.first; });
        if (found == std::end(PARAMETERS))
        {
            std::string known;
            for (const auto& parameter : PARAMETERS)
            {
                known += std::string(known.empty() ? "" : ", ") + parameter.first;
            }
            throw py::type_error("MPCC has no parameter '" + name + "'; it has " + known);
        }
        try
        {
            SetValue(settings, found->second, value);
        }
        catch (const py::cast_error&)
        {
            throw py::type_error("MPCC: " + name + " cannot be " +
                                 py::repr(value).cast<std::string>());
        }
    }
    return settings;
}

MpccInput
RowToInput(const double* row)
{
    return {.baseRttNs = row[0],
            .hostRateBps = row[1],
            .bdpBytes = row[2],
            .packetBytes = row[3],
            .windowBytes = row[4],
            .stateQueueBytes = row[5],
            .stateFlows = row[6],
            .stateRateBps = row[7],
            .stateInputDelayNs = row[8],
            .stateFeedbackDelayNs = row[9]};
}

/// Raises ValueError if the formula would divide by zero or propagate a NaN.
void
CheckRow(const double* row, py::ssize_t index)
{
    for (int field = 0; field < MPCC_INPUTS; ++field)
    {
        const bool positive = field < 4; // base_rtt, host_rate, bdp, packet
        if (!(row[field] >= 0.0) || (positive && row[field] == 0.0))
        {
            throw py::value_error("MPCC: row " + std::to_string(index) + " has " +
                                  INPUT_FIELDS[field] + " = " + std::to_string(row[field]) +
                                  "; it must be " + (positive ? "positive" : "at least 0"));
        }
    }
}

using Rows = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// One window per row; controls[i] decides for row i.
py::array_t<double>
Decide(const std::vector<MpccControl*>& controls, const Rows& rows)
{
    if (rows.ndim() != 2 || rows.shape(1) != MPCC_INPUTS ||
        rows.shape(0) != static_cast<py::ssize_t>(controls.size()))
    {
        throw py::value_error("MPCC: rows must be (" + std::to_string(controls.size()) + ", " +
                              std::to_string(MPCC_INPUTS) + ")");
    }
    py::array_t<double> windows(rows.shape(0));
    for (py::ssize_t i = 0; i < rows.shape(0); ++i)
    {
        CheckRow(rows.data(i, 0), i);
        windows.mutable_at(i) = controls[i]->Decide(RowToInput(rows.data(i, 0)));
    }
    return windows;
}

} // namespace

void
BindMpcc(py::module_& module)
{
    py::class_<MpccControl>(module,
                            "MpccControl",
                            "MPCC of one flow (Zheng 2024): inputs to window.")
        .def(py::init([](const py::kwargs& given) { return MpccControl(SettingsOf(given)); }))
        .def("reset", &MpccControl::Reset, "Forgets past inputs; counters go on.")
        .def_property_readonly("counters",
                               [](const MpccControl& control)
                               {
                                   const MpccCounters& c = control.Counters();
                                   py::dict counters;
                                   counters["decisions"] = c.decisions;
                                   counters["solves"] = c.qp.solves;
                                   counters["unconstrained"] = c.unconstrained;
                                   counters["saturated"] = c.saturated;
                                   counters["infeasible"] = c.infeasible;
                                   counters["failures"] = c.qp.failures;
                                   counters["working_set_changes"] = c.qp.workingSetChanges;
                                   return counters;
                               });

    module.def(
        "mpcc_parameters",
        []
        {
            py::dict defaults;
            for (const auto& [name, parameter] : PARAMETERS)
            {
                defaults[name] = ValueOf(MpccSettings{}, parameter);
            }
            return defaults;
        },
        "The parameters of MpccControl by name, with their defaults.");
    module.def(
        "mpcc_decide",
        &Decide,
        py::arg("controls"),
        py::arg("rows"),
        "Windows (n,) in bytes; controls[i] decides on rows[i], whose columns are mpcc_fields().");
    module.def(
        "mpcc_fields",
        [] { return std::vector<std::string>(std::begin(INPUT_FIELDS), std::end(INPUT_FIELDS)); },
        "Observation fields that MPCC reads, in the order of a row.");
}
