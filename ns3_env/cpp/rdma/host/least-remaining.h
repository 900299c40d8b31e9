// SPDX-License-Identifier: GPL-2.0-or-later
// Ports that serve the flow with the least remaining bytes (pFabric, Alizadeh 2013).
#pragma once

#include "nic.h"
#include "shortest-flows.h"

#include "ns3_env/cpp/rdma/link/packet.h"
#include "ns3_env/cpp/rdma/switch/switch.h"

#include <queue>
#include <unordered_map>
#include <vector>

namespace ns3::env::rdma
{

/// ACKs and NACKs first; then data of the flow with the fewest remaining bytes, within a flow in order of arrival. A
/// flow's remaining bytes here are those from its first packet here on. Flows with equal bytes are served in the order
/// of these packets; endless ones and streams are last.
class LeastRemainingQueue
{
  public:
    bool IsEmpty() const { return m_answers.IsEmpty() && m_flows.empty(); }
    /// Adds a packet in O(log flows), as Pop().
    void Push(Packet* packet);
    /// Removes the next packet; null if there is none.
    Packet* Pop();

  private:
    struct Waiting
    {
        uint64_t remaining;
        uint64_t order; ///< in which the first packet arrived, or became the first
        const WireFlow* flow;

        bool operator>(const Waiting& other) const
        {
            return remaining != other.remaining ? remaining > other.remaining : order > other.order;
        }
    };

    void Wait(const Packet& first)
    {
        m_flows.push({first.flow->RemainingFrom(first.sequence), m_order++, first.flow});
    }

    PacketFifo m_answers;
    std::unordered_map<const WireFlow*, PacketFifo> m_packets; ///< by flow with packets here
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> m_flows;
    uint64_t m_order{0};
};

/// A switch's port with a LeastRemainingQueue. Its buffer is never full, so it is never paused.
class LeastRemainingPort final : public SwitchPort
{
  public:
    static TypeId GetTypeId();

    LeastRemainingPort(NetworkContext& network, Switch& owner, uint32_t nodeId, uint32_t index)
        : SwitchPort(network, owner, nodeId, index)
    {
        QueueAll();
    }

    void Kick() override { KickAs(*this); }

  private:
    friend Port;
    Packet* Dequeue(Picos now);
    Picos NextReady(Picos now) const
    {
        return m_waiting.IsEmpty() ? SwitchPort::NextReady(now) : now;
    }

    LeastRemainingQueue m_waiting;
};

/// A network card that serves, of the flows that may send, the one with the fewest bytes left; in turn if there are
/// several.
class LeastRemainingNic final : public Nic
{
  public:
    static TypeId GetTypeId();

    using Nic::Nic;

    void AddFlow(QueuePair& flow) override;
    void RemoveFlow(QueuePair& flow) override { m_shortest.Remove(flow); }

    void Kick() override { KickAs(*this); }

  private:
    friend Port;
    Packet* Dequeue(Picos now);
    Picos NextReady(Picos now) { return m_acks.IsEmpty() ? m_shortest.NextReady(now) : now; }
    void OnReadiness(const QueuePair& flow) override { m_shortest.OnChange(flow); }

    ShortestFlows m_shortest;
};

} // namespace ns3::env::rdma
