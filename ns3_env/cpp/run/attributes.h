// SPDX-License-Identifier: GPL-2.0-or-later
// Congestion controllers by name, and ns-3 attributes set from a user's settings.
#pragma once

#include "scenario.h"

#include "ns3/object-base.h"
#include "ns3/type-id.h"
#include "ns3_env/cpp/contract/congestion-control.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env
{

/// Attributes of `type` and its parents up to `base`, exclusive.
std::vector<TypeId::AttributeInformation> AttributesBelow(TypeId type, TypeId base);

/// Sets `values`, names and texts, on an object of `type`.
/// \param base the parent whose attributes are not named to a user, nor its parents'
/// \param subject whose attributes they are, for a message: "controller 'hpcc'"
/// \throws ScenarioError for an unknown name, or a text that is invalid for it
void SetAttributes(ObjectBase& object,
                   TypeId type,
                   TypeId base,
                   const std::vector<std::pair<std::string, std::string>>& values,
                   const std::string& subject);

/// Attributes and their defaults, as text that a scenario may contain.
std::map<std::string, std::string>
DefaultsOf(const std::vector<TypeId::AttributeInformation>& attributes);
/// Help texts of attributes, by name.
std::map<std::string, std::string>
MeaningsOf(const std::vector<TypeId::AttributeInformation>& attributes);

/// \throws ScenarioError listing the known names if there is no such controller or attribute.
Ptr<CongestionControl> CreateController(const ControllerSpec& spec);

/// Passes each of the scenario's controllers to `check`, which refuses a name or an attribute that there is not: an
/// error now, not when the flow starts. \throws ScenarioError with the key
void CheckEach(const Scenario& scenario, const std::function<void(const ControllerSpec&)>& check);

/// A controller's attributes, its own and then inherited ones.
std::vector<TypeId::AttributeInformation> AttributesOf(const std::string& controller);

} // namespace ns3::env
