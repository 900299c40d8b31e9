// SPDX-License-Identifier: GPL-2.0-or-later
// ns-3's TCP socket with a flow's ports and settings, and with counts.
#ifndef NS3_ENV_TEST_TCP_STOCK_FLOW_SOCKET_H
#define NS3_ENV_TEST_TCP_STOCK_FLOW_SOCKET_H

#include "ns3/node.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3_env/cpp/engine/rtt-samples.h"
#include "ns3_env/cpp/routing/ecmp.h"
#include "ns3_env/cpp/tcp/network/tcp-settings.h"
#include "ns3_env/cpp/tcp/socket/sender.h"

#include <cstdint>
#include <functional>

namespace ns3::env::tcp::stock
{

/**
 * A TCP socket of ns-3's with all its settings its own (no default of the process is written or read), on ports that
 * are given, and with counts. TCP itself is ns-3's.
 */
class FlowSocket : public TcpSocketBase
{
  public:
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override { return GetTypeId(); }

    /// A socket at `node` with a link of `lineRateBps`: it is never paced faster.
    static Ptr<FlowSocket> Make(Ptr<Node> node,
                                const TcpSettings& settings,
                                Ptr<TcpCongestionOps> ops,
                                double lineRateBps);

    /// Sends a SYN from the source of `tuple` to its destination.
    void Dial(const FiveTuple& tuple);
    /// Waits at the destination of `tuple` for its source, and no other.
    void Await(const FiveTuple& tuple);
    /// Called for each ACK that acknowledges something.
    void SetAcknowledgedCallback(std::function<void()> called)
    {
        m_acknowledgedCallback = std::move(called);
    }
    /// Makes a receiver acknowledge this byte at once when all before it have arrived, as a receiver that answers does.
    void SetLastByte(uint64_t bytes) { m_lastByte = bytes; }
    /// Ends all activity without a packet to the other end; idempotent.
    void Release();

    const SenderCounts& Counts() const { return m_counts; }
    /// Counts().acknowledgedBytes is brought up to date while an ACK is processed.
    uint64_t AcknowledgedBytes();
    /// RTTs of data, at most one per ACK: of the last segment that it acknowledges, unless that was retransmitted.
    const RttSamples& Rtts() const { return m_rtts; }
    bool IsConnected() const { return m_state.Get() == ESTABLISHED; }

  protected:
    /// @name ns3::TcpSocketBase
    /// @{
    uint32_t SendDataPacket(SequenceNumber32 first, uint32_t most, bool withAck) override;
    void SendEmptyPacket(uint8_t flags) override;
    void ReceivedAck(Ptr<Packet> packet, const TcpHeader& header) override;
    void ReceivedData(Ptr<Packet> packet, const TcpHeader& header) override;
    Time CalculateRttSample(const TcpHeader& header, const RttHistory& history) override;
    void EstimateRtt(const TcpHeader& header) override;
    void ReTxTimeout() override;
    Ptr<TcpSocketBase> Fork() override;
    void CompleteFork(Ptr<Packet> packet,
                      const TcpHeader& header,
                      const Address& from,
                      const Address& to) override;
    /// @}

  private:
    void Configure(const TcpSettings& settings, double lineRateBps);
    void Allocate(uint32_t address, uint16_t port, uint32_t peer, uint16_t peerPort);

    std::function<void()> m_acknowledgedCallback;
    SenderCounts m_counts;
    RttSamples m_rtts;
    SequenceNumber32 m_acknowledged{1}; ///< the SYN has the number before
    uint64_t m_lastByte{0};             ///< 0: none
    uint64_t m_arrivedBytes{0};         ///< in order
    Time m_sample;                      ///< the latest that was calculated
    uint32_t m_syns{0};
};

} // namespace ns3::env::tcp::stock

#endif // NS3_ENV_TEST_TCP_STOCK_FLOW_SOCKET_H
