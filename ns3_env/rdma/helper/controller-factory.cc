// SPDX-License-Identifier: GPL-2.0-or-later
#include "controller-factory.h"

#include "ns3/object-factory.h"
#include "ns3/string.h"

namespace ns3::rdma
{

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
        throw ScenarioError("unknown controller '" + spec.name + "'; known: " + known);
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    Ptr<CongestionControl> control = factory.Create<CongestionControl>();
    for (const auto& [name, value] : spec.attributes)
    {
        if (!control->SetAttributeFailSafe(name, StringValue(value)))
        {
            std::string known;
            for (size_t i = 0; i < tid.GetAttributeN(); ++i)
            {
                known.append(i == 0 ? "" : ", ").append(tid.GetAttribute(i).name);
            }
            throw ScenarioError("controller '" + spec.name + "': cannot set attribute '" + name +
                                "' to '" + value + "'; its attributes: " + known);
        }
    }
    return control;
}

} // namespace ns3::rdma
