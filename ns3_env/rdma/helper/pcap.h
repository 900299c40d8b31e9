// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames pass a port, and when? A capture of each port, as tcpdump on it would write, and one of all.
#ifndef RDMA_PCAP_H
#define RDMA_PCAP_H

#include "network.h"
#include "pcapng.h"
#include "scenario.h"

#include <memory>
#include <optional>
#include <vector>

namespace ns3::rdma
{

/**
 * Writes PREFIX-NODE-PORT.pcap (nanoseconds) for each port asked for, from its Tx and Rx traces: frames sent
 * at the time their transmission begins, frames received when they have arrived. Frames lost on the link
 * are in the sender's file only. The same frames are in PREFIX.pcapng, in the order of time, with an
 * interface for each of the ports: "h0-p0" of host 0, "s8-p3" of switch 8.
 */
class PcapRecorder final : public Capture
{
  public:
    /// The network must live as long. \throws ScenarioError for a port or a folder that is not there
    PcapRecorder(const Network& network, const PcapSpec& spec);
    ~PcapRecorder() override;

    PcapRecorder(const PcapRecorder&) = delete;
    PcapRecorder& operator=(const PcapRecorder&) = delete;

    /// Completes the files. \throws std::runtime_error naming one that could not be written
    void Close() override;

  private:
    class Tap;
    std::optional<PcapngFile> m_merged;
    std::vector<std::unique_ptr<Tap>> m_taps;
};

} // namespace ns3::rdma

#endif // RDMA_PCAP_H
