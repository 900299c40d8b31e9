// SPDX-License-Identifier: GPL-2.0-or-later
// Controllers of flows under a policy: across the channel, or from a file inside the simulator.
#include "policy-controller.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3_env/cpp/json/bounds.h"

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
                MakeUintegerChecker<uint32_t>(0, bounds::TELEMETRY_BYTES));
    return tid;
}

IntRequest
AgentController::GetIntRequest() const
{
    return {.wireBytes = m_telemetryBytes, .hopRecords = true, .quantised = Quantised()};
}

NS_OBJECT_ENSURE_REGISTERED(PolicyController);

TypeId
PolicyController::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::policy")
            .SetParent<DecidingController>()
            .SetGroupName("Rdma")
            .AddConstructor<PolicyController>()
            .AddAttribute("File",
                          "The policy: an exported one, or policy.safetensors of a checkpoint.",
                          StringValue(""),
                          MakeStringAccessor(&PolicyController::m_file),
                          MakeStringChecker())
            .AddAttribute("TelemetryBytes",
                          "Wire bytes of in-band telemetry per packet; -1: as the file says.",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&PolicyController::m_telemetryBytes),
                          MakeIntegerChecker<int32_t>(-1, bounds::TELEMETRY_BYTES))
            .AddAttribute(
                "HopRecords",
                "Switches write a record per hop even where the policy observes none, for a "
                "reader of its flows' telemetry.",
                BooleanValue(false),
                MakeBooleanAccessor(&PolicyController::m_hopRecords),
                MakeBooleanChecker())
            .AddAttribute("ActionNoise",
                          "Standard deviation of the noise on actions in [-1, 1].",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&PolicyController::m_noise),
                          MakeDoubleChecker<double>(0.0, 10.0))
            .AddAttribute("RandomShare",
                          "Share of flows whose actions are random, each held for some decisions.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&PolicyController::m_randomShare),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

IntRequest
PolicyController::GetIntRequest() const
{
    if (m_file.empty())
    {
        return {};
    }
    const Policy& policy = PolicyCache::Get(m_file);
    return {.wireBytes = m_telemetryBytes < 0 ? policy.TelemetryBytes()
                                              : static_cast<uint32_t>(m_telemetryBytes),
            .hopRecords = m_hopRecords || NeedsHops(policy.Fields()),
            .quantised = Quantised()};
}

} // namespace ns3::env
