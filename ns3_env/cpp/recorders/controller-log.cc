// SPDX-License-Identifier: GPL-2.0-or-later
// Log of every state, or counter, that the controllers declare, over time.
#include "controller-log.h"

#include "ns3_env/cpp/engine/now.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

/// The type that a trace source of this kind names when it is declared.
std::string
CallbackOf(ControllerLog::Kind kind)
{
    return kind == ControllerLog::Kind::States ? "ns3::TracedValueCallback::Double"
                                               : "ns3::TracedValueCallback::Uint64";
}

} // namespace

ControllerLog::ControllerLog(Episode& episode, Kind kind)
    : m_kind(kind)
{
    episode.Traces().created.ConnectWithoutContext(MakeCallback(&ControllerLog::OnCreated, this));
}

void
ControllerLog::OnCreated(Flow& flow)
{
    const TypeId tid = flow.Controller().GetInstanceTypeId();
    for (size_t i = 0; i < tid.GetTraceSourceN(); ++i)
    {
        const TypeId::TraceSourceInformation source = tid.GetTraceSource(i);
        if (source.callback == CallbackOf(m_kind))
        {
            Follow(flow, source.name);
        }
    }
}

void
ControllerLog::Follow(Flow& flow, const std::string& source)
{
    const auto log = [this, id = flow.Id(), name = IndexOf(source)](double value)
    { m_changes.push_back({NowPicos(), id, name, value}); };
    if (m_kind == Kind::States)
    {
        flow.Controller().TraceConnectWithoutContext(
            source,
            Callback<void, double, double>([log](double, double value) { log(value); }));
    }
    else
    {
        flow.Controller().TraceConnectWithoutContext(
            source,
            Callback<void, uint64_t, uint64_t>([log](uint64_t, uint64_t value)
                                               { log(static_cast<double>(value)); }));
    }
}

uint32_t
ControllerLog::IndexOf(const std::string& name)
{
    const auto found = std::find(m_names.begin(), m_names.end(), name);
    const auto index = static_cast<uint32_t>(found - m_names.begin());
    if (found == m_names.end())
    {
        m_names.push_back(name);
    }
    return index;
}

} // namespace ns3::env
