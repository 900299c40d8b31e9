// SPDX-License-Identifier: GPL-2.0-or-later
// Creates a congestion controller from its name and attributes.
#ifndef NS3_ENV_RUN_CONTROLLER_FACTORY_H
#define NS3_ENV_RUN_CONTROLLER_FACTORY_H

#include "scenario.h"

#include "ns3_env/cpp/contract/congestion-control.h"

namespace ns3::env
{

/// \throws ScenarioError naming the known ones where there is no such controller or attribute.
Ptr<CongestionControl> CreateController(const ControllerSpec& spec);

/// A controller's attributes, its own and then inherited ones.
std::vector<TypeId::AttributeInformation> AttributesOf(const std::string& controller);

} // namespace ns3::env

#endif // NS3_ENV_RUN_CONTROLLER_FACTORY_H
