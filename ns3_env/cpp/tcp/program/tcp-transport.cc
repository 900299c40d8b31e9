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

QueueLength
ReadLength(JsonReader& length)
{
    QueueLength read;
    read.amount = length.Number("amount", 0.0, bounds::BUFFER_BYTES);
    const std::string unit = length.OneOf("unit", {"packets", "bytes", "bdps"});
    read.unit = unit == "packets" ? QueueLength::Unit::Packets
                : unit == "bytes" ? QueueLength::Unit::Bytes
                                  : QueueLength::Unit::Bdps;
    return read;
}

EcnThreshold
ReadThreshold(JsonReader& marking)
{
    EcnThreshold ecn{.threshold = marking.Sub("threshold", ReadLength)};
    ecn.atRateBps = marking.MaybeNumber("at_rate_bps", bounds::LEAST_RATE_BPS, bounds::RATE_BPS);
    ecn.leastPackets =
        marking.MaybeNumber("least_packets", 0.0, bounds::PACKETS).value_or(ecn.leastPackets);
    return ecn;
}

Red
ReadRed(JsonReader& marking)
{
    return {.least = marking.Sub("least", ReadLength),
            .most = marking.Sub("most", ReadLength),
            .highestProbability = marking.Number("highest_probability", 0.0, 1.0),
            .averageWeight = marking.Number("average_weight", 0.0, 1.0),
            .gentle = marking.Flag("gentle"),
            .ecn = marking.Flag("ecn")};
}

decltype(QueueSettings::discipline)
ReadMarking(JsonReader& marking)
{
    if (marking.OneOf("kind", {"threshold", "red"}) == "red")
    {
        return ReadRed(marking);
    }
    return ReadThreshold(marking);
}

QueueSettings
ReadQueue(JsonReader& section)
{
    return {.limit = section.Sub("limit", ReadLength),
            .discipline = section.Maybe("marking", ReadMarking).value_or(DropTail{})};
}

AckNoise
ReadAckNoise(JsonReader& section)
{
    return {.meanRtts = section.Number("mean_rtts", 0.0, 1.0),
            .mostRtts = section.Number("most_rtts", 0.0, 1.0)};
}

/// All but the segments' size, which is the scenario's payload.
TcpSettings
ReadSettings(JsonReader& section)
{
    TcpSettings settings;
    settings.initialWindowSegments =
        section.Whole<uint32_t>("initial_window_packets", 1, bounds::PACKETS);
    settings.segmentsPerAck = section.Whole<uint32_t>("packets_per_ack", 1, bounds::PACKETS);
    settings.delayedAckTimeout = section.Time("delayed_ack_timeout_ns", 1);
    settings.ackNoise = section.Maybe("ack_noise", ReadAckNoise);
    settings.sack = section.Flag("sack");
    settings.ecn = section.Flag("ecn");
    settings.pacing = section.Flag("pacing");
    settings.minRto = section.Time("min_rto_ns", 1);
    settings.initialRto = section.Time("initial_rto_ns", 1);
    settings.socketBufferBytes =
        section.Whole<uint32_t>("socket_buffer_bytes", 1, bounds::SOCKET_BUFFER_BYTES);
    settings.queue = section.Sub("queue", ReadQueue);
    settings.hostQueue = section.Maybe("host_queue", ReadQueue);
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
    m_settings = root.Sub("tcp", ReadSettings);
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
