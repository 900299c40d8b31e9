// SPDX-License-Identifier: GPL-2.0-or-later
// TCP's part of a scenario and of the program tcp-sim.
#include "tcp-transport.h"

#include "fluid-paths.h"
#include "tcp-episode.h"

#include "ns3/tcp-dctcp.h"
#include "ns3_env/cpp/contract/declaration.h"
#include "ns3_env/cpp/fluid/fluid-episode.h"
#include "ns3_env/cpp/json/bounds.h"
#include "ns3_env/cpp/json/json-reader.h"
#include "ns3_env/cpp/run/attributes.h"
#include "ns3_env/cpp/tcp/socket/congestion-ops.h"

#include <nlohmann/json.hpp>

namespace ns3::env::tcp
{

namespace
{

/// Controllers with fluid flows.
const Fluids FLUIDS{{"max_min", Sharing::MaxMin}, {"oracle", Sharing::LeastRemaining}};

Picos
ReadTime(JsonReader& section, const std::string& key)
{
    return section.Whole<int64_t>(key, 1, bounds::TIME_NS) * PS_PER_NS;
}

QueueLength
ReadLength(JsonReader length)
{
    QueueLength read;
    read.amount = length.Number("amount", 0.0, bounds::BUFFER_BYTES);
    const std::string unit = length.OneOf("unit", {"packets", "bytes", "bdps"});
    read.unit = unit == "packets" ? QueueLength::Unit::Packets
                : unit == "bytes" ? QueueLength::Unit::Bytes
                                  : QueueLength::Unit::Bdps;
    length.RefuseOthers();
    return read;
}

EcnThreshold
ReadThreshold(JsonReader& marking)
{
    EcnThreshold ecn{.threshold = ReadLength(marking.Sub("threshold"))};
    if (marking.Has("at_rate_bps"))
    {
        ecn.atRateBps = marking.Number("at_rate_bps", bounds::LEAST_RATE_BPS, bounds::RATE_BPS);
    }
    if (marking.Has("least_packets"))
    {
        ecn.leastPackets = marking.Number("least_packets", 0.0, bounds::PACKETS);
    }
    return ecn;
}

Red
ReadRed(JsonReader& marking)
{
    return {.least = ReadLength(marking.Sub("least")),
            .most = ReadLength(marking.Sub("most")),
            .highestProbability = marking.Number("highest_probability", 0.0, 1.0),
            .averageWeight = marking.Number("average_weight", 0.0, 1.0),
            .gentle = marking.Flag("gentle"),
            .ecn = marking.Flag("ecn")};
}

QueueSettings
ReadQueue(JsonReader section)
{
    QueueSettings queue{.limit = ReadLength(section.Sub("limit")), .discipline = DropTail{}};
    if (section.Has("marking"))
    {
        JsonReader marking = section.Sub("marking");
        if (marking.OneOf("kind", {"threshold", "red"}) == "red")
        {
            queue.discipline = ReadRed(marking);
        }
        else
        {
            queue.discipline = ReadThreshold(marking);
        }
        marking.RefuseOthers();
    }
    section.RefuseOthers();
    return queue;
}

AckNoise
ReadAckNoise(JsonReader section)
{
    const AckNoise noise{.meanRtts = section.Number("mean_rtts", 0.0, 1.0),
                         .mostRtts = section.Number("most_rtts", 0.0, 1.0)};
    section.RefuseOthers();
    return noise;
}

/// All but the segments' size, which is the scenario's payload.
TcpSettings
ReadSettings(JsonReader section)
{
    TcpSettings settings;
    settings.initialWindowSegments =
        section.Whole<uint32_t>("initial_window_packets", 1, bounds::PACKETS);
    settings.segmentsPerAck = section.Whole<uint32_t>("packets_per_ack", 1, bounds::PACKETS);
    settings.delayedAckTimeout = ReadTime(section, "delayed_ack_timeout_ns");
    if (section.Has("ack_noise"))
    {
        settings.ackNoise = ReadAckNoise(section.Sub("ack_noise"));
    }
    settings.sack = section.Flag("sack");
    settings.ecn = section.Flag("ecn");
    settings.pacing = section.Flag("pacing");
    settings.minRto = ReadTime(section, "min_rto_ns");
    settings.initialRto = ReadTime(section, "initial_rto_ns");
    settings.socketBufferBytes =
        section.Whole<uint32_t>("socket_buffer_bytes", 1, bounds::SOCKET_BUFFER_BYTES);
    settings.queue = ReadQueue(section.Sub("queue"));
    if (section.Has("host_queue"))
    {
        settings.hostQueue = ReadQueue(section.Sub("host_queue"));
    }
    section.RefuseOthers();
    return settings;
}

using Json = nlohmann::json;

/// Reports whether it depends on marks: DCTCP's echo is exact, and without it DCTCP and its subclasses do not work.
bool
NeedsMarks(const TcpCongestionOps& controller)
{
    return dynamic_cast<const TcpDctcp*>(&controller) != nullptr;
}

/// K of Alizadeh 2010, sec. 4: 20 packets at 1 Gb/s and 65 at 10 Gb/s.
Json
DctcpThreshold()
{
    return {{"threshold_packets", 65}, {"at_rate_bps", 10e9}, {"least_packets", 20}};
}

} // namespace

std::string
TcpTransport::Describe() const
{
    Json all = Json::object();
    for (const std::string& name : ListControllers())
    {
        const ControllerSpec spec{name, {}};
        const Ptr<TcpCongestionOps> control = CreateCongestionOps(spec);
        all[name] = {{"attributes", DefaultsOf(AttributesOfController(spec))},
                     {"meanings", MeaningsOf(AttributesOfController(spec))},
                     {"reference", IsReference(control->GetInstanceTypeId())},
                     {"needs_all_flows", NeedsAllFlows(control->GetInstanceTypeId())},
                     {"marking", NeedsMarks(*control) ? DctcpThreshold() : Json(nullptr)}};
    }
    return all.dump(2);
}

void
TcpTransport::ReadKeys(JsonReader& root, Scenario& scenario)
{
    scenario.inBandTelemetry = false;
    m_settings = ReadSettings(root.Sub("tcp"));
    m_settings.segmentBytes = scenario.payloadBytes;
}

std::unique_ptr<Episode>
TcpTransport::Build(Scenario scenario, Episode::FlowHook onCreate)
{
    const auto sharing = SharingOf(scenario, FLUIDS);
    CheckLinkRates(scenario, sharing.has_value());
    if (sharing)
    {
        CheckEach(scenario, CheckController);
        return std::make_unique<FluidEpisode>(
            std::move(scenario),
            *sharing,
            [this](const Scenario& own) { return std::make_unique<FluidPaths>(own, m_settings); },
            std::move(onCreate));
    }
    return std::make_unique<TcpEpisode>(std::move(scenario), m_settings, std::move(onCreate));
}

} // namespace ns3::env::tcp
