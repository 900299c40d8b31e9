// SPDX-License-Identifier: GPL-2.0-or-later
// One end of a full-duplex link: transmitter, flight, PFC state.
#pragma once

#include "network-context.h"
#include "packet.h"
#include "passage.h"

#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3_env/cpp/engine/link-schedule.h"
#include "ns3_env/cpp/engine/losses.h"
#include "ns3_env/cpp/engine/trace-source.h"
#include "ns3_env/cpp/events/now.h"
#include "ns3_env/cpp/events/reusable-event.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

namespace ns3::env::rdma
{

/// One end of a link. It remembers until when it is busy, and keeps packets in flight in a FIFO: while
/// nothing waits, transmission end and arrival are a single event, the only one pending (LinkEvents::Merged).
class Port : public Object
{
  public:
    static TypeId GetTypeId();

    Port(NetworkContext& network, uint32_t nodeId, uint32_t index);

    /// Joins two ports by a link of `rateBps` and propagation delay `delay` in both directions.
    static void Connect(Port& a, Port& b, double rateBps, Picos delay);

    /// Directs this end's packets to another part of the network.
    void SendBy(Passage& passage, uint32_t destination)
    {
        m_passage = &passage;
        m_destination = destination;
        m_leavesPart = true;
    }
    /// Prefetches memory that Expect() needs.
    void PrefetchIncoming() const { __builtin_prefetch(&m_incoming, 1); }
    /// Prefetches memory that `event`, of this port, needs.
    void PrefetchFor(const void* event) const
    {
        if (event == &m_arrivalEvent)
        {
            __builtin_prefetch(m_incoming.Front(), 1);
        }
    }
    /// A packet sent in another part will arrive here.
    void Expect(Packet* packet);

    /// Rate of the link; if it changes over time, the rate at which the last frame left.
    double RateBps() const { return m_rateBps; }
    /// Rate of the link by the topology.
    double LinkRateBps() const { return m_linkRateBps; }
    Picos Delay() const { return m_delay; }
    uint32_t NodeId() const { return m_nodeId; }
    uint32_t Index() const { return m_index; }
    Port& Peer() const { return *m_peer; }

    /// Sends if possible now, or schedules another attempt.
    virtual void Kick() = 0;

    /// Random source for this port's marks, samples and, at the end of a link, losses.
    RandomSource& Random() { return m_random; }

    /// Queues a PFC frame, of one class if there are several, ahead of everything else.
    void SendPfc(PacketKind kind, uint32_t trafficClass = 0);

    /// Queues a switch's feedback frame, a trimmed packet or its answer ahead of everything else but PFC and in a
    /// separate class, which nothing pauses.
    void SendAhead(Packet* frame);

    bool IsPaused() const { return m_obstacles.paused; }
    /// Time this port's data class was held back by the peer, up to now.
    Picos PausedTime(Picos now) const;
    uint64_t PauseFramesReceived() const { return m_pauses ? m_pauses->framesReceived : 0; }
    /// Pause frames that this end sent to its peer, a switch or a host.
    uint64_t PauseFramesSent() const { return m_pauses ? m_pauses->framesSent : 0; }
    /// Packets dropped at this port or on its link.
    LossCounts Lost() const;
    /// Bytes sent: data, ACKs and PFC frames.
    uint64_t TxBytes() const { return m_txBytes; }

    /// Enables its trace sources, which may have listeners from now on.
    void Watch()
    {
        m_obstacles.traced = true;
        m_attended = true;
    }

    /// Lets this direction of the link change its rate and delay over time.
    void SetSchedule(LinkSchedule schedule);

    /// Drops data and ACK packets towards the peer. A bit error rate replaces a filter.
    void SetLoss(const Corruption& corruption);
    // --- A link that fails, at either of its ends
    /// Stops sending; drops all packets in flight from this end, and those that wait at a switch. The peer's pause is
    /// void.
    void Fail(Picos now);
    /// Resumes sending. A switch without room for more pauses its peer again.
    void Recover(Picos now);
    bool IsDown() const { return m_outage && m_outage->down; }
    /// Drops a packet that was to leave here while the link is down, or that has no path.
    void LoseByFailure(Packet* packet) { Lose(packet, LossCause::Failure); }

