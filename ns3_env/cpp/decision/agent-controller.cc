// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent-controller.h"

#include "ns3/uinteger.h"

namespace ns3::env
{

NS_OBJECT_ENSURE_REGISTERED(AgentController);

TypeId
AgentController::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::agent")
            .SetParent<DecidingController>()
            .SetGroupName("Rdma")
            .AddConstructor<AgentController>()
            .AddAttribute(
                "TelemetryBytes",
                "Wire bytes of in-band telemetry per packet (42 as HPCC's, 32 as MPCC's).",
                UintegerValue(42),
                MakeUintegerAccessor(&AgentController::m_telemetryBytes),
                MakeUintegerChecker<uint32_t>(0, 1000));
    return tid;
}

TelemetryHeader
AgentController::GetTelemetryHeader() const
{
    return {.wireBytes = m_telemetryBytes, .hopRecords = true, .quantised = Quantised()};
}

} // namespace ns3::env
