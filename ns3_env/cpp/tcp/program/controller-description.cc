// SPDX-License-Identifier: GPL-2.0-or-later
// Declarations of TCP's congestion controllers, as JSON for programs outside the simulator.
#include "controller-description.h"

#include "ns3/tcp-dctcp.h"
#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/tcp/network/congestion-ops.h"

#include <nlohmann/json.hpp>

namespace ns3::env::tcp
{

namespace
{

using Json = nlohmann::json;

/// Whether it lives by marks: DCTCP's echo is exact, and it and its children are nothing without.
bool
NeedsMarks(const TcpCongestionOps& controller)
{
    return dynamic_cast<const TcpDctcp*>(&controller) != nullptr;
}

/// K of Alizadeh 2010, sec. 4: 20 packets at 1 Gb/s and 65 at 10 Gb/s.
Json
DctcpThreshold()
{
    return {{"threshold_packets", 65}, {"at_rate_bps", 10e9}, {"least_packets", 20}};
}

} // namespace

std::string
DescribeControllers()
{
    Json all = Json::object();
    for (const std::string& name : ListControllers())
    {
        const ControllerSpec spec{name, {}};
        all[name] = {
            {"attributes", DefaultsOf(AttributesOfController(spec))},
            {"marking", NeedsMarks(*CreateCongestionOps(spec)) ? DctcpThreshold() : Json(nullptr)}};
    }
    return all.dump(2);
}

} // namespace ns3::env::tcp
