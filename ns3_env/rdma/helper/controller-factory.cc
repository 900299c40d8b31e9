// SPDX-License-Identifier: GPL-2.0-or-later
#include "controller-factory.h"

#include "ns3/object-factory.h"
#include "ns3/string.h"

#include <sstream>
#include <string_view>

namespace ns3::rdma
{

namespace
{

template <class T>
bool
Reads(const std::string& text, std::string_view units = {})
{
    std::istringstream in(text);
    T value;
    std::string rest;
    in >> value;
    if (in.fail())
    {
        return false;
    }
    in >> rest;
    return rest.empty() ||
           (" " + std::string(units) + " ").find(" " + rest + " ") != std::string::npos;
}

/// ns-3 ends the program where the text of a number or a time is not one, so that is asked first.
bool
IsWellFormed(const std::string& valueType, const std::string& text)
{
    if (valueType == "ns3::UintegerValue")
    {
        return Reads<uint64_t>(text) && text.front() != '-';
    }
    if (valueType == "ns3::IntegerValue")
    {
        return Reads<int64_t>(text);
    }
    if (valueType == "ns3::DoubleValue")
    {
        return Reads<double>(text);
    }
    if (valueType == "ns3::TimeValue")
    {
        return Reads<double>(text, "fs ps ns us ms s min h d y");
    }
    return true;
}

} // namespace

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
        TypeId::AttributeInformation info;
        const bool known = tid.LookupAttributeByName(name, &info);
        if (!known || !IsWellFormed(info.checker->GetValueTypeName(), value) ||
            !control->SetAttributeFailSafe(name, StringValue(value)))
        {
            std::string all;
            for (size_t i = 0; i < tid.GetAttributeN(); ++i)
            {
                all.append(i == 0 ? "" : ", ").append(tid.GetAttribute(i).name);
            }
            const std::string what =
                known
                    ? "it takes " + info.checker->GetUnderlyingTypeInformation() + ": " + info.help
                    : "its attributes: " + all;
            throw ScenarioError("controller '" + spec.name + "': cannot set attribute '" + name +
                                "' to '" + value + "'; " + what);
        }
    }
    return control;
}

} // namespace ns3::rdma
