// SPDX-License-Identifier: GPL-2.0-or-later
#include "pcap.h"

#include "wire-frame.h"

#include "ns3/pcap-file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace ns3::rdma
{

namespace
{

constexpr uint32_t LINKTYPE_ETHERNET = 1;

Port*
FindPort(const std::vector<Port*>& all, uint32_t node, uint32_t index)
{
    uint32_t count = 0;
    for (Port* port : all)
    {
        if (port->NodeId() == node && port->Index() == index)
        {
            return port;
        }
        count += port->NodeId() == node ? 1 : 0;
    }
    if (count == 0)
    {
        throw ScenarioError("'record.pcap_ports': there is no node " + std::to_string(node) +
                            "; nodes are 0 to " + std::to_string(all.back()->NodeId()));
    }
    throw ScenarioError("'record.pcap_ports': there is no port " + std::to_string(index) +
                        " at node " + std::to_string(node) + ", whose ports are 0 to " +
                        std::to_string(count - 1));
}

std::vector<Port*>
ChosenPorts(const Network& network, const PcapSpec& spec)
{
    const std::vector<Port*> all = network.Ports();
    if (!spec.ports)
    {
        return all;
    }
    std::vector<Port*> chosen;
    for (const auto& [node, index] : std::set(spec.ports->begin(), spec.ports->end()))
    {
        chosen.push_back(FindPort(all, node, index));
    }
    return chosen;
}

/// "s8-p3": port 3 of switch 8.
std::string
InterfaceName(const Scenario& scenario, const Port& port)
{
    return (scenario.isSwitch[port.NodeId()] ? "s" : "h") + std::to_string(port.NodeId()) + "-p" +
           std::to_string(port.Index());
}

} // namespace

/// The capture of one port.
class PcapRecorder::Tap
{
  public:
    Tap(const Network& network, Port& port, const PcapSpec& spec, PcapngFile& merged)
        : m_network(network),
          m_port(port),
          m_merged(merged),
          m_interface(
              merged.AddInterface(InterfaceName(network.GetScenario(), port),
                                  "link to " + InterfaceName(network.GetScenario(), port.Peer()),
                                  port.RateBps())),
          m_name(spec.prefix + "-" + std::to_string(port.NodeId()) + "-" +
                 std::to_string(port.Index()) + ".pcap")
    {
        m_file.Open(m_name, std::ios::out | std::ios::trunc);
        if (m_file.Fail())
        {
            throw ScenarioError("'record.pcap': cannot write '" + m_name +
                                "': " + std::strerror(errno));
        }
        m_file.Init(LINKTYPE_ETHERNET, spec.snapLength, PcapFile::ZONE_DEFAULT, false, true);
        port.TraceConnectWithoutContext("Tx", MakeCallback(&Tap::OnTx, this));
        port.TraceConnectWithoutContext("Rx", MakeCallback(&Tap::OnRx, this));
    }

    void Close()
    {
        m_port.TraceDisconnectWithoutContext("Tx", MakeCallback(&Tap::OnTx, this));
        m_port.TraceDisconnectWithoutContext("Rx", MakeCallback(&Tap::OnRx, this));
        m_file.Close();
        if (m_file.Fail())
        {
            throw std::runtime_error("cannot write '" + m_name + "'");
        }
    }

  private:
    void OnTx(const Packet& packet) { Write(packet, m_port, FrameDirection::Sent); }
    void OnRx(const Packet& packet) { Write(packet, m_port.Peer(), FrameDirection::Received); }

    void Write(const Packet& packet, const Port& from, FrameDirection direction)
    {
        const uint32_t sender = from.NodeId();
        const uint32_t receiver = from.Peer().NodeId();
        const std::vector<uint8_t> frame = FrameOf(packet, sender, receiver);
        const int64_t now = ToNanos(NowPicos());
        m_file.Write(static_cast<uint32_t>(now / NS_PER_SECOND),
                     static_cast<uint32_t>(now % NS_PER_SECOND),
                     frame.data(),
                     static_cast<uint32_t>(frame.size()));
        m_merged.Write(m_interface, now, direction, frame);
    }

    std::vector<uint8_t> FrameOf(const Packet& packet, uint32_t sender, uint32_t receiver) const
    {
        if (packet.flow == nullptr)
        {
            return PfcFrame(packet.kind, sender);
        }
        const FlowHeaders headers = HeadersOf(*packet.flow);
        return packet.kind == PacketKind::Notification
                   ? NotificationFrame(packet, headers)
                   : RoceFrame(packet, headers, sender, receiver);
    }

    FlowHeaders HeadersOf(const QueuePair& flow) const
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
                !open};
    }

    static constexpr int64_t NS_PER_SECOND = 1'000'000'000;

    const Network& m_network;
    Port& m_port;
    PcapngFile& m_merged;
    uint32_t m_interface;
    std::string m_name;
    PcapFile m_file;
};

PcapRecorder::PcapRecorder(const Network& network, const PcapSpec& spec)
{
    const auto folder = std::filesystem::path(spec.prefix).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
    {
        throw ScenarioError("'record.pcap': there is no folder '" + folder.string() + "'");
    }
    const std::vector<Port*> ports = ChosenPorts(network, spec);
    m_merged.emplace(spec.prefix + ".pcapng", spec.snapLength);
    for (Port* port : ports)
    {
        m_taps.push_back(std::make_unique<Tap>(network, *port, spec, *m_merged));
    }
}

PcapRecorder::~PcapRecorder() = default;

void
PcapRecorder::Close()
{
    for (const auto& tap : m_taps)
    {
        tap->Close();
    }
    m_merged->Close();
}

} // namespace ns3::rdma
