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
class Tap final : public CaptureFile::Tap
{
  public:
    Tap(Port& own, Port& peers, CaptureFile& file, uint32_t interface)
        : m_own(own),
          m_peers(peers),
          m_file(file),
          m_interface(interface)
    {
        m_own.Add(m_sent);
        m_peers.Add(m_received);
    }

    ~Tap() override
    {
        m_own.Remove(m_sent);
        m_peers.Remove(m_received);
    }

    Tap(Tap&&) = delete;

  private:
    struct Sent final : PortObserver
    {
        explicit Sent(Tap& tap)
            : m_tap(tap)
        {
        }

        void OnSent(const Port&, const Segment& segment) override
        {
            m_tap.Write(segment, FrameDirection::Sent);
        }

        Tap& m_tap;
    };

    struct Received final : PortObserver
    {
        explicit Received(Tap& tap)
            : m_tap(tap)
        {
        }

        void OnReceived(const Port&, const Segment& segment) override
        {
            m_tap.Write(segment, FrameDirection::Received);
        }

        Tap& m_tap;
    };

    void Write(const Segment& segment, FrameDirection direction)
    {
        WriteFrame(segment, m_frame);
        m_file.Write(m_interface, direction, m_frame);
    }

    Port& m_own;
    Port& m_peers; ///< at the link's other end
    CaptureFile& m_file;
    uint32_t m_interface;
    std::vector<uint8_t> m_frame; ///< that is being written; kept to save allocations
    Sent m_sent{*this};
    Received m_received{*this};
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
