// SPDX-License-Identifier: GPL-2.0-or-later
// Table of the remaining bytes of flows at one egress port (Hong 2012, PDQ, sec. 3.3).
#pragma once

#include "ns3_env/cpp/rdma/link/packet.h"

#include <cstdint>
#include <vector>

namespace ns3::env::rdma
{

/// Table of a port: a row for each flow that reports its remaining bytes, until its last packet has left or it is
/// silent.
class RemainingBytes
{
  public:
    /// \param silence after which a flow is taken to wait elsewhere
    explicit RemainingBytes(Picos silence);

    /// A packet reports that its flow has `bytes` left, including itself. Returns the total of flows with less left; of
    /// two flows with equal bytes the one with the smaller number goes first.
    uint64_t Tell(uint32_t flow, uint64_t bytes, Picos now);
    /// The flow's last packet has left.
    void Forget(uint32_t flow)
    {
        std::erase_if(m_rows, [flow](const Row& row) { return row.flow == flow; });
    }

    /// Writes a backlog into a packet's field, which keeps the longest of the hops that it passes.
    static void Write(Packet& packet, double backlogNs);

  private:
    struct Row
    {
        uint32_t flow;
        uint64_t bytes;
        Picos told;
    };

    Picos m_silence;
    std::vector<Row> m_rows;
};

} // namespace ns3::env::rdma
