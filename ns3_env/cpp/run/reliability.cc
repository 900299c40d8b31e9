// SPDX-License-Identifier: GPL-2.0-or-later
// Reliability of a scenario, as it is read: recovery, corruption by link, answers of NICs.
#include "reliability.h"

#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"

namespace ns3::env
{

SelectiveRepeatConfig
ReadSelectiveRepeat(JsonReader section)
{
    SelectiveRepeatConfig config;
    config.rtoLow = section.Whole<int64_t>("rto_low_ns", 1, bounds::TIME_NS) * PS_PER_NS;
    config.rtoLowPackets = section.Whole<uint32_t>("rto_low_packets", 0, bounds::PACKETS);
    config.bdpCap.reset();
    if (section.Has("bdp_cap"))
    {
        config.bdpCap = section.Number("bdp_cap", 0.0, bounds::RTTS);
    }
    config.reorderPackets = section.Whole<uint32_t>("reorder_packets", 0, bounds::PACKETS);
    section.RefuseOthers();
    return config;
}

NicConfig
ReadNic(JsonReader section)
{
    const auto delay = [&section](const char* key)
    { return section.Whole<int64_t>(key, 0, bounds::DELAY_NS) * PS_PER_NS; };
    NicConfig config;
    config.cnpDelay = delay("cnp_delay_ns");
    config.ackDelay = delay("ack_delay_ns");
    config.ackEvery = section.Whole<uint32_t>("ack_every", 1, bounds::PACKETS);
    section.RefuseOthers();
    return config;
}

LinkCorruption
ReadCorruption(JsonReader& loss, uint32_t lastNode)
{
    LinkCorruption links;
    if (!loss.Has("links"))
    {
        return links;
    }
    for (const auto& json : loss.List("links", bounds::LINKS))
    {
        JsonReader link(json, "loss.links[" + std::to_string(links.size()) + "]");
        const auto from = link.Whole<uint32_t>("from", 0, lastNode);
        const auto to = link.Whole<uint32_t>("to", 0, lastNode);
        links[{from, to}] = {.packetRate = link.Number("packet_rate", 0.0, 1.0),
                             .bitErrorRate = link.Number("bit_error_rate", 0.0, 1.0)};
        link.RefuseOthers();
    }
    return links;
}

} // namespace ns3::env
