// SPDX-License-Identifier: GPL-2.0-or-later
// Network card of a host: sends ACKs first, then its queue pairs' packets in turn.
#pragma once

#include "ready-flows.h"

#include "ns3_env/cpp/rdma/link/port.h"

namespace ns3::env::rdma
{

/// A host's network card: the host end of its one link.
class Nic : public Port
{
  public:
    static TypeId GetTypeId();

    Nic(NetworkContext& network, uint32_t nodeId);

    virtual void AddFlow(QueuePair& flow);
    virtual void RemoveFlow(QueuePair& flow);
    /// Call after everything that may write a flow's window or rate: its waiting packet may have moved, and a
    /// change is reported by the trace source "WindowAndRate".
    void TakeWindowAndRate(QueuePair& flow, Picos now);
    /// Call after any other change that lets a flow send sooner or later.
    void TakeReadiness(const QueuePair& flow)
    {
        if (m_tellsReadiness) [[unlikely]]
        {
            OnReadiness(flow);
        }
    }

    /// Queues an answer to a flow that is received here behind waiting ones.
    void Send(Packet* answer);
    NetworkContext& Network() { return m_network; }
    /// Reports whether a pause blocks this flow, and for how long pauses have so far: the port's, of one class.
    virtual bool HoldsBack(const QueuePair&) const { return IsPaused(); }
    virtual Picos HeldBackFor(const QueuePair&, Picos now) const { return PausedTime(now); }

    /// Payload bytes of data packets that arrived here, duplicates included.
    uint64_t DeliveredPayload() const { return m_deliveredPayload; }

    void Kick() override { KickAs(*this); }

  protected:
    friend Port;
    Packet* Dequeue(Picos now);
    Picos NextReady(Picos now) const;
    void Receive(Packet* packet) override;

    /// The next packet of a flow that is ready.
    Packet* Take(QueuePair& flow, Picos now);
    /// Called when a flow's waiting packet was moved (FlowState::SetRateAndRepace); the card checks again in any case.
    virtual void OnRepaced(const QueuePair&, Picos) {}

    /// A flow may be ready at another time than it was.
    virtual void OnReadiness(const QueuePair& flow) { m_flows.OnChange(flow); }

    static constexpr bool LOOKS_AFTER_EACH_FRAME = true;

    PacketFifo m_acks;
    ReadyFlows m_flows;
    bool m_tellsReadiness{false}; ///< whether OnReadiness() is called

  private:
    uint64_t m_deliveredPayload{0};
    TraceSource<const FlowState&, Picos> m_windowTrace;
};

} // namespace ns3::env::rdma
