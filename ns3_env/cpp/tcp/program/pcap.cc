// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of a TCP network's frames: one of each port, and one of all.
#include "pcap.h"

#include "ns3_env/cpp/recorders/capture-files.h"
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

/// The capture of one port: what it sends, and what comes to it over its link.
class Tap final : public CaptureFiles::Tap
{
  public:
    Tap(Port& own, Port& peers, CaptureFiles& files, size_t place)
        : m_own(own),
          m_peers(peers),
          m_files(files),
          m_place(place)
    {
        m_own.Add(m_sent);
        m_peers.Add(m_received);
    }

    ~Tap() override
    {
        m_own.Remove(m_sent);
        m_peers.Remove(m_received);
    }

    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;

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
        m_files.Write(m_place, direction, m_frame);
    }

    Port& m_own;
    Port& m_peers; ///< at the link's other end
    CaptureFiles& m_files;
    size_t m_place;               ///< among the chosen ports
    std::vector<uint8_t> m_frame; ///< that is being written; kept to save allocations
    Sent m_sent{*this};
    Received m_received{*this};
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
        Port& peers = *fabric.EgressTo(egress.peer, egress.node).egress;
        files->Add(std::make_unique<Tap>(*egress.egress, peers, *files, place));
    }
    return files;
}

} // namespace ns3::env::tcp
