// SPDX-License-Identifier: GPL-2.0-or-later
// The part of a flow that links and switches read and write.
#pragma once

#include "steered-flow.h"

#include "ns3_env/cpp/engine/flow.h"

#include <atomic>
#include <memory>

namespace ns3::env::rdma
{

class SwitchPort;
struct NetworkContext;

/// A flow as its packets carry it through the network. Hosts know it as a QueuePair.
class WireFlow : public Flow
{
  public:
    /// Reports whether it is a stream, which sends by a timetable only.
    bool IsOpenLoop() const { return m_isOpenLoop; }
    /// Index of its traffic class; 0 if there is one.
    uint32_t Class() const { return m_class; }
    /// Bytes from there to the message's end; for endless flows a constant, larger than that of any other flow.
    uint64_t RemainingFrom(uint64_t sequence) const
    {
        return m_sizeBytes == ENDLESS_BYTES ? ENDLESS_BYTES : m_sizeBytes - sequence;
    }
    /// The port by which the switch at `hop` sends feedback about a data packet to the source: the packet's ingress
    /// port.
    virtual SwitchPort& TowardsSource(uint8_t hop) const = 0;

    /// Its state if switches choose its packets' paths; null if it has routes.
    SteeredFlow* Steered() const { return m_steered.get(); }
    const PacketOrder* Order() const override { return m_steered ? &m_steered->Order() : nullptr; }

    /// Counts packets about this flow, in either direction, that entered the network (or, negative, were dropped or
    /// consumed).
    void CountPackets(int change) { m_packetsOut += static_cast<uint32_t>(change); }
    /// Context of the part of the network that it is sent from.
    const NetworkContext* Home() const { return m_home; }
    /// Packets of this flow that are on the network; while there are any, the object must live.
    uint32_t PacketsOnNetwork() const { return m_packetsOut; }
    bool IsOnNetwork() const override { return m_packetsOut > 0; }

    void OnDataLost(uint32_t payloadBytes)
    {
        m_lost.fetch_add(payloadBytes, std::memory_order_relaxed);
    }
    /// Payload bytes that the network lost, including retransmissions.
    uint64_t LostBytes() const { return m_lost; }

    /// Sets the flow's bit in the table of the switch at `hop`; true if it was not set.
    bool MarkCounted(uint8_t hop)
    {
        const uint32_t bit = 1U << hop;
        const bool fresh = (m_countedHops.load(std::memory_order_relaxed) & bit) == 0;
        if (fresh)
        {
            m_countedHops.fetch_or(bit, std::memory_order_relaxed);
        }
        return fresh;
    }

    /// Clears it; true if it was set.
    bool ClearCounted(uint8_t hop)
    {
        const uint32_t bit = 1U << hop;
        return (m_countedHops.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0;
    }

  protected:
    explicit WireFlow(uint32_t trafficClass)
        : m_class(static_cast<uint8_t>(trafficClass))
    {
    }

    uint32_t m_packetsOut{0};
    std::atomic<uint32_t> m_countedHops{
        0}; ///< a bit per switch of the path; their parts run concurrently
    const NetworkContext* m_home{nullptr};
    bool m_isOpenLoop{false};
    std::unique_ptr<SteeredFlow> m_steered;

  private:
    uint8_t m_class;
    std::atomic<uint64_t> m_lost{0};
};

} // namespace ns3::env::rdma
