// SPDX-License-Identifier: GPL-2.0-or-later
// Capture of a network's frames: a pcapng file with an interface for each requested port.
#include "capture-file.h"

#include "ns3_env/cpp/events/now.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

namespace ns3::env
{

namespace
{

size_t
FindPort(const std::vector<CapturePort>& all, uint32_t node, uint32_t index)
{
    uint32_t count = 0;
    for (size_t i = 0; i < all.size(); ++i)
    {
        if (all[i].node == node && all[i].port == index)
        {
            return i;
        }
        count += all[i].node == node ? 1 : 0;
    }
    if (count == 0)
    {
        throw ScenarioError("record.pcap_ports",
                            "there is no node " + std::to_string(node) + "; nodes are 0 to " +
                                std::to_string(all.back().node));
    }
    throw ScenarioError("record.pcap_ports",
                        "there is no port " + std::to_string(index) + " at node " +
                            std::to_string(node) + ", whose ports are 0 to " +
                            std::to_string(count - 1));
}

std::vector<size_t>
ChosenPorts(const std::vector<CapturePort>& all, const PcapSpec& spec)
{
    std::vector<size_t> chosen;
    if (!spec.ports)
    {
        chosen.resize(all.size());
        std::iota(chosen.begin(), chosen.end(), 0);
        return chosen;
    }
    for (const auto& [node, index] : std::set(spec.ports->begin(), spec.ports->end()))
    {
        chosen.push_back(FindPort(all, node, index));
    }
    return chosen;
}

} // namespace

std::string
PortName(const Scenario& scenario, uint32_t node, uint32_t port)
{
    return (scenario.isSwitch[node] ? "s" : "h") + std::to_string(node) + "-p" +
           std::to_string(port);
}

CaptureFile::CaptureFile(const PcapSpec& spec,
                         const CaptureFormat& format,
                         const std::vector<CapturePort>& ports)
{
    const auto folder = std::filesystem::path(spec.prefix).parent_path();
    if (!folder.empty() && !std::filesystem::is_directory(folder))
    {
        throw ScenarioError("record.pcap", "there is no folder '" + folder.string() + "'");
    }
    m_chosen = ChosenPorts(ports, spec);
    m_file = std::make_unique<PcapngFile>(spec.prefix + ".pcapng", spec.snapLength, format);
    for (const size_t i : m_chosen)
    {
        const CapturePort& port = ports[i];
        m_file->AddInterface(port.name, "link to " + port.peerName, port.rateBps);
    }
}

void
CaptureFile::Write(uint32_t interface, FrameDirection direction, std::span<const uint8_t> frame)
{
    m_file->Write(interface, ToNanos(NowPicos()), direction, frame);
    if (m_onFrame)
    {
        m_onFrame(interface, frame);
    }
}

void
CaptureFile::Close()
{
    m_taps.clear();
    m_file->Close();
}

void
CaptureFile::Abandon()
{
    m_taps.clear();
    (void)m_file.release();
}

} // namespace ns3::env
