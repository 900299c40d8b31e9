// SPDX-License-Identifier: GPL-2.0-or-later
// Network card of a network with several traffic classes: ACKs, flows and pauses of each.
#pragma once

#include "class-pauses.h"
#include "class-scheduler.h"

#include "ns3_env/cpp/rdma/host/nic.h"

#include <vector>

namespace ns3::env::rdma
{

/// A network card that serves classes as switches do; within one, ACKs first and then flows in turn.
class ClassNic final : public Nic
{
  public:
    static TypeId GetTypeId();

    /// \param frameBytes the longest frame
    ClassNic(NetworkContext& network,
             uint32_t nodeId,
             const std::vector<TrafficClass>& classes,
             uint32_t frameBytes);

    void AddFlow(QueuePair& flow) override;
    void RemoveFlow(QueuePair& flow) override { m_queues[flow.Class()].flows.Remove(flow); }
    const ClassPauses& Pauses() const { return m_pauses; }
    bool HoldsBack(const QueuePair& flow) const override { return m_pauses.Of(flow.Class()); }
    Picos HeldBackFor(const QueuePair& flow, Picos now) const override
    {
        return m_pauses.Time(flow.Class(), now);
    }

    void Kick() override;

  private:
    friend Port;
    Packet* Dequeue(Picos now);
    Picos NextReady(Picos now) const;
    void OnPfc(const Packet& frame) override;
    void OnReadiness(const QueuePair& flow) override
    {
        m_queues[flow.Class()].flows.OnChange(flow);
    }
    void OnFail(Picos now) override { m_pauses.ReleaseAll(now); }

    struct Queue
    {
        PacketFifo acks;
        ReadyFlows flows;
    };

    std::vector<Queue> m_queues;
    ClassScheduler m_scheduler;
    ClassPauses m_pauses;
};

} // namespace ns3::env::rdma
