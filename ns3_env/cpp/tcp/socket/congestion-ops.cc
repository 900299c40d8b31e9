// SPDX-License-Identifier: GPL-2.0-or-later
// TCP's congestion controllers by name ("cubic", "dctcp", "bbr", ...), and their attributes.
#include "congestion-ops.h"

#include "ns3/object-factory.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"
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

/// "newreno" of ns3::TcpNewReno, "tdctcp" of tcp::tdctcp; empty for any other.
std::string
NameOf(const TypeId& controller)
{
    const std::string full = controller.GetName();
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

/// Controllers by name; the project's version if ns-3 has one of the same name.
std::map<std::string, TypeId>
RegisteredOps()
{
    std::map<std::string, TypeId> controllers;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId controller = TypeId::GetRegistered(i);
        const std::string name = NameOf(controller);
        if (!name.empty() && controller.IsChildOf(TcpCongestionOps::GetTypeId()) &&
            controller.HasConstructor())
        {
            const auto [known, isNew] = controllers.emplace(name, controller);
            if (controller.GetName().starts_with(OWN))
            {
                known->second = controller;
            }
        }
    }
    return controllers;
}

} // namespace

std::vector<std::string>
ListCongestionOps()
{
    std::vector<std::string> names;
    for (const auto& [name, controller] : RegisteredOps())
    {
        names.push_back(name);
    }
    return names;
}

std::vector<std::string>
ListControllers()
{
    std::vector<std::string> names = ListCongestionOps();
    names.insert(names.end(), {"agent", "policy"});
    std::sort(names.begin(), names.end());
    return names;
}

bool
IsSteered(const ControllerSpec& spec)
{
    return spec.name == "agent" || spec.name == "policy";
}

namespace
{

TypeId
TypeOf(const std::string& name)
{
    static const auto controllers =
        RegisteredOps(); // registered as their libraries are loaded, before any flow
    const auto controller = controllers.find(name);
    if (controller != controllers.end())
    {
        return controller->second;
    }
    std::string known;
    for (const auto& other : ListControllers())
    {
        known.append(known.empty() ? "" : ", ").append(other);
    }
    throw ScenarioError("name",
                        "unknown congestion controller '" + Shown(name) +
                            "' for TCP; known: " + known);
}

} // namespace

void
CheckController(const ControllerSpec& spec)
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
AttributesOfController(const ControllerSpec& spec)
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
    const TypeId controller = TypeOf(spec.name);
    ObjectFactory factory;
    factory.SetTypeId(controller);
    auto ops = factory.Create<TcpCongestionOps>();
    SetAttributes(*ops,
                  controller,
                  TcpCongestionOps::GetTypeId(),
                  spec.attributes,
                  "congestion controller '" + spec.name + "'");
    return ops;
}

} // namespace ns3::env::tcp
