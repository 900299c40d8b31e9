// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of an RDMA network's frames.
#include "pcap.h"

#include "ns3_env/cpp/rdma/link/wire-frame.h"

namespace ns3::env::rdma
{

namespace
{

constexpr uint16_t LINKTYPE_ETHERNET = 1;

std::vector<CapturePort>
PortsOf(const RdmaEpisode& network)
{
    const Scenario& scenario = network.GetScenario();
    std::vector<CapturePort> ports;
    for (Port* port : network.Ports())
    {
        const Port& peer = port->Peer();
        ports.push_back({port->NodeId(),
                         port->Index(),
                         PortName(scenario, port->NodeId(), port->Index()),
                         PortName(scenario, peer.NodeId(), peer.Index()),
                         port->LinkRateBps()});
    }
    return ports;
}

/// The capture of one port.
class Tap final : public CaptureFile::Tap
{
  public:
    Tap(const RdmaEpisode& network, Port& port, CaptureFile& file, uint32_t interface)
        : m_network(network),
          m_port(port),
          m_file(file),
          m_interface(interface)
    {
        port.TraceConnectWithoutContext("Tx", MakeCallback(&Tap::OnTx, this));
        port.TraceConnectWithoutContext("Rx", MakeCallback(&Tap::OnRx, this));
    }

    ~Tap() override
    {
        m_port.TraceDisconnectWithoutContext("Tx", MakeCallback(&Tap::OnTx, this));
        m_port.TraceDisconnectWithoutContext("Rx", MakeCallback(&Tap::OnRx, this));
    }

  private:
    void OnTx(const Packet& packet) { Write(packet, m_port, FrameDirection::Sent); }
    void OnRx(const Packet& packet) { Write(packet, m_port.Peer(), FrameDirection::Received); }

    void Write(const Packet& packet, const Port& from, FrameDirection direction)
    {
        const uint32_t sender = from.NodeId();
        const uint32_t receiver = from.Peer().NodeId();
        m_file.Write(m_interface, direction, FrameOf(packet, sender, receiver));
    }

    std::vector<uint8_t> FrameOf(const Packet& packet, uint32_t sender, uint32_t receiver) const
    {
        if (packet.flow == nullptr)
        {
            return HasClasses() ? PfcFrame(packet.kind, sender, PriorityOf(packet.sequence))
                                : PfcFrame(packet.kind, sender);
        }
        if (packet.flow->Id() >= RdmaEpisode::FIRST_OTHER)
        {
            return m_network.OtherFrame(packet);
        }
        const FlowHeaders headers = HeadersOf(*packet.flow);
        return packet.kind == PacketKind::Notification
                   ? NotificationFrame(packet, headers)
                   : RoceFrame(packet, headers, sender, receiver);
    }

    bool HasClasses() const { return !m_network.GetScenario().classes.empty(); }

    FlowHeaders HeadersOf(const WireFlow& flow) const
    {
        const Scenario& scenario = m_network.GetScenario();
        const bool open = flow.IsOpenLoop();
        const size_t stream = flow.Id() - (open ? scenario.flows.size() : 0);
        const FlowSpec& spec = open ? scenario.streams[stream].flow : scenario.flows[stream].flow;
        return {spec.id,
                spec.source,
                spec.destination,
                open ? m_network.GetStreams().SourcePort(stream)
                     : m_network.Records()[spec.id].sourcePort,
                flow.Path().payloadBytes,
                spec.sizeBytes,
                !open,
                scenario.selectiveRepeat.has_value(),
                HasClasses() ? static_cast<uint8_t>(PriorityOf(flow.Class()) << 3) : DATA_DSCP};
    }

    const RdmaEpisode& m_network;
    Port& m_port;
    CaptureFile& m_file;
    uint32_t m_interface;
};

} // namespace

std::unique_ptr<CaptureFile>
CaptureFrames(const RdmaEpisode& network, const PcapSpec& spec)
{
    auto file = std::make_unique<CaptureFile>(spec,
                                              CaptureFormat{LINKTYPE_ETHERNET, "rdma-sim"},
                                              PortsOf(network));
    const std::vector<Port*> ports = network.Ports();
    for (uint32_t i = 0; i < file->Chosen().size(); ++i)
    {
        file->Add(std::make_unique<Tap>(network, *ports[file->Chosen()[i]], *file, i));
    }
    return file;
}

} // namespace ns3::env::rdma
