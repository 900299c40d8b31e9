// SPDX-License-Identifier: GPL-2.0-or-later
// Sets ns-3 attributes from what a user wrote, with messages of what would be right.
#ifndef NS3_ENV_RUN_ATTRIBUTES_H
#define NS3_ENV_RUN_ATTRIBUTES_H

#include "ns3/object-base.h"
#include "ns3/type-id.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::env
{

/// Of `type` and its parents up to `base`, which is not asked.
std::vector<TypeId::AttributeInformation> AttributesBelow(TypeId type, TypeId base);

/**
 * Sets `values`, names and texts, on an object of `type`.
 * \param base the parent whose attributes are not named to a user, nor its parents'
 * \param subject whose attributes they are, for a message: "controller 'hpcc'"
 * \throws ScenarioError for a name that there is not, or a text that it does not take
 */
void SetAttributes(ObjectBase& object,
                   TypeId type,
                   TypeId base,
                   const std::vector<std::pair<std::string, std::string>>& values,
                   const std::string& subject);

/// Attributes and their defaults, as text that a scenario may hold.
std::map<std::string, std::string>
DefaultsOf(const std::vector<TypeId::AttributeInformation>& attributes);

} // namespace ns3::env

#endif // NS3_ENV_RUN_ATTRIBUTES_H
