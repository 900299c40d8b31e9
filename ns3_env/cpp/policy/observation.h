// SPDX-License-Identifier: GPL-2.0-or-later
// Inputs of a policy's network: observation fields, transformed, and inputs derived from them.
#pragma once

#include "formula.h"

#include "ns3_env/cpp/channel/observation-fields.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::env
{

/// r = gain (max(RTT / base - margin, 0) sqrt(rate) - target) (Tessler et al. 2022); above 0 the flow sends too much.
class RttTarget
{
  public:
    /// \param json "margin", "target", "gain", and "base_ns" if RTTs are not in units of the path's base RTT
    explicit RttTarget(JsonReader& json)
        : m_baseNs(json.MaybeNumber("base_ns", 1, 1e12)),
          m_margin(json.Number("margin", 0, 1e4)),
          m_target(json.Number("target", 0, 1e4)),
          m_gain(json.Number("gain", 1e-6, 1e6))
    {
    }

    /// Reports whether the RTT is in nanoseconds; otherwise it is in base RTTs of the path.
    bool ReadsNanoseconds() const { return m_baseNs.has_value(); }

    /// \param rtt as of ReadsNanoseconds() \param rate share of the sender's link
    double operator()(double rtt, double rate) const
    {
        const double excess = std::max(rtt / m_baseNs.value_or(1.0) - m_margin, 0.0);
        return m_gain * (excess * std::sqrt(rate) - m_target);
    }

  private:
    std::optional<double> m_baseNs;
    double m_margin;
    double m_target;
    double m_gain;
};

/// The list "observation" of a policy's file (docs/policy-format.md).
class Observation
{
  public:
    /// \param policy the JSON that has the list \throws ScenarioError naming the entry that is wrong
    explicit Observation(JsonReader& policy);

    /// The fields that it needs, each once, in the order in which the list needs them.
    const std::vector<Field>& Fields() const { return m_fields; }
    /// Numbers that the network reads.
    size_t Width() const { return m_inputs.size(); }

    /// \param values of Fields(); each is cut to its range first \param inputs Width() of them, written
    void Read(std::span<const float> values, float* inputs) const;

  private:
    enum class Transform : uint8_t
    {
        None,
        SymLog, ///< sign(x) ln(1 + |x|)
    };

    struct Input
    {
        size_t value{0}; ///< index in Fields(): the field, or the RTT of a derived input
        Transform transform{Transform::None}; ///< of a field or a formula
        size_t rate{0};                       ///< index in Fields(), of a derived input
        std::optional<RttTarget> target{};    ///< if the input is derived
        std::optional<Formula> formula{};
        std::vector<size_t> operands{}; ///< indices in Fields(), of a formula
    };

    Input ReadField(JsonReader& json);
    Input ReadFormula(const Formula& formula);
    Input ReadDerived(JsonReader& json);
    /// The field's index in Fields(), which it joins if it is missing.
    size_t Need(Field field);

    std::vector<Field> m_fields;
    std::vector<Input> m_inputs;
};

} // namespace ns3::env
