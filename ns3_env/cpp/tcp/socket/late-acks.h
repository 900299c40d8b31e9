// SPDX-License-Identifier: GPL-2.0-or-later
// ACKs delayed by a random time at the receiver, in order.
#pragma once

#include "ns3/random-variable-stream.h"
#include "ns3_env/cpp/tcp/network/network.h"
#include "ns3_env/cpp/tcp/network/segment.h"
#include "ns3_env/cpp/tcp/network/timer.h"

#include <cstdint>
#include <deque>

namespace ns3::env::tcp
{

/// Delayed ACKs of a receiver. No ACK overtakes another: an ACK that is due waits for those before it.
class LateAcks
{
  public:
    /// \param rtts draws the times, in base RTTs
    LateAcks(Network& network, Ptr<RandomVariableStream> rtts, Picos baseRtt, uint32_t node);
    ~LateAcks() { DropAll(); }

    LateAcks(LateAcks&&) = delete;

    /// Sends it later.
    void Hold(Segment* ack);
    /// Drops all ACKs that wait.
    void DropAll();

  private:
    struct Waiting
    {
        Segment* ack;
        Picos due;
    };

    void OnDue();

    Network& m_network;
    Ptr<RandomVariableStream> m_rtts;
    Picos m_baseRtt;
    std::deque<Waiting> m_waiting;
    Timer m_next; ///< timer of the first
};

} // namespace ns3::env::tcp
