// SPDX-License-Identifier: GPL-2.0-or-later
// Python binding of a task's reading of records: observations, and outcomes of decisions.
#include "ns3_env/cpp/policy/formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ranges>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace py = pybind11;
using namespace ns3::env;

void BindReading(py::module_& module);

namespace
{

template <typename T>
using Column = py::array_t<T, py::array::c_style | py::array::forcecast>;

/// A field of a record, clipped to its range as NumPy does: NaN stays.
float
Cut(const double* record, Field field)
{
    const FieldSpec& spec = ObservationFields()[static_cast<size_t>(field)];
    const auto value = static_cast<float>(record[static_cast<size_t>(field)]);
    if (std::isnan(value))
    {
        return value;
    }
    const auto low = static_cast<float>(spec.low);
    const auto high = static_cast<float>(spec.high);
    const float raised = value > low ? value : low;
    return raised < high ? raised : high;
}

float
Calculated(const double* record, const Formula& formula)
{
    std::array<float, FIELD_COUNT> values;
    std::ranges::transform(formula.Fields(),
                           values.begin(),
                           [record](Field field) { return Cut(record, field); });
    return formula(std::span(values).first(formula.Fields().size()));
}

py::ssize_t
Rows(const Column<double>& records)
{
    if (records.ndim() != 2 || records.shape(1) != static_cast<py::ssize_t>(FIELD_COUNT))
    {
        throw std::invalid_argument("records must be (k, " + std::to_string(FIELD_COUNT) + ")");
    }
    return records.shape(0);
}

/// The fields of a flow's records, or of a port's, by name, and a dict with all of their names.
struct NamedFields
{
    explicit NamedFields(bool port)
        : whole(PyDict_New()) // a copy has the room already
    {
        for (const FieldSpec& spec : ObservationFields())
        {
            const bool ofBoth = spec.field == Field::TimeNs || spec.field == Field::IntervalNs;
            if ((spec.source == FieldSource::Port) == port || ofBoth)
            {
                names.emplace_back(static_cast<size_t>(spec.field),
                                   PyUnicode_InternFromString(spec.name));
                PyDict_SetItem(whole, names.back().second, Py_None);
            }
        }
    }

    std::vector<std::pair<size_t, PyObject*>> names; ///< by index in a record
    PyObject* whole;
};

/// Field names and values of a record, without those that are NaN, or of other subjects than its own.
py::dict
NamedRecord(const double* record)
{
    // As long as the interpreter.
    static const auto* const ofFlows = new NamedFields(false);
    static const auto* const ofPorts = new NamedFields(true);
    const bool port = record[static_cast<size_t>(Field::PortRateBps)] > 0;
    const NamedFields& fields = port ? *ofPorts : *ofFlows;
    auto dict = py::reinterpret_steal<py::dict>(PyDict_Copy(fields.whole));
    for (const auto& [index, name] : fields.names)
    {
        if (const double number = record[index]; std::isnan(number))
        {
            PyDict_DelItem(dict.ptr(), name);
        }
        else
        {
            const auto boxed = py::reinterpret_steal<py::float_>(PyFloat_FromDouble(number));
            PyDict_SetItem(dict.ptr(), name, boxed.ptr());
        }
    }
    return dict;
}

/// \return a dict of each record (k, fields)
py::list
Named(const Column<double>& records)
{
    py::list dicts(Rows(records));
    for (size_t i = 0; i < dicts.size(); ++i)
    {
        dicts[i] = NamedRecord(records.data() + i * FIELD_COUNT);
    }
    return dicts;
}

/// Single-pass ns3_env.decision.outcomes and ns3_env.decision.observations, the same to the bit.
class Reading
{
  public:
    Reading(const std::vector<std::string>& fields, bool settles, std::optional<std::string> cost)
        : m_settles(settles)
    {
        for (const std::string& field : fields)
        {
            if (Formula::Is(field))
            {
                m_columns.emplace_back(Formula(field));
            }
            else
            {
                m_columns.emplace_back(DeclaredField(field));
            }
        }
        if (cost)
        {
            m_cost = static_cast<size_t>(DeclaredField(*cost));
        }
    }

    /// \param records (k, fields)
    Column<float> Observe(const Column<double>& records) const
    {
        const py::ssize_t count = Rows(records);
        Column<float> seen({count, static_cast<py::ssize_t>(m_columns.size())});
        float* value = seen.mutable_data();
        for (const double* record = records.data();
             count > 0 && record < records.data() + records.size();
             record += FIELD_COUNT)
        {
            value = ObserveRow(record, value);
        }
        return seen;
    }

    /// One row: the same as both others and `Named`, without arrays of a single number.
    ///
    /// \return observation (fields), reward (None if it is not minus a cost), final, telemetry by name, infos
    py::tuple Row(const Column<double>& records,
                  const Column<bool>& first,
                  const Column<bool>& terminated,
                  const Column<bool>& truncated,
                  py::ssize_t row) const
    {
        const py::ssize_t count = Rows(records);
        if (row < 0 || row >= count || first.size() != count || terminated.size() != count ||
            truncated.size() != count)
        {
            throw std::invalid_argument("there is no such row");
        }
        const double* record = records.data() + row * static_cast<py::ssize_t>(FIELD_COUNT);
        Column<float> observation(static_cast<py::ssize_t>(m_columns.size()));
        ObserveRow(record, observation.mutable_data());
        const bool done = terminated.data()[row];
        const bool over = done || truncated.data()[row];
        const bool opens = first.data()[row];
        const double slowdown = At(record, Field::Slowdown);
        py::object reward = py::none();
        if (m_cost)
        {
            reward = py::float_(opens ? 0.0 : -record[*m_cost]);
        }
        py::dict infos;
        infos["elapsed"] =
            opens ? 0.0 : At(record, Field::IntervalNs) / At(record, Field::BaseRttNs);
        infos["slowdown"] = over && !std::isnan(slowdown) ? slowdown : 0.0;
        infos["cut"] = over && !done;
        return py::make_tuple(observation,
                              reward,
                              m_settles ? over : done,
                              NamedRecord(record),
                              infos);
    }

