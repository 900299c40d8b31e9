// SPDX-License-Identifier: GPL-2.0-or-later
// Writer of a pcap file, with times in nanoseconds.
#include "pcap-file.h"

#include <algorithm>

namespace ns3::env
{

namespace
{

constexpr uint32_t MAGIC = 0xa1b23c4d; // byte order, and nanoseconds as the unit of time
constexpr int64_t NS_PER_SECOND = 1'000'000'000;

} // namespace

PcapFile::PcapFile(const std::string& name, uint32_t snapLength, uint16_t linkType)
    : m_snapLength(snapLength),
      m_file(name)
{
    Append<uint32_t>(m_bytes, MAGIC);
    Append<uint16_t>(m_bytes, 2); // version 2.4
    Append<uint16_t>(m_bytes, 4);
    Append<uint64_t>(m_bytes, 0); // reserved
    Append<uint32_t>(m_bytes, snapLength);
    Append<uint32_t>(m_bytes, linkType);
    m_file.Write(m_bytes);
}

void
PcapFile::Write(int64_t timeNs, std::span<const uint8_t> frame)
{
    m_bytes.clear();
    const auto kept = frame.first(std::min<size_t>(frame.size(), m_snapLength));
    Append(m_bytes, static_cast<uint32_t>(timeNs / NS_PER_SECOND));
    Append(m_bytes, static_cast<uint32_t>(timeNs % NS_PER_SECOND));
    Append(m_bytes, static_cast<uint32_t>(kept.size()));
    Append(m_bytes, static_cast<uint32_t>(frame.size()));
    m_bytes.insert(m_bytes.end(), kept.begin(), kept.end());
    m_file.Write(m_bytes);
}

} // namespace ns3::env
