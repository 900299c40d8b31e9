// SPDX-License-Identifier: GPL-2.0-or-later
#include "network-controller.h"

#include "policy-cache.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/string.h"

namespace ns3::env
{

NS_OBJECT_ENSURE_REGISTERED(NetworkController);

TypeId
NetworkController::GetTypeId()
{
    static TypeId tid =
        TypeId("rdma::network")
            .SetParent<DecidingController>()
            .SetGroupName("Rdma")
            .AddConstructor<NetworkController>()
            .AddAttribute("File",
                          "The policy: an exported one, or policy.safetensors of a checkpoint.",
                          StringValue(""),
                          MakeStringAccessor(&NetworkController::m_file),
                          MakeStringChecker())
            .AddAttribute("TelemetryBytes",
                          "Wire bytes of in-band telemetry per packet; -1: as the file says.",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&NetworkController::m_telemetryBytes),
                          MakeIntegerChecker<int32_t>(-1, 1000))
            .AddAttribute(
                "HopRecords",
                "Switches write a record per hop even where the policy observes none: for "
                "whoever reads its flows' telemetry.",
                BooleanValue(false),
                MakeBooleanAccessor(&NetworkController::m_hopRecords),
                MakeBooleanChecker())
            .AddAttribute("ActionNoise",
                          "Standard deviation of the noise on actions in [-1, 1].",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&NetworkController::m_noise),
                          MakeDoubleChecker<double>(0.0, 10.0))
            .AddAttribute("RandomShare",
                          "Share of flows whose actions are random, each held for some decisions.",
                          DoubleValue(0.0),
                          MakeDoubleAccessor(&NetworkController::m_randomShare),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

TelemetryHeader
NetworkController::GetTelemetryHeader() const
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
