// SPDX-License-Identifier: GPL-2.0-or-later
#include "controller-description.h"

#include "controller-factory.h"

#include <nlohmann/json.hpp>

namespace ns3::rdma
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

} // namespace

std::string
DescribeControllers()
{
    Json all = Json::object();
    for (const std::string& name : ListControllers())
    {
        Json defaults = Json::object();
        for (const TypeId::AttributeInformation& attribute : AttributesOf(name))
        {
            defaults[attribute.name] = attribute.initialValue->SerializeToString(attribute.checker);
        }
        all[name] = {{"ecn", EcnToJson(CreateController({name, {}})->GetEcnConfig())},
                     {"attributes", std::move(defaults)}};
    }
    return all.dump(2);
}

} // namespace ns3::rdma
