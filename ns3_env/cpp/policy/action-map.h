// SPDX-License-Identifier: GPL-2.0-or-later
// Maps from an agent's action to a window and a pacing rate, by name.
#pragma once

#include "ns3_env/cpp/channel/observation-fields.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3::env
{

/// One kind of action, with its settings. Kinds and the meaning of their settings: ns3_env/decision/actions.py.
class ActionMap
{
  public:
    virtual ~ActionMap() = default;

    /// Window and rate that follow from `action` on the flow of `record`; the echo is the field "last_action".
    virtual ActionRow operator()(double action, const ObservationRecord& record) const = 0;

    /// The action that comes nearest to this window (B) and pacing rate (bit/s), which another map set.
    virtual double
    Nearest(double window, double rateBps, const ObservationRecord& record) const = 0;

    /// \param json its name and its settings \throws ScenarioError for an unknown name or setting
    static std::unique_ptr<ActionMap> FromJson(JsonReader json);
};

/// A setting of a kind of action: a number of a range, or one of some words, which is then its index.
struct ActionSetting
{
    const char* name;
    double otherwise; ///< the default
    double least;
    double most;
    std::vector<std::string> words{};
};

/// Values of a kind's settings, in their order.
using ActionSettings = std::vector<double>;

/// Declaration of a kind of action: Python's classes and the JSON reader follow it.
struct ActionMapSpec
{
    const char* name;
    std::vector<ActionSetting> settings;
    std::vector<Field> fields; ///< that it reads, and a policy must therefore observe
    std::unique_ptr<ActionMap> (*make)(const ActionSettings& settings);
};

const std::vector<ActionMapSpec>& ActionMaps();

} // namespace ns3::env
