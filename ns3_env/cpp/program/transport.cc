// SPDX-License-Identifier: GPL-2.0-or-later
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
            const std::string asked = root.Has("transport") ? root.Text("transport") : "rdma";
            if (asked != Name())
            {
                throw ScenarioError("'transport' is '" + Shown(asked) + "', and " + Name() +
                                    "-sim simulates " + Title() + ": take " + Shown(asked) +
                                    "-sim");
            }
            ReadKeys(root, scenario);
        });
}

} // namespace ns3::env