    /// Loses each packet arriving at the peer for which the filter returns true (fault injection).
    void SetDropFilter(Callback<bool, const Packet&> filter);

  protected:
    /// Kick() of a kind of port, which calls its own functions without a virtual table:
    /// - `Packet* Dequeue(Picos now)`: the next data-class packet to transmit, or null; called with the transmitter free.
    /// - `Picos NextReady(Picos now)`: earliest time at which Dequeue may return a packet, NEVER if only a new event can
    ///   change that.
    /// - `LOOKS_AFTER_EACH_FRAME`: whether a look at the end of a frame may do anything though nothing waits
    ///   (LinkEvents::PerFrame).
    template <class Self>
    void KickAs(Self& self);
    /// Reports whether an arriving packet may be sent at once if no other packet waits here, without observers.
    bool IsFree(Picos now);
    /// Sends a packet that arrives at a free port without waiting packets.
    void SendAtOnce(Packet* packet, Picos now);
    /// A data, ACK or NACK packet has arrived here.
    virtual void Receive(Packet* packet) = 0;
    /// A PFC frame has arrived here.
    virtual void OnPfc(const Packet& frame);
    /// The peer pauses this port, or resumes it.
    void SetPaused(bool paused, Picos now);

    /// Reports whether a packet that this end sent arrives at its peer; counts it if it is lost instead. Only called after
    /// WatchArrivals(), or with a cause of losses set.
    virtual bool Passes(Packet* packet);
    /// Enables calls of Passes().
    void WatchArrivals() { m_peer->m_attended = true; }
    /// Called when the link fails, for waiting packets, and when it is back, for pauses of the peer.
    virtual void OnFail(Picos) {}
    virtual void OnRecover() {}

    /// Reports whether one of its trace sources has a listener.
    bool IsTraced() const { return m_obstacles.traced; }
    /// Makes every packet join the queue, as observers of the queue, or of packets that wait elsewhere, require.
    void QueueAll() { m_obstacles.queuesAll = true; }

    /// Counts a packet that is dropped before it leaves this port, and removes it from the network.
    void Lose(Packet* packet, LossCause cause) { Lose(packet, cause, m_lost, m_network); }
    /// Counts the payload of a packet that leaves without it.
    void LosePayload(const Packet& packet, LossCause cause)
    {
        CountLoss(packet, cause, m_lost, m_network);
    }

  private:
    [[gnu::always_inline]] void Transmit(Packet* packet, Picos now);
    [[gnu::always_inline]] void PutOnLink(Packet* packet, bool perFrame);
    /// Reports whether the transmitter is idle, and no tx event of its last frame is due at this instant.
    bool IsIdle(Picos now) const
    {
        return m_busyUntil < now || (m_busyUntil == now && m_armedAt != now);
    }
    void OnTransmitterFree();
    void OnArrival();
    /// Schedules the arrival behind this one if that needs no call; false if it is still to be scheduled.
    [[gnu::always_inline]] bool ArmsNextAtOnce(Timeline& timeline, const Packet& packet);
    [[gnu::noinline]] void ArmNextAndTakeIn(Packet* packet);
    /// Schedules the next arrival here.
    [[gnu::always_inline]] void ArmArrival(Picos arrival);
    // --- Arrivals behind another one, of which each has its place from its transmission on (LinkEvents::PerFrame)
    void ReserveArrival(Packet& before, Picos arrival);
    void ArmReservedArrival(const Packet& before);
    void Arm(Picos when);
    /// Reserves a place among events of its instant for the end of the present transmission, which may become an event
    /// later.
    void Reserve();
    void TakeReserved();
    bool IsLost(const Packet& packet);
    /// Counts a packet that is lost on the link: it is detected at the receiving end, possibly in another part of the
    /// network.
    void LoseOnLink(Packet* packet, LossCause cause)
    {
        Lose(packet, cause, m_lostOnLink, m_peer->m_network);
    }
    void Lose(Packet* packet,
              LossCause cause,
              std::unique_ptr<LossCounts>& counts,
              NetworkContext& network);
    void CountLoss(const Packet& packet,
                   LossCause cause,
                   std::unique_ptr<LossCounts>& counts,
                   NetworkContext& network);
    /// Reports whether an arrived packet is to be received: it is neither lost nor for the port itself.
    bool TakesIn(Packet* packet);

