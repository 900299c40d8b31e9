// SPDX-License-Identifier: GPL-2.0-or-later
// Congestion controllers by name, and ns-3 attributes set from a user's settings.
#include "attributes.h"

#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3_env/cpp/contract/units.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/policy/policy-cache.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

namespace ns3::env
{

namespace
{

/// A unit of time and its length, the longest first.
struct TimeUnit
{
    std::string_view name;
    double seconds;
};

constexpr std::array<TimeUnit, 10> TIME_UNITS{{{"y", 31536000.0},
                                               {"d", 86400.0},
                                               {"h", 3600.0},
                                               {"min", 60.0},
                                               {"s", 1.0},
                                               {"ms", 1e-3},
                                               {"us", 1e-6},
                                               {"ns", 1e-9},
                                               {"ps", 1e-12},
                                               {"fs", 1e-15}}};
constexpr double LONGEST_TIME_S = 1e6; // ns-3's time in picoseconds reaches nine times that

template <class T>
bool
Reads(const std::string& text)
{
    std::istringstream in(text);
    T value;
    std::string rest;
    in >> value;
    return !in.fail() && !(in >> rest);
}

/// A number immediately followed by its unit.
bool
IsTime(std::string_view text)
{
    text.remove_prefix(text.starts_with('+') ? 1 : 0);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view name = text.substr(static_cast<size_t>(end - text.data()));
    const auto unit = std::find_if(TIME_UNITS.begin(),
                                   TIME_UNITS.end(),
                                   [&](const TimeUnit& u) { return u.name == name; });
    return error == std::errc{} && std::isfinite(number) && unit != TIME_UNITS.end() &&
           std::abs(number * unit->seconds) <= LONGEST_TIME_S;
}

/// ns-3 ends the program if the text of a number or a time is invalid, so that is checked first.
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
        return IsTime(text);
    }
    return true;
}

/// "1000s" for the time that ns-3 writes "+1e+15ps".
std::string
PlainTime(const std::string& text)
{
    const double seconds = Time(text).GetSeconds();
    for (const TimeUnit& unit : TIME_UNITS)
    {
        const double number = seconds / unit.seconds;
        if (unit.seconds <= 1 && std::abs(number) > 1 - 1e-9)
        {
            std::ostringstream plain;
            plain << number << unit.name;
            return plain.str();
        }
    }
    return "0s";
}

/// Values of an attribute: its type and range, and for a time the form.
std::string
Takes(const AttributeChecker& checker)
{
    const std::string type = checker.GetUnderlyingTypeInformation();
    constexpr std::string_view TIME = "Time ";
    const size_t colon = type.find(':');
    if (checker.GetValueTypeName() != "ns3::TimeValue" || !type.starts_with(TIME) ||
        colon == std::string::npos)
    {
        return type;
    }
    return "Time " + PlainTime(type.substr(TIME.size(), colon - TIME.size())) + ":" +
           PlainTime(type.substr(colon + 1)) + " with its unit, as in 20us";
}

/// Default as text for a scenario; a time in nanoseconds if they are whole.
std::string
DefaultOf(const TypeId::AttributeInformation& attribute)
{
    if (const auto* time = dynamic_cast<const TimeValue*>(PeekPointer(attribute.initialValue)))
    {
        const int64_t ps = time->Get().GetPicoSeconds();
        return ps % PS_PER_NS == 0 ? "+" + std::to_string(ps / PS_PER_NS) + "ns"
                                   : "+" + std::to_string(ps) + "ps";
    }
    return attribute.initialValue->SerializeToString(attribute.checker);
}

} // namespace

std::vector<TypeId::AttributeInformation>
AttributesBelow(TypeId type, TypeId base)
{
    std::vector<TypeId::AttributeInformation> attributes;
    for (; type != base; type = type.GetParent())
    {
        for (size_t i = 0; i < type.GetAttributeN(); ++i)
        {
            attributes.push_back(type.GetAttribute(i));
        }
    }
    return attributes;
}

void
SetAttributes(ObjectBase& object,
              TypeId type,
              TypeId base,
              const std::vector<std::pair<std::string, std::string>>& values,
              const std::string& subject)
{
    for (const auto& [name, value] : values)
    {
        TypeId::AttributeInformation info;
        const bool known = type.LookupAttributeByName(name, &info);
        if (!known || !IsWellFormed(info.checker->GetValueTypeName(), value) ||
            !object.SetAttributeFailSafe(name, StringValue(value)))
        {
            std::string all;
            for (const TypeId::AttributeInformation& attribute : AttributesBelow(type, base))
            {
                all.append(all.empty() ? "" : ", ").append(attribute.name);
            }
            const std::string what = known ? "it takes " + Takes(*info.checker) + ": " + info.help
                                           : "its attributes: " + all;
            throw ScenarioError("attributes." + Shown(name),
                                subject + ": cannot set attribute '" + Shown(name) + "' to '" +
                                    Shown(value) + "'; " + what);
        }
    }
}

std::map<std::string, std::string>
DefaultsOf(const std::vector<TypeId::AttributeInformation>& attributes)
{
    std::map<std::string, std::string> defaults;
    for (const TypeId::AttributeInformation& attribute : attributes)
    {
        defaults.emplace(attribute.name,
                         DefaultOf(attribute)); // a child's comes before its parent's
    }
    return defaults;
}

std::map<std::string, std::string>
MeaningsOf(const std::vector<TypeId::AttributeInformation>& attributes)
{
    std::map<std::string, std::string> meanings;
    for (const TypeId::AttributeInformation& attribute : attributes)
    {
        meanings.emplace(attribute.name, attribute.help);
    }
    return meanings;
}

void
CheckEach(const Scenario& scenario, const std::function<void(const ControllerSpec&)>& check)
{
    for (size_t i = 0; i < scenario.controllers.size(); ++i)
    {
        Within(ControllerKey(i), [&] { check(scenario.controllers[i]); });
    }
}

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
    const std::string subject = "controller '" + spec.name + "'";
    SetAttributes(*control, tid, CongestionControl::GetTypeId(), spec.attributes, subject);
    return control;
}

} // namespace ns3::env
