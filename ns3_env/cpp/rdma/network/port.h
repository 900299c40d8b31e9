// SPDX-License-Identifier: GPL-2.0-or-later
// One end of a full-duplex link: transmitter, flight, PFC state.
#ifndef NS3_ENV_RDMA_NETWORK_PORT_H
#define NS3_ENV_RDMA_NETWORK_PORT_H

#include "packet.h"

#include "ns3/callback.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"
#include "ns3_env/cpp/engine/losses.h"
#include "ns3_env/cpp/engine/reusable-event.h"

namespace ns3::env::rdma
{

/**
 * One end of a link. It remembers until when it is busy, and keeps packets in flight in a FIFO: while
 * nothing waits, transmission end and arrival are a single event, the only one pending (LinkEvents::Merged).
 */
class Port : public Object
{
  public:
    static TypeId GetTypeId();

    Port(NetworkContext& network, uint32_t nodeId, uint32_t index);

    /// Joins two ports by a link of `rateBps` and propagation delay `delay`, both ways.
    static void Connect(Port& a, Port& b, double rateBps, Picos delay);

    double RateBps() const { return m_rateBps; }
    Picos Delay() const { return m_delay; }
    uint32_t NodeId() const { return m_nodeId; }
    uint32_t Index() const { return m_index; }
    Port& Peer() const { return *m_peer; }

    /// Sends what can be sent now, or makes sure the port looks again when it can.
    void Kick();

    /// Queues a PFC frame ahead of everything else.
    void SendPfc(PacketKind kind);

    /// Queues a switch's feedback frame ahead of everything else but PFC: a class of its own, which nothing pauses.
    void SendNotification(Packet* frame);

    bool IsPaused() const { return m_paused; }
    /// Time this port's data class was held back by the peer, up to now.
    Picos PausedTime(Picos now) const;
    uint64_t PauseFramesReceived() const { return m_pauseFramesReceived; }
    /// Pause frames that this end sent to its peer, a switch or a host.
    uint64_t PauseFramesSent() const { return m_pauseFramesSent; }
    /// Packets that were on their way through this port, or on its link, and do not arrive.
    const LossCounts& Lost() const { return m_lost; }
    /// Bytes sent: data, ACKs and PFC frames.
    uint64_t TxBytes() const { return m_txBytes; }

    /// Loses each data or ACK packet arriving at the peer with this probability.
    void SetLoss(double probability);
    /// Loses each packet arriving at the peer for which the filter returns true (fault injection).
    void SetDropFilter(Callback<bool, const Packet&> filter);

  protected:
    /// The next data-class packet to transmit at `now`, or null. Called with the transmitter free.
    virtual Packet* Dequeue(Picos now) = 0;
    /// Earliest time at which Dequeue may return a packet, NEVER if only a new event can change that.
    virtual Picos NextReady(Picos now) = 0;
    /// A data, ACK or NACK packet has arrived here.
    virtual void Receive(Packet* packet) = 0;

    /// Counts a lost packet and takes it off the network.
    void Lose(Packet* packet, LossCause cause);

    NetworkContext& m_network;

  private:
    void Transmit(Packet* packet, Picos now);
    void OnTransmitterFree();
    void OnArrival();
    void Arm(Picos when, Picos now);
    bool IsLost(const Packet& packet);
    void SetPaused(bool paused, Picos now);

    uint32_t m_nodeId;
    uint32_t m_index;
    Port* m_peer{nullptr};
    double m_rateBps{0};
    Picos m_delay{0};

    Picos m_busyUntil{0};
    Picos m_armedAt{NEVER}; ///< the one tx event that counts; others in the queue are stale
    uint32_t m_cachedBytes{0};
    Picos m_cachedTime{0};
    PacketFifo m_control; ///< PFC frames, then feedback frames
    PacketFifo m_flight;
    uint64_t m_txBytes{0};

    bool m_paused{false};
    Picos m_pausedSince{0};
    Picos m_pausedTotal{0};
    uint64_t m_pauseFramesReceived{0};
    uint64_t m_pauseFramesSent{0};

    LossCounts m_lost;
    bool m_lossy{false}; ///< there is a loss probability or a filter
    double m_lossProbability{0};
    Callback<bool, const Packet&> m_dropFilter;

    ReusableEvent<Port, &Port::OnTransmitterFree> m_txEvent;
    ReusableEvent<Port, &Port::OnArrival> m_arrivalEvent;

    TracedCallback<const Packet&> m_txTrace;
    TracedCallback<const Packet&> m_rxTrace;
    TracedCallback<const Packet&, LossCause> m_dropTrace;
    TracedCallback<bool> m_pauseTrace;
};

} // namespace ns3::env::rdma

#endif // NS3_ENV_RDMA_NETWORK_PORT_H
