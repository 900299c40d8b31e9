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

} // namespace

/// The capture of one port.
class PcapRecorder::Tap
{
  public:
    Tap(const Network& network, Port& port, const PcapSpec& spec)
        : m_network(network),
          m_port(port),
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
    void OnTx(const Packet& packet) { Write(packet, m_port.NodeId(), m_port.Peer().NodeId()); }
    void OnRx(const Packet& packet) { Write(packet, m_port.Peer().NodeId(), m_port.NodeId()); }

    void Write(const Packet& packet, uint32_t sender, uint32_t receiver)
    {
        const std::vector<uint8_t> frame =
            packet.flow == nullptr ? PfcFrame(packet.kind, sender)
                                   : RoceFrame(packet, HeadersOf(*packet.flow), sender, receiver);
        const int64_t now = ToNanos(NowPicos());
        m_file.Write(static_cast<uint32_t>(now / NS_PER_SECOND),
                     static_cast<uint32_t>(now % NS_PER_SECOND),
                     frame.data(),
                     static_cast<uint32_t>(frame.size()));
    }

    FlowHeaders HeadersOf(const QueuePair& flow) const
    {
        const FlowSpec& spec = m_network.GetScenario().flows[flow.Id()].flow;
        return {spec.id,
                spec.source,
                spec.destination,
                m_network.Records()[spec.id].sourcePort,
                flow.Path().payloadBytes,
                spec.sizeBytes};
    }

    static constexpr int64_t NS_PER_SECOND = 1'000'000'000;

    const Network& m_network;
    Port& m_port;
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
    for (Port* port : ChosenPorts(network, spec))
    {
        m_taps.push_back(std::make_unique<Tap>(network, *port, spec));
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
}

} // namespace ns3::rdma
