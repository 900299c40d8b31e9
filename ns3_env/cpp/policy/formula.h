// SPDX-License-Identifier: GPL-2.0-or-later
// Formula over the declared fields, which a policy observes as a field: "queueing = rtt - 1".
#pragma once

#include "ns3_env/cpp/channel/observation-fields.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::env
{

/// Arithmetic in double of values that were cut to their fields' ranges, in float32. Every result is finite: it is cut
/// to STEP_LIMIT at each step, a division by 0 is 0, and a logarithm's argument is at least LOG_FLOOR.
class Formula
{
  public:
    static constexpr double STEP_LIMIT = 1e15;   ///< of each step
    static constexpr double LIMIT = 1e6;         ///< of the value
    static constexpr double LOG_FLOOR = 0x1p-16; ///< the C99 export's least positive number
    static constexpr size_t MOST_CHARACTERS = 200;

    enum class Operation : uint8_t
    {
        Number,
        Value, ///< of a field
        Add,
        Subtract,
        Multiply,
        Divide,
        Min,
        Max,
        Abs,
        Log,
        Exp,
    };

    /// A step of the calculation, on a stack.
    struct Step
    {
        Operation operation;
        double number{0}; ///< of Number
        size_t field{0};  ///< of Value: its index in Fields()
    };

    /// Reports whether an observed field is a formula; otherwise it is a declared field's name.
    static bool Is(const std::string& field) { return field.find('=') != std::string::npos; }

    /// \param text NAME = EXPRESSION \throws ScenarioError naming the character that is wrong, and the correct form
    explicit Formula(const std::string& text);

    const std::string& Name() const { return m_name; }

    /// The declared fields that it reads, each once.
    const std::vector<Field>& Fields() const { return m_fields; }

    /// Steps in the order of the calculation; the last one's result is the value.
    const std::vector<Step>& Steps() const { return m_steps; }

    /// \param values of Fields(), each cut to its range
    float operator()(std::span<const float> values) const;

  private:
    friend class FormulaParser;
    std::string m_name;
    std::vector<Field> m_fields;
    std::vector<Step> m_steps;
};

/// The declared field of that name. \throws ScenarioError naming the nearest one
Field DeclaredField(const std::string& name);

} // namespace ns3::env
