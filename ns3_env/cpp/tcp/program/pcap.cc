// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of a TCP network's frames.
#include "pcap.h"

#include "ns3_env/cpp/tcp/network/frame.h"

#include <vector>

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

/// The capture of one port: packets that it sends, and packets that arrive over its link.
class Tap final : public CaptureFile::Tap, private PortObserver
{
  public:
    Tap(Port& own, Port& peers, CaptureFile& file, uint32_t interface)
        : m_own(own),
          m_peers(peers),
          m_file(file),
          m_interface(interface)
    {
        m_own.Add(*this);
        m_peers.Add(*this);
    }

    ~Tap() override
    {
        m_own.Remove(*this);
        m_peers.Remove(*this);
    }

    Tap(Tap&&) = delete;

  private:
    void OnSent(const Port& port, const Segment& segment) override
    {
        Write(port, m_own, segment, FrameDirection::Sent);
    }

    void OnReceived(const Port& port, const Segment& segment) override
    {
        Write(port, m_peers, segment, FrameDirection::Received);
    }

    void
    Write(const Port& from, const Port& expected, const Segment& segment, FrameDirection direction)
    {
        if (&from == &expected)
        {
            WriteFrame(segment, m_frame);
            m_file.Write(m_interface, direction, m_frame);
        }
    }

    Port& m_own;
    Port& m_peers; ///< at the link's other end
    CaptureFile& m_file;
    uint32_t m_interface;
    std::vector<uint8_t> m_frame; ///< that is being written; kept to save allocations
};

} // namespace

std::unique_ptr<CaptureFile>
CaptureFrames(const Fabric& fabric, const PcapSpec& spec)
{
    auto file = std::make_unique<CaptureFile>(spec,
                                              CaptureFormat{LINKTYPE_PPP, "tcp-sim"},
                                              PortsOf(fabric));
    for (uint32_t i = 0; i < file->Chosen().size(); ++i)
    {
        const Egress& egress = fabric.Egresses()[file->Chosen()[i]];
        Port& peers = *fabric.EgressTo(egress.peer, egress.node).egress;
        file->Add(std::make_unique<Tap>(*egress.egress, peers, *file, i));
    }
    return file;
}

} // namespace ns3::env::tcp
