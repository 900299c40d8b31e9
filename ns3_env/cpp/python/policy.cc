// SPDX-License-Identifier: GPL-2.0-or-later
// Python bindings of a policy's network and of the action maps.
#include "ns3_env/cpp/policy/policy.h"

#include <chrono>
#include <cmath>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <stdexcept>

namespace py = pybind11;
using namespace ns3::env;

void BindPolicy(py::module_& module);

namespace
{

template <typename T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

/// \param observations (n, K, D), each history zero-padded at its end \param lengths (n,) of 1 to K
Array<float>
Evaluate(Policy& policy, const Array<float>& observations, const Array<int64_t>& lengths)
{
    const auto depth = static_cast<py::ssize_t>(policy.HistoryLength());
    const auto width = static_cast<py::ssize_t>(policy.Fields().size());
    if (observations.ndim() != 3 || observations.shape(1) != depth ||
        observations.shape(2) != width || lengths.ndim() != 1 ||
        lengths.shape(0) != observations.shape(0))
    {
        throw std::invalid_argument("observations must be (n, " + std::to_string(depth) + ", " +
                                    std::to_string(width) + ") and lengths (n,)");
    }
    const auto rows = static_cast<size_t>(observations.shape(0));
    std::vector<FlowHistory> histories(rows);
    std::vector<FlowHistory*> views;
    for (size_t row = 0; row < rows; ++row)
    {
        const int64_t length = lengths.at(row);
        if (length < 1 || length > depth)
        {
            throw std::invalid_argument("a length is not in [1, " + std::to_string(depth) + "]");
        }
        for (int64_t k = 0; k < length; ++k)
        {
            policy.Observe(histories[row],
                           std::span(observations.data(static_cast<py::ssize_t>(row), k, 0),
                                     static_cast<size_t>(width)));
        }
        views.push_back(&histories[row]);
    }
    Array<float> actions(std::vector<py::ssize_t>{observations.shape(0), 1});
    if (rows > 0)
    {
        policy.Decide(views, std::span(actions.mutable_data(), rows));
    }
    return actions;
}

/// \param observations (n, D) \param states (n, S) that the flows carry \return actions (n, 1) and states (n, S)
std::pair<Array<float>, Array<float>>
Step(Policy& policy, const Array<float>& observations, const Array<float>& states)
{
    const auto width = static_cast<py::ssize_t>(policy.Fields().size());
    const auto carried = static_cast<py::ssize_t>(policy.StateWidth());
    if (carried == 0 || observations.ndim() != 2 || observations.shape(1) != width ||
        states.ndim() != 2 || states.shape(1) != carried ||
        states.shape(0) != observations.shape(0))
    {
        throw std::invalid_argument("observations must be (n, " + std::to_string(width) +
                                    ") and states (n, " + std::to_string(carried) +
                                    ") of a policy that carries a state");
    }
    const auto rows = static_cast<size_t>(observations.shape(0));
    std::vector<FlowHistory> histories(rows);
    std::vector<FlowHistory*> views;
    for (size_t row = 0; row < rows; ++row)
    {
        const auto at = static_cast<py::ssize_t>(row);
        policy.Observe(histories[row],
                       std::span(observations.data(at, 0), static_cast<size_t>(width)));
        std::copy_n(states.data(at, 0), carried, histories[row].State().begin());
        views.push_back(&histories[row]);
    }
    Array<float> actions(std::vector<py::ssize_t>{observations.shape(0), 1});
    Array<float> after(std::vector<py::ssize_t>{observations.shape(0), carried});
    if (rows > 0)
    {
        policy.Decide(views, std::span(actions.mutable_data(), rows));
    }
    for (size_t row = 0; row < rows; ++row)
    {
        std::copy_n(histories[row].State().begin(),
                    carried,
                    after.mutable_data(static_cast<py::ssize_t>(row), 0));
    }
    return {actions, after};
}

double
MeasureUs(Policy& policy, size_t flows, double seconds)
{
    using Clock = std::chrono::steady_clock;
    std::vector<FlowHistory> histories(flows);
    std::vector<FlowHistory*> views;
    for (FlowHistory& history : histories)
    {
        views.push_back(&history);
    }
    std::vector<float> actions(flows);
    ObservationRecord record;
    record.values.fill(0.5);
    uint64_t decisions = 0;
    const auto began = Clock::now();
    const auto spent = [began]
    { return std::chrono::duration<double>(Clock::now() - began).count(); };
    while (spent() < seconds)
    {
        for (int repeat = 0; repeat < 100; ++repeat)
        {
            for (FlowHistory& history : histories)
            {
                policy.Observe(history, record);
            }
            policy.Decide(views, actions);
            decisions += flows;
        }
    }
    return 1e6 * spent() / static_cast<double>(decisions);
}

/// \param actions (m,) \param records (m, fields) \param infinite whether actions may be \return (m, 3)
Array<double>
Map(const ActionMap& map, const Array<double>& actions, const Array<double>& records, bool infinite)
{
    if (actions.ndim() != 1 || records.ndim() != 2 || records.shape(1) != FIELD_COUNT ||
        records.shape(0) != actions.shape(0))
    {
        throw std::invalid_argument("actions must be (m,) and records (m, " +
                                    std::to_string(FIELD_COUNT) + ")");
    }
    Array<double> answers({actions.shape(0), py::ssize_t{3}});
    ObservationRecord record;
    for (py::ssize_t row = 0; row < actions.shape(0); ++row)
    {
        const double action = actions.at(row);
        if (!(infinite || std::isfinite(action)))
        {
            throw std::invalid_argument("an action is no finite number");
        }
        std::copy_n(records.data(row, 0), FIELD_COUNT, record.values.begin());
        const ActionRow answer = map(action, record);
        answers.mutable_at(row, 0) = answer.windowBytes;
        answers.mutable_at(row, 1) = answer.rateBps;
        answers.mutable_at(row, 2) = answer.echo;
    }
    return answers;
}

/// \param applied (m, 2 or more) windows and pacing rates \param records (m, fields) \return (m,) the nearest actions
Array<double>
Nearest(const ActionMap& map, const Array<double>& applied, const Array<double>& records)
{
    if (applied.ndim() != 2 || applied.shape(1) < 2 || records.ndim() != 2 ||
        records.shape(1) != FIELD_COUNT || records.shape(0) != applied.shape(0))
    {
        throw std::invalid_argument("applied must be (m, 2) and records (m, " +
                                    std::to_string(FIELD_COUNT) + ")");
    }
    Array<double> actions(applied.shape(0));
    ObservationRecord record;
    for (py::ssize_t row = 0; row < applied.shape(0); ++row)
    {
        std::copy_n(records.data(row, 0), FIELD_COUNT, record.values.begin());
        actions.mutable_at(row) = map.Nearest(applied.at(row, 0), applied.at(row, 1), record);
    }
    return actions;
}

/// Settings of the kinds of action, and the fields that they read, by name.
py::dict
DeclaredActions()
{
    py::dict maps;
    for (const ActionMapSpec& spec : ActionMaps())
    {
        py::dict settings;
        for (const auto& [name, otherwise, least, most, words] : spec.settings)
        {
            settings[name] = words.empty()
                                 ? py::tuple(py::make_tuple(otherwise, least, most))
                                 : py::make_tuple(words[static_cast<size_t>(otherwise)], words);
        }
        py::list fields;
        for (const Field field : spec.fields)
        {
            fields.append(ObservationFields()[static_cast<size_t>(field)].name);
        }
        maps[spec.name] = py::make_tuple(settings, py::tuple(fields));
    }
    return maps;
}

std::vector<Field>
FieldsOf(const std::vector<size_t>& indices)
{
    std::vector<Field> fields;
    for (const size_t index : indices)
    {
        if (index >= FIELD_COUNT)
        {
            throw std::invalid_argument("there is no field " + std::to_string(index));
        }
        fields.push_back(static_cast<Field>(index));
    }
    return fields;
}

} // namespace

