// SPDX-License-Identifier: GPL-2.0-or-later
// Creates a congestion controller from its name and attributes.
#include "controller-factory.h"

#include "attributes.h"

#include "ns3/object-factory.h"
#include "ns3_env/cpp/json/json-reader.h"

namespace ns3::env
{

std::vector<TypeId::AttributeInformation>
AttributesOf(const std::string& controller)
{
    return AttributesBelow(TypeId::LookupByName("rdma::" + controller),
                           CongestionControl::GetTypeId());
}

Ptr<CongestionControl>
CreateController(const ControllerSpec& spec)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe("rdma::" + spec.name, &tid) ||
        !tid.IsChildOf(CongestionControl::GetTypeId()))
    {
        std::string known;
        for (const auto& name : ListControllers())
        {
            known.append(known.empty() ? "" : ", ").append(name);
        }
        throw ScenarioError("name",
                            "unknown controller '" + Shown(spec.name) + "'; known: " + known);
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    Ptr<CongestionControl> control = factory.Create<CongestionControl>();
    SetAttributes(*control,
                  tid,
                  CongestionControl::GetTypeId(),
                  spec.attributes,
                  "controller '" + spec.name + "'");
    return control;
}

} // namespace ns3::env
