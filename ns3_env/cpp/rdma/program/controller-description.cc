// SPDX-License-Identifier: GPL-2.0-or-later
// Declarations of the controllers, as JSON for programs outside the simulator.
#include "controller-description.h"

#include "plugins.h"

#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/run/controller-factory.h"

#include <nlohmann/json.hpp>

namespace ns3::env::rdma
{

namespace
{

using Json = nlohmann::json;

Json
EcnToJson(const EcnConfig& ecn)
{
    if (!ecn.enabled)
    {
        return nullptr;
    }
    return {{"kmin_bytes", ecn.kminBytes},
            {"kmax_bytes", ecn.kmaxBytes},
            {"pmax", ecn.pmax},
            {"at_rate_bps", ecn.atRateBps}};
}

Json
CongestionPointsToJson(const CongestionPointConfig& points)
{
    if (!points.enabled)
    {
        return nullptr;
    }
    const double probability = points.sampleProbability;
    return {{"target_bytes", points.targetBytes},
            {"weight", points.weight},
            {"sample_bytes", points.sampleBytes},
            {"sample_jitter", points.sampleJitter},
            {"adaptive_sampling", points.adaptiveSampling},
            {"sample_probability", probability > 0 ? Json(probability) : Json(nullptr)},
            {"feedback", points.negativeOnly ? "negative" : "both"}};
}

} // namespace

std::string
DescribeControllers()
{
    Json all = Json::object();
    for (const std::string& name : ListControllers())
    {
        const Ptr<CongestionControl> control = CreateController({name, {}});
        all[name] = {
            {"ecn", EcnToJson(control->GetEcnConfig())},
            {"congestion_points", CongestionPointsToJson(control->GetCongestionPointConfig())},
            {"attributes", DefaultsOf(AttributesOf(name))}};
        if (const auto plugin = PluginControllers().find(name); plugin != PluginControllers().end())
        {
            all[name]["plugin"] = plugin->second;
        }
    }
    return all.dump(2);
}

} // namespace ns3::env::rdma
