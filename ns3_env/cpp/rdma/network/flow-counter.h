// SPDX-License-Identifier: GPL-2.0-or-later
// Counters of the flows that share an egress port: exact, or by timeout.
#ifndef NS3_ENV_RDMA_NETWORK_FLOW_COUNTER_H
#define NS3_ENV_RDMA_NETWORK_FLOW_COUNTER_H

#include "packet.h"

#include "ns3_env/cpp/contract/units.h"

#include <cstdint>
#include <list>
#include <unordered_map>

namespace ns3::env::rdma
{

/// Counts the flows of one egress port. Streams, which nothing steers, are none.
class FlowCounter
{
  public:
    virtual ~FlowCounter() = default;
    /// A data packet enters the queue; `packet.hop` is the port's place on the flow's path.
    virtual void OnEnqueue(const Packet& packet, Picos now) = 0;
    /// It leaves, after the count was written into it.
    virtual void OnDequeue(const Packet& packet) = 0;
    virtual uint32_t Count(Picos now) = 0;
};

/**
 * A flow counts from its first packet's arrival until its last packet leaves (Zhang 2023, Algorithm 2).
 * The switch's table of flows is one bit per hop, kept in the flow.
 */
class ExactFlowCounter final : public FlowCounter
{
  public:
    void OnEnqueue(const Packet& packet, Picos now) override;
    void OnDequeue(const Packet& packet) override;
    uint32_t Count(Picos now) override;

  private:
    uint32_t m_flows{0};
};

/// A flow counts until no packet of it came for `timeout` (Zheng 2024, App. A.1).
class TimeoutFlowCounter final : public FlowCounter
{
  public:
    explicit TimeoutFlowCounter(Picos timeout);
    void OnEnqueue(const Packet& packet, Picos now) override;
    void OnDequeue(const Packet& packet) override;
    uint32_t Count(Picos now) override;

  private:
    struct Entry
    {
        uint32_t flow;
        Picos seen;
    };

    Picos m_timeout;
    std::list<Entry> m_bySeen; ///< latest first
    std::unordered_map<uint32_t, std::list<Entry>::iterator> m_entries;
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_NETWORK_FLOW_COUNTER_H
