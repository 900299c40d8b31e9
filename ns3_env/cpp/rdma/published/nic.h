// SPDX-License-Identifier: GPL-2.0-or-later
// Network card of the published simulator: its order of sending, and its one timer.
#pragma once

#include "ns3_env/cpp/events/reusable-event.h"
#include "ns3_env/cpp/rdma/host/nic.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace ns3::env::rdma::published
{

/// The one timer of a network card. It is armed when the card finds nothing to
/// send, for the earliest pacing time among all flows with bytes left, flows with a closed window included.
/// If that time has passed already, nothing is armed, and a paced flow next to such a flow waits for the next ACK. A
/// pending timer stays where it is, except that a repaced flow (HPCC) moves it forward.
class WakeUp
{
  public:
    WakeUp(std::function<void()> look, uint32_t node)
        : m_look(std::move(look)),
          m_event(this, node)
    {
    }

    /// Called when no flow can send now; `earliest` is the earliest pacing time of the flows with bytes left, or NEVER.
    void OnIdle(Picos earliest, Picos now)
    {
        if (earliest > now && earliest < NEVER && !m_pending)
        {
            Arm(earliest, now);
        }
    }

    /// A flow's waiting packet was moved to `when`.
    void OnRepaced(Picos when, Picos now)
    {
        if (m_pending && when < m_place.time)
        {
            Arm(std::max(when, now), now);
        }
    }

  private:
    void Arm(Picos when, Picos now)
    {
        m_place = m_event.Arm(when - now);
        m_pending = true;
    }

    void OnTime()
    {
        const Timeline* timeline = Timeline::Current();
        const Moment here = timeline != nullptr ? timeline->Here() : Moment{NowPicos(), 0};
        if (m_pending && here == m_place)
        {
            m_pending = false;
            m_look();
        }
    }

    std::function<void()> m_look;
    ReusableEvent<WakeUp, &WakeUp::OnTime> m_event;
    Moment m_place{}; ///< of the one event that counts: earlier ones are obsolete
    bool m_pending{false};
};

/// A network card with one timer (WakeUp), on which a pause stops ACKs only under some controllers
/// (docs/sources/published-simulator.md, "Bytes on the wire"), and whose turn is a place in the list of
/// flows that is not counted back for those that have left it. A flow with more acknowledged than sent is blocked by its
/// window; without one it sends the rest again, even when it has ended.
class Nic final : public rdma::Nic
{
  public:
    static TypeId GetTypeId();

    Nic(NetworkContext& network, uint32_t nodeId, bool acksPassPause);

    void AddFlow(QueuePair& flow) override { m_list.push_back(&flow); }
    void RemoveFlow(QueuePair& flow) override;
    // One of several instances of KickAs: inlining of its calls must be requested.
    [[gnu::flatten]] void Kick() override { KickAs(*this); }

  private:
    friend Port;
    Packet* Dequeue(Picos now);
    Picos NextReady(Picos now);
    void OnRepaced(const QueuePair& flow, Picos now) override
    {
        m_wakeUp.OnRepaced(flow.NextAvailable(), now);
    }

    /// Reports whether a flow has bytes left, an open window and no pause.
    bool MaySend(const QueuePair& flow) const;
    /// Reports whether a list entry is empty or of an ended flow, which may then be destroyed.
    static bool Leave(QueuePair* flow);
    /// The flow whose turn it is, or null; closes the gaps of ended flows.
    QueuePair* NextFlow(Picos now);
    /// Reports whether an ACK or NACK is in the high-priority queue. One preset fits all flows of a run there.
    bool PassesPause(const Packet& ack) const;

    std::vector<QueuePair*> m_list; ///< in the order they started; null for a flow that has left
    size_t m_served{0};             ///< index of the flow served last
    WakeUp m_wakeUp;
    bool m_acksPassPause; ///< for all controllers
    TypeId m_dcqcn;
    TypeId m_timely;
};

} // namespace ns3::env::rdma::published
