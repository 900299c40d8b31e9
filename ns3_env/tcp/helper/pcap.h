// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames pass a port of TCP's network, and when? A capture of each port, and one of all.
#ifndef TCP_PCAP_H
#define TCP_PCAP_H

#include "ns3_env/rdma/episode/capture-files.h"
#include "ns3_env/rdma/episode/capture.h"
#include "ns3_env/rdma/episode/scenario.h"
#include "ns3_env/tcp/model/fabric.h"

#include <memory>
#include <vector>

namespace ns3::tcp
{

/**
 * Writes the CaptureFiles of what ns-3's devices send and receive, from PPP's header on: frames sent at the time their
 * transmission begins, frames received when they have arrived. Frames lost on the link are in the sender's file only.
 * Checksums, which ns-3 leaves 0, are right.
 */
class PcapRecorder final : public rdma::Capture
{
  public:
    /// The network must live as long. \throws ScenarioError for a port or a folder that is not there
    PcapRecorder(const Fabric& fabric, const rdma::PcapSpec& spec);
    ~PcapRecorder() override;

    PcapRecorder(const PcapRecorder&) = delete;
    PcapRecorder& operator=(const PcapRecorder&) = delete;

    /// Completes the files. \throws std::runtime_error naming one that could not be written
    void Close() override;

  private:
    class Tap;
    rdma::CaptureFiles m_files;
    std::vector<std::unique_ptr<Tap>> m_taps;
};

} // namespace ns3::tcp

#endif // TCP_PCAP_H
