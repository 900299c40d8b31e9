// SPDX-License-Identifier: GPL-2.0-or-later
// Reliability of a scenario, as it is read: recovery, corruption by link, answers of NICs.
#pragma once

#include "ns3_env/cpp/contract/reliability-config.h"
#include "ns3_env/cpp/engine/losses.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"

#include <cstdint>
#include <map>
#include <utility>

namespace ns3::env
{

/// Links with a corruption of their own instead of the general one, by source and destination node.
using LinkCorruption = std::map<std::pair<uint32_t, uint32_t>, Corruption>;

/// \throws ScenarioError, as all of these
inline SelectiveRepeatConfig
ReadSelectiveRepeat(JsonReader& section)
{
    SelectiveRepeatConfig config;
    config.rtoLow = section.Time("rto_low_ns", 1);
    config.rtoLowPackets = section.Whole<uint32_t>("rto_low_packets", 0, bounds::PACKETS);
    config.bdpCap = section.MaybeNumber("bdp_cap", 0.0, bounds::RTTS);
    config.reorderPackets = section.Whole<uint32_t>("reorder_packets", 0, bounds::PACKETS);
    return config;
}

inline NicConfig
ReadNic(JsonReader& section)
{
    NicConfig config;
    config.cnpDelay = section.Time("cnp_delay_ns", 0, bounds::DELAY_NS);
    config.ackDelay = section.Time("ack_delay_ns", 0, bounds::DELAY_NS);
    config.ackEvery = section.Whole<uint32_t>("ack_every", 1, bounds::PACKETS);
    return config;
}

/// `lastNode`: the largest id of a node.
inline LinkCorruption
ReadCorruption(JsonReader& loss, uint32_t lastNode)
{
    LinkCorruption links;
    const auto read = [&](JsonReader& link)
    {
        const auto from = link.Whole<uint32_t>("from", 0, lastNode);
        const auto to = link.Whole<uint32_t>("to", 0, lastNode);
        links[{from, to}] = {.packetRate = link.Number("packet_rate", 0.0, 1.0),
                             .bitErrorRate = link.Number("bit_error_rate", 0.0, 1.0)};
    };
    if (loss.Has("links"))
    {
        loss.Each("links", bounds::LINKS, read);
    }
    return links;
}

} // namespace ns3::env
