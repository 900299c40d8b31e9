// SPDX-License-Identifier: GPL-2.0-or-later
// Egress of a node: its queue, the device with one more packet, and the link.
#pragma once

#include "network.h"
#include "queue.h"
#include "segment.h"

#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3_env/cpp/engine/link-schedule.h"
#include "ns3_env/cpp/engine/losses.h"
#include "ns3_env/cpp/engine/queue-stats.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ns3::env::tcp
{

class Port;

/// Observes events at ports. The segment is as it is on the link.
class PortObserver
{
  public:
    virtual ~PortObserver() = default;
    virtual void OnTaken(const Port&, const Segment&) {}    ///< by the queue
    virtual void OnMarked(const Port&, const Segment&) {}   ///< before it is taken
    virtual void OnSent(const Port&, const Segment&) {}     ///< its first bit
    virtual void OnReceived(const Port&, const Segment&) {} ///< its last bit, at the other end
    virtual void OnLost(const Port&, const Segment&, LossCause) {}
};

/// An egress port. Waiting packets are those in the queue and the one in the device that is not being transmitted yet,
/// each with its IP header and without the link's, as the queue's limit counts it. Events of one instant have the order
/// of ns-3's traffic control and point-to-point device; only those with something to do are scheduled.
class Port
{
  public:
    struct Link
    {
        double rateBps;
        Picos delay;
        Ptr<RateErrorModel> loss{};             ///< null: no loss
        std::optional<LinkSchedule> schedule{}; ///< of a link whose rate and delay change over time
    };

    Port(Network& network, uint32_t node, std::unique_ptr<PacketQueue> queue, const Link& link);

    Port(Port&&) = delete;

    void Send(Segment* segment);

    /// Keeps time-weighted statistics of the bytes that wait, from `origin` on.
    void RecordQueue(Picos origin) { m_stats.emplace(origin); }
    /// Closes the statistics at `end`.
    void Finish(Picos end);
    /// Adds an observer, which outlives the port or is removed before.
    void Add(PortObserver& observer) { m_observers.push_back(&observer); }
    void Remove(PortObserver& observer) { std::erase(m_observers, &observer); }

    const PacketQueue& Queue() const { return *m_queue; }
    uint64_t WaitingBytes() const
    {
        return m_queue->Bytes() + (m_slot != nullptr ? m_slot->ipBytes : 0);
    }
    /// Packets in the queue now, without the one that the device has already taken.
    uint32_t QueuedPackets() const;
    /// Bytes put on the link so far, including the link's header.
    uint64_t TxBytes() const { return m_txBytes; }
    uint64_t TxPackets() const { return m_txPackets; }
    /// Packets that arrived at the queue, including lost ones.
    uint64_t Offered() const { return m_offered; }
    uint64_t Marked() const { return m_marked; }
    const LossCounts& Lost() const { return m_lost; }
    /// Payload bytes of UDP's datagrams of `stream` that were lost.
    uint64_t LostOf(const FiveTuple& stream) const;
    /// Statistics of the queue; null if not recorded.
    const QueueStats* Stats() const { return m_stats ? &*m_stats : nullptr; }

  private:
    template <void (Port::*Method)()>
    class Event final : public RearmedEvent
    {
      public:
        explicit Event(Port* port)
            : m_port(port)
        {
        }

        void Fire() override { (m_port->*Method)(); }

      private:
        Port* m_port;
    };

    void RunQueue();
    void Start(Segment* segment);
    void Transmit(Segment* segment);
    void OnTransmitted();
    void OnWoken();
    void OnArrival();
    void CatchUp();
    void ArmDone();
    void Lose(LossCause cause, Segment* segment);
    /// Duration of the transmission of a frame that starts now.
    Picos TransmissionTime(uint32_t bytes);
    /// Propagation delay of the frame whose transmission ends then.
    Picos DelayOf(Picos end);
    void UpdateStats();

    Network& m_network;
    Timeline& m_timeline;
    uint32_t m_node;
    std::unique_ptr<PacketQueue> m_queue;
    DataRate m_rate;
    Link m_link;
    Segment* m_slot{nullptr}; ///< in the device; while it is set, no packet leaves the queue
    Moment m_done;            ///< when the present packet's transmission ends
    bool m_doneArmed{false};
    std::optional<Moment>
        m_wake; ///< when the queue learns that the device is free; no packet leaves it before
    Segment* m_onLinkFirst{nullptr};
    Segment* m_onLinkLast{nullptr};
    std::array<std::pair<uint32_t, Picos>, 4> m_times{}; ///< of transmission, by bytes
    uint32_t m_oldestTime{0};
    Event<&Port::OnTransmitted> m_transmitted{this};
    Event<&Port::OnWoken> m_woken{this};
    Event<&Port::OnArrival> m_arrival{this};

    uint64_t m_txBytes{0};
    uint64_t m_txPackets{0};
    uint64_t m_offered{0};
    uint64_t m_marked{0};
    std::optional<QueueStats> m_stats;
    LossCounts m_lost;
    std::unordered_map<FiveTuple, uint64_t, FiveTupleHash, SameFiveTuple> m_lostDatagrams;
    std::vector<PortObserver*> m_observers;
};

} // namespace ns3::env::tcp
