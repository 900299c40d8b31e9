// SPDX-License-Identifier: GPL-2.0-or-later
// One message by TCP: both ends of its connection, from the SYN to the last byte's ACK.
#pragma once

#include "receiver.h"
#include "sender.h"

#include "ns3/event-id.h"
#include "ns3_env/cpp/contract/congestion-control.h"
#include "ns3_env/cpp/engine/flow-spec.h"
#include "ns3_env/cpp/engine/flow.h"
#include "ns3_env/cpp/routing/ecmp.h"
#include "ns3_env/cpp/tcp/network/network.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace ns3::env::tcp
{

class Steered;

/// The two ends of a flow that has not started yet.
struct EndpointPair
{
    std::unique_ptr<Sender> sender;
    std::unique_ptr<Receiver> receiver;
};

/// A message (or an endless one) on a separate connection. It starts with the handshake and is over when the last byte
/// is acknowledged; nothing waits for a FIN, so none is sent. Of the sender's variables every trace source of ns-3's can
/// be connected: "CongestionWindow", "PacingRate", ...
///
/// Made by Fabric::Connect; destroyed while the simulation is, not in its own callback.
class TcpFlow final : public Flow
{
  public:
    /// \param network outlives the flow
    TcpFlow(const FlowSpec& spec,
            Network& network,
            const FiveTuple& tuple,
            PathFacts path,
            EndpointPair ends);
    ~TcpFlow() override;

    /// `controller` steers it through `socket`, the sender's congestion operations; before it starts.
    void SetController(Ptr<CongestionControl> controller, Steered& socket);
    /// `report` is called with window and rate as they are, and at each change.
    void TraceWindowAndRate(std::function<void(const FlowState&)> report);

    // --- Flow
    /// Sends the SYN at the flow's start time, or now if that has passed.
    void Start() override;
    void AwaitDelivery(DeliveryListener& listener) override
    {
        m_receiver->SetArrivedCallback([this, &listener] { listener.OnDelivered(*this); });
    }
    /// Ends it at once: no callback, no further packet.
    void Abort() override;
    void SetHeld(bool held) override { m_sender->SetHeld(held); }
    void WindowAndRateWritten() override;
    Object& Controller() const override
    {
        return m_controller ? static_cast<Object&>(*m_controller) : m_sender->CongestionOps();
    }
    /// Always false: packets on the network need no flow.
    bool IsOnNetwork() const override { return false; }
    Picos EndTime() const override { return m_end; } ///< -1: unfinished
    uint64_t TransmittedBytes() const override { return m_sender->Counts().sentBytes; }
    uint64_t RetransmittedBytes() const override { return m_sender->Counts().retransmittedBytes; }
    uint64_t ReceivedBytes() const override { return m_receiver->ArrivedBytes(); }
    uint64_t Timeouts() const override { return m_sender->Counts().timeouts; }
    Picos PauseTime() const override { return 0; }
    const RttSamples* Rtts() const override { return &m_sender->Rtts(); }

    const FlowSpec& Spec() const { return m_spec; }
    const FiveTuple& Tuple() const { return m_tuple; }
    bool IsFinished() const { return m_end >= 0; }
    uint64_t TransmittedPackets() const { return m_sender->Counts().packets; }

    tcp::Sender& Sender() const { return *m_sender; }

  private:
    void Open();
    void OnAcknowledged();
    void CallHook(const std::function<void()>& hook);
    void PassAck();
    void ApplyWindowAndRate();
    uint32_t SegmentsOfWindow() const;
    double PayloadBps() const;
    void ReportWindowAndRate();

    FlowSpec m_spec;
    Network& m_network;
    FiveTuple m_tuple;
    PathFacts m_facts;
    std::unique_ptr<tcp::Sender> m_sender;
    std::unique_ptr<Receiver> m_receiver;
    Ptr<CongestionControl> m_controller; ///< null: the socket's own
    std::function<void(const FlowState&)> m_report;
    EventId m_start;
    Picos m_end{-1};
    bool m_inHook{false};
};

} // namespace ns3::env::tcp
