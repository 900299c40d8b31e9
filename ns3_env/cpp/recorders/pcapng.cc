// SPDX-License-Identifier: GPL-2.0-or-later
// Writer of a pcapng file with an interface for each port.
#include "pcapng.h"

#include "ns3_env/cpp/json/scenario-error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ns3::env
{

namespace
{

// Block types (section 11.1 of the draft) and options (3.5, 4.1, 4.2, 4.3).
constexpr uint32_t SECTION_HEADER = 0x0a0d0d0a;
constexpr uint32_t INTERFACE_DESCRIPTION = 1;
constexpr uint32_t ENHANCED_PACKET = 6;
constexpr uint32_t BYTE_ORDER_MAGIC = 0x1a2b3c4d;
constexpr uint64_t UNKNOWN_LENGTH = UINT64_MAX;
constexpr uint16_t END_OF_OPTIONS = 0;
constexpr uint16_t USER_APPLICATION = 4; // of a section
constexpr uint16_t NAME = 2;             // of an interface, as the three below
constexpr uint16_t DESCRIPTION = 3;
constexpr uint16_t SPEED = 8;
constexpr uint16_t TIME_RESOLUTION = 9;
constexpr uint16_t FLAGS = 2;      // of a packet
constexpr uint8_t NANOSECONDS = 9; // 10^-9 s

} // namespace

class PcapngFile::Block
{
  public:
    Block(std::vector<uint8_t>& bytes, uint32_t type)
        : m_bytes(bytes)
    {
        m_bytes.clear();
        Add<uint32_t>(type);
        Add<uint32_t>(0); // the length, known at the end
    }

    /// A number's bytes, the least significant first.
    template <typename T>
    void Add(T value)
    {
        for (size_t i = 0; i < sizeof(T); ++i)
        {
            m_bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> 8 * i));
        }
    }

    /// Bytes, padded to words.
    void AddPadded(std::span<const uint8_t> bytes)
    {
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
        m_bytes.resize((m_bytes.size() + 3) / 4 * 4); // everything before is whole words
    }

    template <typename T>
    void AddNumber(uint16_t code, T value)
    {
        AddOptionHeader(code, sizeof(T));
        Add<T>(value);
        AddPadded({});
    }

    void AddText(uint16_t code, const std::string& text)
    {
        AddOptionHeader(code, text.size());
        AddPadded({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    }

    /// The whole block.
    std::span<const uint8_t> Finish()
    {
        AddOptionHeader(END_OF_OPTIONS, 0);
        const auto length = static_cast<uint32_t>(m_bytes.size() + sizeof(uint32_t));
        Add<uint32_t>(length);
        std::copy(m_bytes.end() - 4, m_bytes.end(), m_bytes.begin() + 4);
        return m_bytes;
    }

  private:
    void AddOptionHeader(uint16_t code, size_t length)
    {
        Add<uint16_t>(code);
        Add<uint16_t>(static_cast<uint16_t>(length));
    }

    std::vector<uint8_t>& m_bytes;
};

PcapngFile::PcapngFile(const std::string& name, uint32_t snapLength, const CaptureFormat& format)
    : m_snapLength(snapLength),
      m_linkType(format.linkType),
      m_name(name),
      m_file(name, std::ios::binary | std::ios::trunc)
{
    Check();
    Block header(m_bytes, SECTION_HEADER);
    header.Add<uint32_t>(BYTE_ORDER_MAGIC);
    header.Add<uint16_t>(1); // version 1.0
    header.Add<uint16_t>(0);
    header.Add<uint64_t>(UNKNOWN_LENGTH);
    header.AddText(USER_APPLICATION, format.application);
    WriteBytes(header.Finish());
}

uint32_t
PcapngFile::AddInterface(const std::string& name, const std::string& description, double rateBps)
{
    Block block(m_bytes, INTERFACE_DESCRIPTION);
    block.Add<uint16_t>(m_linkType);
    block.Add<uint16_t>(0); // reserved
    block.Add<uint32_t>(m_snapLength);
    block.AddText(NAME, name);
    block.AddText(DESCRIPTION, description);
    block.AddNumber(SPEED, static_cast<uint64_t>(rateBps));
    block.AddNumber(TIME_RESOLUTION, NANOSECONDS);
    WriteBytes(block.Finish());
    return m_interfaces++;
}

void
PcapngFile::Write(uint32_t interface,
                  int64_t timeNs,
                  FrameDirection direction,
                  std::span<const uint8_t> frame)
{
    const auto kept = frame.first(std::min<size_t>(frame.size(), m_snapLength));
    Block block(m_bytes, ENHANCED_PACKET);
    block.Add<uint32_t>(interface);
    block.Add<uint32_t>(static_cast<uint32_t>(timeNs >> 32)); // the high half first
    block.Add<uint32_t>(static_cast<uint32_t>(timeNs));
    block.Add<uint32_t>(static_cast<uint32_t>(kept.size()));
    block.Add<uint32_t>(static_cast<uint32_t>(frame.size()));
    block.AddPadded(kept);
    block.AddNumber(FLAGS, static_cast<uint32_t>(direction));
    WriteBytes(block.Finish());
}

void
PcapngFile::Close()
{
    m_file.close();
    Check();
}

void
PcapngFile::WriteBytes(std::span<const uint8_t> block)
{
    m_file.write(reinterpret_cast<const char*>(block.data()),
                 static_cast<std::streamsize>(block.size()));
    Check();
}

void
PcapngFile::Check() const
{
    if (!m_file)
    {
        throw ScenarioError("record.pcap",
                            "cannot write '" + m_name + "': " + std::strerror(errno));
    }
}

} // namespace ns3::env