    /// \return rewards (None if they are not minus a cost), elapsed, final, cut, slowdowns
    py::tuple Outcomes(const Column<double>& records,
                       const Column<bool>& first,
                       const Column<bool>& terminated,
                       const Column<bool>& truncated) const
    {
        const py::ssize_t count = Rows(records);
        if (first.size() != count || terminated.size() != count || truncated.size() != count)
        {
            throw std::invalid_argument("flags must be (k,), as records have rows");
        }
        Column<double> elapsed(count);
        Column<bool> final(count);
        Column<bool> cut(count);
        Column<double> slowdowns(count);
        const double* record = records.data();
        for (py::ssize_t i = 0; i < count; ++i, record += FIELD_COUNT)
        {
            const bool done = terminated.data()[i];
            const bool over = done || truncated.data()[i];
            elapsed.mutable_data()[i] =
                first.data()[i] ? 0.0
                                : At(record, Field::IntervalNs) / At(record, Field::BaseRttNs);
            final.mutable_data()[i] = m_settles ? over : done;
            cut.mutable_data()[i] = over && !done;
            slowdowns.mutable_data()[i] =
                over ? At(record, Field::Slowdown) : std::numeric_limits<double>::quiet_NaN();
        }
        return py::make_tuple(Rewards(records, first), elapsed, final, cut, slowdowns);
    }

  private:
    /// \return the place after the last value
    float* ObserveRow(const double* record, float* value) const
    {
        for (const auto& column : m_columns)
        {
            const Field* field = std::get_if<Field>(&column);
            *value++ = field ? Cut(record, *field) : Calculated(record, std::get<Formula>(column));
        }
        return value;
    }

    static double At(const double* record, Field field)
    {
        return record[static_cast<size_t>(field)];
    }

    py::object Rewards(const Column<double>& records, const Column<bool>& first) const
    {
        if (!m_cost)
        {
            return py::none();
        }
        Column<double> rewards(records.shape(0));
        const double* record = records.data();
        for (py::ssize_t i = 0; i < records.shape(0); ++i, record += FIELD_COUNT)
        {
            rewards.mutable_data()[i] = first.data()[i] ? 0.0 : -record[*m_cost];
        }
        return rewards;
    }

    std::vector<std::variant<Field, Formula>> m_columns;
    bool m_settles;
    std::optional<size_t> m_cost;
};

const char*
NameOf(Field field)
{
    return ObservationFields()[static_cast<size_t>(field)].name;
}

py::tuple
NamesOf(const Formula& formula)
{
    py::list names;
    for (const Field field : formula.Fields())
    {
        names.append(NameOf(field));
    }
    return names;
}

py::list
StepsOf(const Formula& formula)
{
    using Operation = Formula::Operation;
    static constexpr std::array SIGNS{"+", "-", "*", "/", "min", "max", "abs", "log", "exp"};
    const auto first = static_cast<size_t>(Operation::Add);
    py::list steps;
    for (const auto& [operation, number, field] : formula.Steps())
    {
        if (operation == Operation::Number)
        {
            steps.append(number);
        }
        else
        {
            steps.append(operation == Operation::Value
                             ? NameOf(formula.Fields()[field])
                             : SIGNS.at(static_cast<size_t>(operation) - first));
        }
    }
    return steps;
}

} // namespace

void
BindReading(py::module_& module)
{
    py::class_<Formula> formula(module, "Formula", "A formula over declared fields.");
    formula.def(py::init<const std::string&>(), py::arg("text"))
        .def_property_readonly("name", &Formula::Name)
        .def_property_readonly("fields", &NamesOf, "The declared fields that it reads, each once.")
        .def_property_readonly("steps",
                               &StepsOf,
                               "Its steps on a stack: a number, a field's name, or one of + - * / "
                               "min max abs log exp.");
    formula.attr("LIMIT") = Formula::LIMIT;
    formula.attr("STEP_LIMIT") = Formula::STEP_LIMIT;
    formula.attr("LOG_FLOOR") = Formula::LOG_FLOOR;

    module.def("named",
               &Named,
               py::arg("records"),
               "A dict of field names and values for each record (k, fields), without NaN.");
    py::class_<Reading>(module, "Reading", "What a task reads from records (k, fields).")
        .def(py::init<const std::vector<std::string>&, bool, std::optional<std::string>>(),
             py::arg("fields"),
             py::arg("settles") = false,
             py::arg("cost") = py::none(),
             "The observed fields and formulas, whether the reward settles, and the field that it "
             "is minus, or None.")
        .def("observe",
             &Reading::Observe,
             py::arg("records"),
             "Observations (k, observed fields), float32.")
        .def("outcomes",
             &Reading::Outcomes,
             py::arg("records"),
             py::arg("first"),
             py::arg("terminated"),
             py::arg("truncated"),
             "rewards (or None), elapsed, final, cut, slowdowns, (k,) each.")
        .def("row",
             &Reading::Row,
             py::arg("records"),
             py::arg("first"),
             py::arg("terminated"),
             py::arg("truncated"),
             py::arg("row"),
             "Of one row its observation, reward (or None), final, telemetry by name, and infos.");
}
