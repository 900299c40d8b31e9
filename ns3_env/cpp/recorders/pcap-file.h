// SPDX-License-Identifier: GPL-2.0-or-later
// Writer of a pcap file, with times in nanoseconds.
#ifndef NS3_ENV_RECORDERS_PCAP_FILE_H
#define NS3_ENV_RECORDERS_PCAP_FILE_H

#include "capture-output.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ns3::env
{

/**
 * A pcap file (IETF draft-ietf-opsawg-pcap), written as it grows.
 * Whatever is written throws a ScenarioError, naming the file, where it cannot be (a full disk).
 */
class PcapFile
{
  public:
    /// Keeps at most `snapLength` bytes of a frame. `linkType`: see CaptureFormat.
    PcapFile(const std::string& name, uint32_t snapLength, uint16_t linkType);

    /// Adds a frame; times must not descend.
    void Write(int64_t timeNs, std::span<const uint8_t> frame);
    /// Completes the file.
    void Close() { m_file.Close(); }

  private:
    uint32_t m_snapLength;
    std::vector<uint8_t> m_bytes; ///< of what is being written; kept to save allocations
    CaptureOutput m_file;
};

} // namespace ns3::env

#endif // NS3_ENV_RECORDERS_PCAP_FILE_H
