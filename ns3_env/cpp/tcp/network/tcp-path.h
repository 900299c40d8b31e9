// SPDX-License-Identifier: GPL-2.0-or-later
// Facts of a TCP path before its first segment, and the standalone time of a message.
#pragma once

#include "tcp-settings.h"

#include "ns3_env/cpp/contract/path-facts.h"
#include "ns3_env/cpp/engine/flow-spec.h"
#include "ns3_env/cpp/routing/ecmp.h"
#include "ns3_env/cpp/routing/routing.h"

#include <cstdint>

namespace ns3::env::tcp
{

/// Five-tuple that switches hash for a flow.
FiveTuple TupleOf(const FlowSpec& spec, uint16_t sourcePort);

/// Largest base RTT of any two hosts.
Picos LargestBaseRtt(const Routing& routing, const TcpSettings& settings);

/// A path there and the one back.
class TcpPath
{
  public:
    /// \throws ScenarioError if there is none
    TcpPath(const Routing& routing,
            const FlowSpec& spec,
            const FiveTuple& tuple,
            const TcpSettings& settings);

    const Hops& Forward() const { return m_forward; }
    const Hops& Backward() const { return m_backward; }
    /// `maxBaseRtt` is the network's. The base RTT is that of a full segment which is acknowledged at once.
    PathFacts Facts(Picos maxBaseRtt) const;
    /// Time from the SYN until the sender may send data.
    Picos Handshake() const;
    /// From the SYN to the last byte's ACK of a single message, for a sender that knows the path's rate: the handshake
    /// and its last ACK, then segment behind segment. With no congestion window is it less.
    Picos Standalone(uint64_t sizeBytes) const;

  private:
    static Picos Travel(const Hops& hops, uint64_t frameBytes);
    Picos RoundTrip(uint64_t frameBytes) const;

    Hops m_forward;
    Hops m_backward;
    uint32_t m_segmentBytes;
    uint32_t m_synOptionBytes; ///< additional bytes of a SYN
};

} // namespace ns3::env::tcp
