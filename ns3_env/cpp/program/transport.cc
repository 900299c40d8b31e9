// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of a transport: all that differs between the simulators of RDMA and of TCP.
#include "transport.h"

#include "ns3_env/cpp/json/json-reader.h"

namespace ns3::env
{

Scenario
Transport::Read(const std::string& json)
{
    return Scenario::FromJson(
        json,
        [this](JsonReader& root, Scenario& scenario)
        {
            const std::string requested = root.Has("transport") ? root.Text("transport") : "rdma";
            if (requested != Name())
            {
                throw ScenarioError("'transport' is '" + Shown(requested) + "', and " + Name() +
                                    "-sim simulates " + Title() + ": take " + Shown(requested) +
                                    "-sim");
            }
            ReadKeys(root, scenario);
        });
}

} // namespace ns3::env
