// SPDX-License-Identifier: GPL-2.0-or-later
// Inputs of a policy's network: observation fields, transformed, and inputs derived from them.
#include "observation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3::env
{

namespace
{

constexpr size_t MOST_INPUTS = 64;

/// \param cut values of a policy's fields \param operands indices of those that the formula reads
float
Calculated(const Formula& formula, const std::vector<size_t>& operands, std::span<const float> cut)
{
    std::array<float, FIELD_COUNT> values;
    std::ranges::transform(operands, values.begin(), [&](size_t index) { return cut[index]; });
    return formula(std::span(values).first(operands.size()));
}

} // namespace

Observation::Observation(JsonReader& policy)
{
    const auto read = [this](JsonReader& json)
    { m_inputs.push_back(json.Has("derived") ? ReadDerived(json) : ReadField(json)); };
    policy.Each("observation", MOST_INPUTS, read);
    if (m_inputs.empty())
    {
        throw ScenarioError("'" + policy.Path("observation") + "' is empty");
    }
}

Observation::Input
Observation::ReadField(JsonReader& json)
{
    const std::string name = json.Text("field");
    Input input = Within(json.Path("field"),
                         [&]
                         {
                             return Formula::Is(name) ? ReadFormula(Formula(name))
                                                      : Input{.value = Need(DeclaredField(name))};
                         });
    const auto same = [&input](const Input& other)
    {
        return input.formula ? other.formula && input.formula->Name() == other.formula->Name()
                             : !other.target && !other.formula && input.value == other.value;
    };
    if (std::ranges::any_of(m_inputs, same))
    {
        throw ScenarioError("'" + json.Path("field") + "' is there twice");
    }
    const bool symlog = json.OneOf("transform", {"none", "symlog"}) == "symlog";
    input.transform = symlog ? Transform::SymLog : Transform::None;
    return input;
}

Observation::Input
Observation::ReadFormula(const Formula& formula)
{
    Input input{.formula = formula};
    for (const Field field : formula.Fields())
    {
        input.operands.push_back(Need(field));
    }
    return input;
}

Observation::Input
Observation::ReadDerived(JsonReader& json)
{
    json.OneOf("derived", {"rtt_target"});
    const RttTarget target(json);
    const size_t rtt = Need(target.ReadsNanoseconds() ? Field::RttNs : Field::Rtt);
    return {.value = rtt, .rate = Need(Field::PacingRate), .target = target};
}

size_t
Observation::Need(Field field)
{
    const auto found = std::find(m_fields.begin(), m_fields.end(), field);
    const auto index = static_cast<size_t>(found - m_fields.begin());
    if (found == m_fields.end())
    {
        m_fields.push_back(field);
    }
    return index;
}

void
Observation::Read(std::span<const float> values, float* inputs) const
{
    std::array<float, FIELD_COUNT> cut;
    for (size_t i = 0; i < m_fields.size(); ++i)
    {
        const FieldSpec& spec = ObservationFields()[static_cast<size_t>(m_fields[i])];
        cut[i] = std::clamp(values[i], static_cast<float>(spec.low), static_cast<float>(spec.high));
    }
    for (const Input& input : m_inputs)
    {
        const float value =
            input.formula ? Calculated(*input.formula, input.operands, cut) : cut[input.value];
        if (input.target)
        {
            *inputs++ = static_cast<float>((*input.target)(value, cut[input.rate]));
        }
        else
        {
            *inputs++ = input.transform == Transform::SymLog
                            ? std::copysign(std::log1p(std::abs(value)), value)
                            : value;
        }
    }
}

} // namespace ns3::env
