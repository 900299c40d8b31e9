// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a TCP connection that receives a message: order, ACKs at once or delayed, SACK blocks.
#pragma once

#include "endpoint.h"
#include "late-acks.h"
#include "reassembly.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace ns3::env::tcp
{

/// Waits for one peer and acknowledges its data.
class Receiver final : public Endpoint
{
  public:
    Receiver(Network& network,
             const TcpSettings& settings,
             Ptr<TcpCongestionOps> control,
             double lineRateBps,
             uint32_t node);

    /// Waits for the SYN on the other channel of `out`'s connection.
    void Await(Channel& out);
    /// ACKs of data wait for times that `rtts` draws, in base RTTs.
    void DelayAcks(Ptr<RandomVariableStream> rtts, Picos baseRtt)
    {
        m_late = std::make_unique<LateAcks>(m_network, rtts, baseRtt, m_node);
    }
    /// Makes it acknowledge this byte at once when all before it have arrived, as a receiver that answers does.
    void SetLastByte(uint64_t bytes) { m_lastByte = bytes; }
    /// `done` is called once, when that byte and all before it have arrived.
    void SetArrivedCallback(std::function<void()> done) { m_arrived = std::move(done); }
    /// Payload bytes that are there in order.
    uint64_t ArrivedBytes() const { return m_arrivedBytes; }

  private:
    void Process(const Segment& segment) override;
    bool IsOutOfWindow(const Segment& segment) const override;
    void CancelTimers() override;
    void OnSendsAck(Segment& segment) override;
    void Dispatch(Segment* segment) override;

    void AnswerSyn();
    void SendSynAck();
    bool UsesEcn() const { return m_tcb->m_useEcn != TcpSocketState::Off && m_peerAsksForEcn; }
    void SetUpEcn()
    {
        m_tcb->m_ecnState = UsesEcn() ? TcpSocketState::ECN_IDLE : TcpSocketState::ECN_DISABLED;
    }
    void Take(const Segment& segment);
    void OnAllArrived();
    void CountInOrder();
    void OnDelayOver();

    uint32_t m_node;
    std::unique_ptr<LateAcks> m_late; ///< null: no ACK is delayed
    Reassembly m_reassembly;
    Timer m_delayed;
    Timer m_answer; ///< a SYN is answered in a separate event
    Timer m_again;  ///< of the SYN-ACK
    bool m_peerAsksForEcn{false};
    uint32_t m_unacknowledged{0}; ///< segments since the last ACK
    uint64_t m_lastByte{0};       ///< 0: none
    uint64_t m_arrivedBytes{0};
    std::function<void()> m_arrived;
};

} // namespace ns3::env::tcp