void
BindPolicy(py::module_& module)
{
    // Errors in a file or in settings are reported in one line.
    py::register_exception<ScenarioError>(module, "PolicyError", PyExc_ValueError);

    py::class_<Policy>(module,
                       "Policy",
                       "A policy's file (docs/policy-format.md), as the simulator evaluates it.")
        .def(py::init<const std::string&>(), py::arg("path"))
        .def("evaluate",
             &Evaluate,
             py::arg("observations"),
             py::arg("lengths"),
             "Actions (n, 1) in [-1, 1] for histories: observations (n, K, D), zero-padded at the "
             "end, and lengths (n,).")
        .def("step",
             &Step,
             py::arg("observations"),
             py::arg("states"),
             "Actions (n, 1) in [-1, 1] and the states (n, S) after them, of flows that carry the "
             "states (n, S), zeros at a flow's first decision, and observe (n, D).")
        .def("measure_us",
             &MeasureUs,
             py::arg("flows"),
             py::arg("seconds"),
             "Microseconds per decision, the observation's too, of so many flows that decide "
             "together.")
        .def_property_readonly("history_length", &Policy::HistoryLength)
        .def_property_readonly("state_width", &Policy::StateWidth)
        .def_property_readonly("telemetry_bytes", &Policy::TelemetryBytes);

    py::class_<ActionMap>(
        module,
        "ActionMap",
        "An action map of ns3_env.decision.actions, as the simulator computes it.")
        .def(py::init(
                 [](const std::string& text)
                 {
                     const auto json = ParseJson(text);
                     return ActionMap::FromJson(JsonReader(json, "action"));
                 }),
             py::arg("json"),
             "`json` holds its name and settings.")
        .def("__call__",
             &Map,
             py::arg("actions"),
             py::arg("records"),
             py::kw_only(),
             py::arg("infinite") = false)
        .def("nearest", &Nearest, py::arg("applied"), py::arg("records"));
    module.attr("ACTIONS") = DeclaredActions();

    py::class_<RttTarget>(module,
                          "RttTarget",
                          "The distance to a target of RTT x sqrt(rate), as "
                          "ns3_env.decision.rtt_target describes it.")
        .def(py::init(
                 [](const std::string& text)
                 {
                     const auto json = ParseJson(text);
                     JsonReader settings(json, "rtt_target");
                     RttTarget target(settings);
                     settings.RefuseOthers();
                     return target;
                 }),
             py::arg("json"),
             "`json` holds its settings.")
        .def(
            "__call__",
            [](const RttTarget& target, const Array<double>& rtts, const Array<double>& rates)
            {
                return py::vectorize([&target](double rtt, double rate)
                                     { return target(rtt, rate); })(rtts, rates);
            },
            py::arg("rtts"),
            py::arg("rates"));

    module.def(
        "wire_bytes",
        [](const std::vector<size_t>& fields) { return WireBytes(FieldsOf(fields)); },
        py::arg("fields"),
        "What a packet carries for an agent that observes the fields of these indices.");
}