    /// Transmission time of a frame that leaves now: so many ps a byte, or as long as for the frame before.
    [[gnu::always_inline]] Picos TransmissionTime(const Packet& packet, Picos now);
    /// The same of a frame of another length, or on a link that changes: sets the frame's rate and delay.
    [[gnu::noinline]] Picos NewTransmissionTime(const Packet& packet, Picos now);

    /// Losses on the link by random corruption, or by a test.
    struct Hazard
    {
        double probability{0};
        Callback<bool, const Packet&> filter;
    };

    struct Pauses
    {
        Picos since{0};
        Picos total{0};
        uint64_t framesReceived{0};
        uint64_t framesSent{0};
    };

    template <class T>
    static T& Made(std::unique_ptr<T>& member)
    {
        if (!member)
        {
            member = std::make_unique<T>();
        }
        return *member;
    }

    struct Outage
    {
        bool down{false};
        Picos busyUntil{0};   ///< its value when the link failed
        uint64_t lostNext{0}; ///< frames in flight, at the head, that will not arrive
    };

    /// Why a packet cannot pass the port at once, though nothing is sent; one comparison checks all.
    struct Obstacles
    {
        bool paused : 1 {false};
        bool traced : 1 {false};    ///< a trace source is connected
        bool queuesAll : 1 {false}; ///< every packet joins the queue
        uint8_t unused : 5 {0};

        bool Any() const { return std::bit_cast<uint8_t>(*this) != 0; }
    };

    struct LastFrame
    {
        uint32_t bytes{0};
        Picos time{0};
    };

    // One cache line each: for what every look at the port reads and writes, for arrivals, for transmissions. Members
    // that few ports need are allocated on demand: a large network has many ports.
    alignas(CACHE_LINE) Picos m_busyUntil{0};
    Picos m_armedAt{NEVER}; ///< the one tx event that counts; other events in the queue are stale
    uint64_t m_reserved{0}; ///< number of its place, used only if a packet waits
    bool m_isReserved{false};
    Obstacles m_obstacles;
    bool m_leavesPart{false};  ///< m_passage
    uint32_t m_destination{0}; ///< the peer's part, if it is another
    Port* m_peer{nullptr};
    PacketFifo m_control; ///< PFC frames, then those of SendAhead()

  protected:
    NetworkContext& m_network;

  private:
    alignas(CACHE_LINE) ReusableEvent<Port, &Port::OnArrival> m_arrivalEvent;
    Flight m_incoming; ///< on the link towards this port
    uint32_t m_nodeId;
    uint16_t m_index;
    bool m_attended{false}; ///< the peer (Passes) or a trace source observes arrivals

    alignas(CACHE_LINE) uint64_t m_txBytes{0};
    Picos m_picosPerByte{0}; ///< 0 if a byte's time is no whole number, is rounded, or changes
    std::array<LastFrame, 2> m_last; ///< data, all other packets
    double m_rateBps{0};
    Picos m_delay{0};
    ReusableEvent<Port, &Port::OnTransmitterFree> m_txEvent;
    Passage* m_passage{nullptr}; ///< to the peer, if it is in another part of the network

