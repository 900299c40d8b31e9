// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of a TCP network's frames: one of each port, and one of all.
#include "pcap.h"

#include "checksums.h"

#include "ns3/packet.h"

namespace ns3::env::tcp
{

namespace
{

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

} // namespace

/// The capture of one port.
class PcapRecorder::Tap
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

    ~Tap()
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

PcapRecorder::PcapRecorder(const Fabric& fabric, const PcapSpec& spec)
    : m_files(spec, {LINKTYPE_PPP, "tcp-sim"}, PortsOf(fabric))
{
    for (const size_t port : m_files.Chosen())
    {
        const Egress& egress = fabric.Egresses()[port];
        m_taps.push_back(std::make_unique<Tap>(egress.device, m_files, m_taps.size()));
    }
}

PcapRecorder::~PcapRecorder() = default;

void
PcapRecorder::Close()
{
    m_taps.clear();
    m_files.Close();
}

} // namespace ns3::env::tcp
