// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of a TCP network's frames: one of each port, and one of all.
#include "pcap.h"

#include "ns3/packet.h"
#include "ns3_env/cpp/recorders/capture-files.h"
#include "ns3_env/cpp/recorders/internet-checksum.h"
#include "ns3_env/cpp/tcp/network/queue-factory.h"
#include "ns3_env/cpp/tcp/network/segment.h"

#include <vector>

namespace ns3::env::tcp
{

namespace
{

// Where fields of headers are (RFC 791, 793, 768).
constexpr size_t IP_PROTOCOL = 9;
constexpr size_t IP_CHECKSUM = 10;
constexpr size_t IP_ADDRESSES = 12;
constexpr size_t TCP_CHECKSUM = 16;
constexpr size_t UDP_CHECKSUM = 6;

void
Put(std::span<uint8_t> bytes, size_t at, uint16_t value)
{
    bytes[at] = static_cast<uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<uint8_t>(value);
}

/// Over the pseudo header, too (RFC 793, section 3.1).
uint16_t
TransportChecksum(std::span<const uint8_t> ip, std::span<const uint8_t> segment)
{
    std::vector<uint8_t> all(ip.begin() + IP_ADDRESSES, ip.end());
    all.insert(all.end(),
               {0,
                ip[IP_PROTOCOL],
                static_cast<uint8_t>(segment.size() >> 8),
                static_cast<uint8_t>(segment.size())});
    all.insert(all.end(), segment.begin(), segment.end());
    return InternetChecksum(all);
}

/// Writes those of IP and of TCP or UDP into `frame`, whole and with PPP's header, where they are 0.
void
FillChecksums(std::span<uint8_t> frame)
{
    const auto ip = frame.subspan(LINK_HEADER_BYTES, IP_HEADER_BYTES);
    const auto segment = frame.subspan(LINK_HEADER_BYTES + IP_HEADER_BYTES);
    const bool datagram = ip[IP_PROTOCOL] == UDP_PROTOCOL;
    const uint16_t sum = TransportChecksum(ip, segment);
    Put(segment, datagram ? UDP_CHECKSUM : TCP_CHECKSUM, datagram && sum == 0 ? 0xffff : sum);
    Put(ip, IP_CHECKSUM, InternetChecksum(ip));
}

constexpr uint16_t LINKTYPE_PPP = 9;

std::vector<CapturePort>
PortsOf(const Fabric& fabric)
{
    const Scenario& scenario = fabric.GetScenario();
    std::vector<CapturePort> ports;
    for (const Egress& egress : fabric.Egresses())
    {
        const uint32_t peerPort = fabric.EgressTo(egress.peer, egress.node).port;
        ports.push_back({egress.node,
                         egress.port,
                         PortName(scenario, egress.node, egress.port),
                         PortName(scenario, egress.peer, peerPort),
                         egress.rateBps});
    }
    return ports;
}

/// The capture of one port.
class Tap final : public CaptureFiles::Tap
{
  public:
    Tap(Ptr<PointToPointNetDevice> device, CaptureFiles& files, size_t place)
        : m_device(device),
          m_files(files),
          m_place(place)
    {
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Tap::OnSent, this));
        device->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&Tap::OnReceived, this));
    }

    ~Tap() override
    {
        m_device->TraceDisconnectWithoutContext("PhyTxBegin", MakeCallback(&Tap::OnSent, this));
        m_device->TraceDisconnectWithoutContext("PhyRxEnd", MakeCallback(&Tap::OnReceived, this));
    }

    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;

  private:
    void OnSent(Ptr<const Packet> frame) { Write(*frame, FrameDirection::Sent); }
    void OnReceived(Ptr<const Packet> frame) { Write(*frame, FrameDirection::Received); }

    void Write(const Packet& frame, FrameDirection direction)
    {
        m_frame.resize(frame.GetSize());
        frame.CopyData(m_frame.data(), frame.GetSize());
        FillChecksums(m_frame);
        m_files.Write(m_place, direction, m_frame);
    }

    Ptr<PointToPointNetDevice> m_device;
    CaptureFiles& m_files;
    size_t m_place;               ///< among the chosen ports
    std::vector<uint8_t> m_frame; ///< that is being written; kept to save allocations
};

} // namespace

std::unique_ptr<Capture>
CaptureFrames(const Fabric& fabric, const PcapSpec& spec)
{
    auto files = std::make_unique<CaptureFiles>(spec,
                                                CaptureFormat{LINKTYPE_PPP, "tcp-sim"},
                                                PortsOf(fabric));
    for (size_t place = 0; place < files->Chosen().size(); ++place)
    {
        const Egress& egress = fabric.Egresses()[files->Chosen()[place]];
        files->Add(std::make_unique<Tap>(egress.device, *files, place));
    }
    return files;
}

} // namespace ns3::env::tcp
