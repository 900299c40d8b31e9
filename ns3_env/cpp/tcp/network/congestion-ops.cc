// SPDX-License-Identifier: GPL-2.0-or-later
#include "congestion-ops.h"

#include "ns3/object-factory.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/run/controller-factory.h"
#include "ns3_env/cpp/tcp/controllers/steered.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

namespace ns3::env::tcp
{

namespace
{

constexpr std::string_view PUBLISHED = "ns3::Tcp";
constexpr std::string_view OWN = "tcp::";

/// "newreno" of ns3::TcpNewReno, "tdctcp" of tcp::tdctcp; empty for what is neither.
std::string
NameOf(const TypeId& law)
{
    const std::string full = law.GetName();
    std::string name;
    if (full.starts_with(PUBLISHED))
    {
        name = full.substr(PUBLISHED.size());
    }
    else if (full.starts_with(OWN))
    {
        name = full.substr(OWN.size());
    }
    std::transform(name.begin(),
                   name.end(),
                   name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

/// By name; the project's own where it has one of a name of ns-3's.
std::map<std::string, TypeId>
Laws()
{
    std::map<std::string, TypeId> laws;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId law = TypeId::GetRegistered(i);
        const std::string name = NameOf(law);
        if (!name.empty() && law.IsChildOf(TcpCongestionOps::GetTypeId()) && law.HasConstructor())
        {
            const auto [known, isNew] = laws.emplace(name, law);
            if (law.GetName().starts_with(OWN))
            {
                known->second = law;
            }
        }
    }
    return laws;
}

} // namespace

std::vector<std::string>
ListCongestionOps()
{
    std::vector<std::string> names;
    for (const auto& [name, law] : Laws())
    {
        names.push_back(name);
    }
    return names;
}

std::vector<std::string>
ListControllers()
{
    std::vector<std::string> names = ListCongestionOps();
    names.insert(names.end(), {"agent", "network"});
    std::sort(names.begin(), names.end());
    return names;
}

bool
IsSteered(const ControllerSpec& spec)
{
    return spec.name == "agent" || spec.name == "network";
}

namespace
{

TypeId
TypeOf(const std::string& name)
{
    static const auto laws = Laws(); // registered as their libraries are loaded, before any flow
    const auto law = laws.find(name);
    if (law != laws.end())
    {
        return law->second;
    }
    std::string known;
    for (const auto& other : ListControllers())
    {
        known.append(known.empty() ? "" : ", ").append(other);
    }
    throw ScenarioError("name",
                        "unknown congestion law '" + Shown(name) + "' for TCP; known: " + known);
}

} // namespace

void
CheckLaw(const ControllerSpec& spec)
{
    if (IsSteered(spec))
    {
        CreateController(spec);
    }
    else
    {
        CreateCongestionOps(spec);
    }
}

std::vector<TypeId::AttributeInformation>
AttributesOfLaw(const ControllerSpec& spec)
{
    return IsSteered(spec) ? AttributesOf(spec.name)
                           : AttributesBelow(TypeOf(spec.name), TcpCongestionOps::GetTypeId());
}

Ptr<TcpCongestionOps>
CreateCongestionOps(const ControllerSpec& spec)
{
    if (IsSteered(spec))
    {
        return CreateObject<Steered>();
    }
    const TypeId law = TypeOf(spec.name);
    ObjectFactory factory;
    factory.SetTypeId(law);
    auto ops = factory.Create<TcpCongestionOps>();
    SetAttributes(*ops,
                  law,
                  TcpCongestionOps::GetTypeId(),
                  spec.attributes,
                  "congestion law '" + spec.name + "'");
    return ops;
}

} // namespace ns3::env::tcp