    std::unique_ptr<Pauses> m_pauses;
    std::unique_ptr<LossCounts> m_lost;       ///< before they left
    std::unique_ptr<LossCounts> m_lostOnLink; ///< counted by the link's other end
    std::unique_ptr<Outage> m_outage;         ///< null if the link never failed
    std::unique_ptr<Hazard> m_hazard;
    std::unique_ptr<LinkSchedule> m_schedule; ///< null if the link's rate and delay are constant
    double m_linkRateBps{0};
    RandomSource& m_random;
    TraceSource<const Packet&> m_txTrace;
    TraceSource<const Packet&> m_rxTrace;
    TraceSource<const Packet&, LossCause> m_dropTrace;
    TraceSource<bool> m_pauseTrace;
};

template <class Self>
void
Port::KickAs(Self& self)
{
    const Picos now = NowPicos();
    if (m_isReserved)
    {
        TakeReserved();
    }
    if (now < m_busyUntil)
    {
        Arm(m_busyUntil);
        return;
    }
    if (!IsIdle(now))
    {
        return;
    }
    Packet* packet = m_control.Pop();
    if (packet == nullptr) [[likely]]
    {
        packet = self.Dequeue(now);
    }
    if (packet != nullptr)
    {
        Transmit(packet, now);
        if (IsTraced()) [[unlikely]]
        {
            m_txTrace(*packet);
        }
    }
    const bool perFrame = m_network.linkEvents == LinkEvents::PerFrame;
    const bool looks = Self::LOOKS_AFTER_EACH_FRAME && perFrame && packet != nullptr;
    const Picos next = looks || !m_control.IsEmpty() ? now : self.NextReady(now);
    if (next != NEVER)
    {
        Arm(std::max(next, m_busyUntil));
    }
    else if (perFrame && packet != nullptr)
    {
        Reserve();
    }
    if (packet != nullptr)
    {
        PutOnLink(packet, perFrame);
    }
}

inline bool
Port::IsFree(Picos now)
{
    if (m_isReserved)
    {
        TakeReserved();
    }
    return IsIdle(now) && !m_obstacles.Any() && m_control.IsEmpty();
}

inline void
Port::SendAtOnce(Packet* packet, Picos now)
{
    Transmit(packet, now);
    const bool perFrame = m_network.linkEvents == LinkEvents::PerFrame;
    if (perFrame)
    {
        Reserve();
    }
    PutOnLink(packet, perFrame);
}

inline void
Port::Arm(Picos when)
{
    if (when < m_armedAt)
    {
        m_armedAt = when;
        m_txEvent.ArmFor(when);
    }
}

inline Picos
Port::TransmissionTime(const Packet& packet, Picos now)
{
    if (m_picosPerByte != 0) [[likely]]
    {
        return m_picosPerByte * packet.wireBytes;
    }
    const LastFrame& last = m_last[packet.kind == PacketKind::Data ? 0 : 1];
    return packet.wireBytes == last.bytes ? last.time : NewTransmissionTime(packet, now);
}

inline void
Port::Transmit(Packet* packet, Picos now)
{
    m_busyUntil = now + TransmissionTime(*packet, now);
    m_txBytes += packet->wireBytes;
    m_network.packetHops += packet->flow != nullptr ? 1 : 0;
}

inline void
Port::ArmArrival(Picos arrival)
{
    if (m_network.linkEvents == LinkEvents::MergedByPort) [[unlikely]]
    {
        Timeline::Current()->ArmAt(m_arrivalEvent, {arrival, m_index}, m_nodeId);
        return;
    }
    m_arrivalEvent.ArmFor(arrival);
}

inline void
Port::PutOnLink(Packet* packet, bool perFrame)
{
    const Picos arrival = m_busyUntil + m_delay;
    if (m_leavesPart) [[unlikely]]
    {
        m_passage->Put(m_destination, *m_peer, packet, arrival);
        return;
    }
    Packet* before = m_peer->m_incoming.Push(packet, arrival);
    if (before == nullptr)
    {
        m_peer->ArmArrival(arrival);
    }
    else if (perFrame)
    {
        m_peer->ReserveArrival(*before, arrival);
    }
}

} // namespace ns3::env::rdma
