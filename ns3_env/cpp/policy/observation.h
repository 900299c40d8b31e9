// SPDX-License-Identifier: GPL-2.0-or-later
// Inputs of a policy's network: observation fields, transformed, and what is derived from them.
#ifndef NS3_ENV_POLICY_OBSERVATION_H
#define NS3_ENV_POLICY_OBSERVATION_H

#include "rtt-target.h"

#include "ns3_env/cpp/channel/observation-fields.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ns3::env
{

/// The list "observation" of a policy's file (docs/policy-format.md).
class Observation
{
  public:
    /// \param policy the JSON that has the list \throws ScenarioError naming the entry that is wrong
    explicit Observation(JsonReader& policy);

    /// The fields that it takes, each once, in the order in which the list needs them.
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
        size_t value;        ///< index in Fields(): the field, or the RTT of what is derived
        Transform transform; ///< of a field
        size_t rate{0};      ///< index in Fields(), of what is derived
        std::optional<RttTarget> target; ///< where the input is derived
    };

    Input ReadField(JsonReader& json);
    Input ReadDerived(JsonReader& json);
    /// The field's index in Fields(), where it is put if it is not there.
    size_t Need(Field field);

    std::vector<Field> m_fields;
    std::vector<Input> m_inputs;
};

} // namespace ns3::env

#endif // NS3_ENV_POLICY_OBSERVATION_H
