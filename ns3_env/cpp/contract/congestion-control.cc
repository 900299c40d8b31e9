// SPDX-License-Identifier: GPL-2.0-or-later
// Defaults of the congestion controllers' interface, and the list of their names.
#include "congestion-control.h"

#include <algorithm>

namespace ns3::env
{

NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

namespace
{
constexpr const char* PREFIX = "rdma::";
} // namespace

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid = TypeId("rdma::CongestionControl").SetParent<Object>().SetGroupName("Rdma");
    return tid;
}

IntRequest
CongestionControl::GetIntRequest() const
{
    return {};
}

IntRequest
CongestionControl::GetIntRequestOf(uint64_t, const PathFacts&) const
{
    return GetIntRequest();
}

EcnConfig
CongestionControl::GetEcnConfig() const
{
    return {};
}

CongestionPointConfig
CongestionControl::GetCongestionPointConfig() const
{
    return {};
}

Scheduling
CongestionControl::GetScheduling() const
{
    return Scheduling::Fifo;
}

double
CongestionControl::GetWindowFloor(const FlowState& flow) const
{
    return flow.Path().payloadBytes;
}

double
CongestionControl::GetRateFloor(const FlowState& flow) const
{
    return flow.Path().minRateBps;
}

void
CongestionControl::OnFlowStart(FlowState&)
{
}

void
CongestionControl::OnTakeOver(FlowState& flow, Picos)
{
    OnFlowStart(flow);
}

void
CongestionControl::OnPacketSent(FlowState&, Picos, uint32_t)
{
}

void
CongestionControl::OnCongestionNotification(FlowState&, const CongestionNotification&)
{
}

void
CongestionControl::OnNack(FlowState&, Picos)
{
}

void
CongestionControl::OnTimeout(FlowState&, Picos)
{
}

void
CongestionControl::OnFlowEnd(FlowState&, Picos)
{
}

std::vector<std::pair<std::string, double>>
CongestionControl::GetCounters() const
{
    return {};
}

const DecisionTimes*
CongestionControl::GetDecisionTimes() const
{
    return nullptr;
}

std::vector<std::string>
ListControllers()
{
    std::vector<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        const std::string name = tid.GetName();
        if (tid.IsChildOf(CongestionControl::GetTypeId()) && tid.HasConstructor() &&
            name.starts_with(PREFIX))
        {
            names.push_back(name.substr(std::string(PREFIX).size()));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace ns3::env
