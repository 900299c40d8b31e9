// SPDX-License-Identifier: GPL-2.0-or-later
// TCP's congestion controllers by name ("cubic", "dctcp", "bbr", ...), and their attributes.
#pragma once

#include "ns3/tcp-congestion-ops.h"
#include "ns3_env/cpp/run/scenario.h"

#include <string>
#include <vector>

namespace ns3::env::tcp
{

/// Controllers that may be named, sorted: of ns3::TcpNAME in small letters, and of tcp::NAME, which is the project's own.
std::vector<std::string> ListCongestionOps();

/// The same with those that are steered.
std::vector<std::string> ListControllers();

/// Reports whether a controller of the project's own steers such flows from outside of TCP: "agent", "policy".
bool IsSteered(const ControllerSpec& spec);

/// \throws ScenarioError for a name or an attribute that there is not
void CheckController(const ControllerSpec& spec);

/// The attributes of a controller, its own and then inherited ones.
std::vector<TypeId::AttributeInformation> AttributesOfController(const ControllerSpec& spec);

/// The controller of one end of a flow. \throws ScenarioError for a name or an attribute that there is not
Ptr<TcpCongestionOps> CreateCongestionOps(const ControllerSpec& spec);

} // namespace ns3::env::tcp
