// SPDX-License-Identifier: GPL-2.0-or-later
// HPCC by one byte of telemetry, the switches' own average of the busiest hop's utilisation (PINT).
#include "hpcc.h"

#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/rdma/telemetry/utilisation-byte.h"

namespace ns3::env::rdma
{

/// HPCC (Li 2019) with the telemetry of PINT (Ben Basat et al., SIGCOMM 2020, sec. 4.3 and 6.1): switches average, a packet
/// carries the largest of them in one byte, and the sender uses it as it is. Only a share of the packets is read, the
/// same ones at all switches by a hash of the packet's number: the byte of other packets is free for other queries.
class HpccPint : public Hpcc
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = Declaration<HpccPint, Hpcc>("rdma::hpcc-pint")
                                .Number("Frequency",
                                        "p: the share of packets whose byte is read (the paper's "
                                        "Figs. 7 and 8: 1, 1/16 and 1/256).",
                                        &HpccPint::m_frequency,
                                        {1.0, 1e-6, 1.0});
        return tid;
    }

    IntRequest GetIntRequest() const override { return {.wireBytes = 1, .oneByte = true}; }

    void OnAck(FlowState& flow, const AckSample& ack) override
    {
        if (ack.hops.empty() || !IsRead(flow, ack))
        {
            return;
        }
        if (!m_begun)
        {
            m_begun = true;
            BeginWindow(flow);
        }
        ReactTo(flow, utilisation_byte::Decode(ack.hops.front().flows));
    }

  private:
    bool IsRead(const FlowState& flow, const AckSample& ack) const
    {
        // Fibonacci hashing of the packet's number: the middle bits of it times 2^64 over the golden ratio.
        constexpr uint64_t FACTOR = 0x9e3779b97f4a7c15;
        const uint64_t number = ack.ackedBytes / flow.Path().payloadBytes + flow.Id();
        const uint64_t mixed = (number * FACTOR) ^ ((number * FACTOR) >> 32);
        return static_cast<double>((mixed * FACTOR) >> 11) * 0x1p-53 < m_frequency;
    }

    double m_frequency; ///< attribute Frequency
    bool m_begun{false};
};

NS_OBJECT_ENSURE_REGISTERED(HpccPint);

} // namespace ns3::env::rdma
