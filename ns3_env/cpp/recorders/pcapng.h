// SPDX-License-Identifier: GPL-2.0-or-later
// Writer of a pcapng file with an interface for each port.
#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace ns3::env
{

/// Direction of a frame at its interface; the values are those of epb_flags.
enum class FrameDirection : uint32_t
{
    Received = 1,
    Sent = 2,
};

/// Type of a capture's frames, and the program that wrote them.
struct CaptureFormat
{
    uint16_t linkType; ///< a frame's first header (tcpdump.org/linktypes.html)
    std::string application;
};

/// A pcapng file (IETF draft-ietf-opsawg-pcapng), written as it grows. Times are whole
/// nanoseconds: Wireshark 4.0 misreads times beyond 18 ms in picoseconds.
/// A failed write (a full disk) throws a ScenarioError that names the file.
class PcapngFile
{
  public:
    /// Replaces an earlier file of that name. Keeps at most `snapLength` bytes of a frame.
    PcapngFile(const std::string& name, uint32_t snapLength, const CaptureFormat& format);

    /// Describes an interface; returns its number, 0 for the first.
    uint32_t AddInterface(const std::string& name, const std::string& description, double rateBps);
    /// Adds a frame; times must not descend.
    void Write(uint32_t interface,
               int64_t timeNs,
               FrameDirection direction,
               std::span<const uint8_t> frame);
    /// Completes the file.
    void Close();

  private:
    /// One block's bytes, from its type to its second length.
    class Block;

    void WriteBytes(std::span<const uint8_t> block);
    void Check() const;

    uint32_t m_snapLength;
    uint16_t m_linkType;
    uint32_t m_interfaces{0};
    std::string m_name;
    std::vector<uint8_t> m_bytes; ///< of the block that is being written; kept to save allocations
    std::ofstream m_file;
};

} // namespace ns3::env
