// SPDX-License-Identifier: GPL-2.0-or-later
// One message by TCP: both ends of its connection, from the SYN to the last byte's ACK.
#ifndef NS3_ENV_TCP_NETWORK_TCP_FLOW_H
#define NS3_ENV_TCP_NETWORK_TCP_FLOW_H

#include "flow-socket.h"
#include "tcp-settings.h"

#include "ns3/event-id.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/engine/flow-spec.h"
#include "ns3_env/cpp/engine/flow.h"
#include "ns3_env/cpp/routing/ecmp.h"

#include <cstdint>
#include <functional>

namespace ns3::env::tcp
{

class Steered;

/// The two ends of a flow, made and not yet started.
struct SocketPair
{
    Ptr<FlowSocket> sender;
    Ptr<FlowSocket> receiver;
};

/**
 * A message (or an endless one) on a connection of its own. It begins with the handshake and is over when the last byte
 * is acknowledged; nothing waits for a FIN, so none is sent. Of the sender's socket every trace source of ns-3's may be
 * listened to: "CongestionWindow", "PacingRate", "RttSample", ...
 *
 * Made by Fabric::Connect; destroyed while the simulation is, not in its own callback.
 */
class TcpFlow final : public Flow
{
  public:
    /// \param path is read as long as the flow lives
    TcpFlow(const FlowSpec& spec, const FiveTuple& tuple, PathFacts path, SocketPair sockets);
    ~TcpFlow() override;

    /// `controller` steers it through `socket`, the sender's congestion operations; before it starts.
    void SetController(Ptr<CongestionControl> controller, Steered& socket);
    /// Called when the flow is destroyed.
    void SetGoneCallback(std::function<void(const TcpFlow&)> gone) { m_gone = std::move(gone); }
    /// `report` is called with window and rate as they are, and at each change.
    void TraceWindowAndRate(std::function<void(const FlowState&)> report);

    /// @name Flow
    /// @{
    /// Sends the SYN at the flow's start time, or now where that has passed.
    void Start() override;
    /// Ends it where it stands: no callback, no further packet.
    void Abort() override;
    void SetHeld(bool held) override { m_sender->SetHeld(held); }
    void WindowAndRateWritten() override;
    Object& Controller() const override;
    /// What is on the network needs no flow.
    bool IsOnNetwork() const override { return false; }
    Picos EndTime() const override { return m_end; } ///< -1: unfinished
    uint64_t TransmittedBytes() const override { return m_sender->Counts().sentBytes; }
    uint64_t RetransmittedBytes() const override { return m_sender->Counts().retransmittedBytes; }
    uint64_t ReceivedBytes() const override { return m_received; }
    uint64_t Timeouts() const override { return m_sender->Counts().timeouts; }
    Picos PauseTime() const override { return 0; }
    const RttSamples* Rtts() const override { return &m_sender->Rtts(); }
    /// @}

    const FlowSpec& Spec() const { return m_spec; }
    const FiveTuple& Tuple() const { return m_tuple; }
    bool IsFinished() const { return m_end >= 0; }
    uint64_t TransmittedPackets() const { return m_sender->Counts().packets; }

    FlowSocket& Sender() const { return *m_sender; }
    FlowSocket& Receiver() const { return *m_receiver; }

  private:
    void Open();
    void Fill();
    void OnAcknowledged();
    void CallHook(const std::function<void()>& hook);
    void PassAck();
    void ApplyWindowAndRate();
    uint32_t SegmentsOfWindow() const;
    double PayloadBps() const;
    void ReportWindowAndRate();

    FlowSpec m_spec;
    FiveTuple m_tuple;
    PathFacts m_facts;
    Ptr<FlowSocket> m_sender;
    Ptr<FlowSocket> m_receiver;
    Ptr<CongestionControl> m_controller; ///< null: the socket's own
    std::function<void(const TcpFlow&)> m_gone;
    std::function<void(const FlowState&)> m_report;
    EventId m_start;
    uint64_t m_written{0};
    uint64_t m_received{0};
    Picos m_end{-1};
    bool m_inHook{false};
};

} // namespace ns3::env::tcp

#endif // NS3_ENV_TCP_NETWORK_TCP_FLOW_H
